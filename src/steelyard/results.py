"""Results of a study: a list that prints as a table, is indexed by name and becomes a data frame."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, Self, SupportsIndex, TypeVar, overload

import polars as pl

from steelyard.errors import MissingDependencyError, UnknownNameError
from steelyard.html_table import html_table
from steelyard.numbers import number

__all__ = ["Result", "ResultTable", "Results", "listed"]

# More names than this are counted.
_LISTED = 4


class Listed(Protocol):
    """One result."""

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""


class Result(Listed, Protocol):
    """One result, of one system under one prompt."""

    @property
    def system(self) -> str | None:
        """The system."""

    @property
    def prompt(self) -> str | None:
        """The prompt."""


L = TypeVar("L", bound=Listed)
T = TypeVar("T", bound=Result)

_Name = str | tuple[str, str]


class ResultTable(list[L]):
    """A list of results that prints as a table and becomes a data frame.

    Parameters
    ----------
    found : iterable
        The results.
    columns : sequence of str
        What its table shows: columns of `to_frame`. All single values by default.
    """

    def __init__(self, found: Iterable[L] = (), *, columns: Sequence[str] = ()) -> None:
        super().__init__(found)
        self._columns = tuple(columns)

    @overload
    def __getitem__(self, key: SupportsIndex | _Name) -> L: ...

    @overload
    def __getitem__(self, key: slice) -> Self: ...

    def __getitem__(self, key: SupportsIndex | slice | _Name) -> L | Self:
        """Return the result at a position, those of a slice, or the one of this name.

        Raises
        ------
        UnknownNameError
            If there is none of this name, or several.
        """
        if isinstance(key, slice):
            return self._part(super().__getitem__(key))
        if isinstance(key, str | tuple):
            return self._named(key)
        return super().__getitem__(key)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the documented JSON form of each."""
        return [one.to_dict() for one in self]

    def to_frame(self) -> pl.DataFrame:
        """Return a data frame, one row for each result.

        Columns are the keys of `to_dict`; those of nested values are joined by dots, such as
        ``baseline.estimate``.
        """
        rows = [_flat(one) for one in self._rows()]
        names = dict.fromkeys(name for row in rows for name in row)
        # Where a nested value is missing as a whole, its columns are.
        parents = {name[:place] for name in names for place, sign in enumerate(name) if sign == "."}
        return pl.DataFrame(
            {
                name: pl.Series([row.get(name) for row in rows], strict=False)
                for name in names
                if name not in parents
            }
        )

    def to_pandas(self) -> Any:
        """Return the data frame of `to_frame` for pandas, which must be installed."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise MissingDependencyError("`to_pandas` needs pandas: pip install pandas") from error
        return pandas.DataFrame(self.to_frame().to_dict(as_series=False))

    def __str__(self) -> str:
        names, cells, numeric = self._table()
        widths = [max(len(row[place]) for row in [names, *cells]) for place in range(len(names))]
        lines = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, numeric, strict=True)
            ).rstrip()
            for row in [names, *cells]
        ]
        return "\n".join([*lines, *self._below()])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)}{self._extent()}>"

    def _repr_html_(self) -> str:
        names, cells, numeric = self._table()
        return html_table(names, cells, right=numeric, below=self._below())

    def _named(self, key: _Name) -> L:
        """Return the one result of this name."""
        raise UnknownNameError(f"these results have no names; got {key!r}: choose by position")

    def _extent(self) -> str:
        """Return what the results are about, in a few words."""
        return ""

    def _below(self) -> tuple[str, ...]:
        """Return what stands under the table: what it is about, who is left out, and why."""
        return ()

    def _rows(self) -> list[dict[str, Any]]:
        """Return the rows of the table."""
        return self.to_dict()

    def _part(self, found: list[L]) -> Self:
        """Return some of the results, as a collection of the same kind."""
        return type(self)(found, columns=self._columns)

    def _table(self) -> tuple[list[str], list[list[str]], list[bool]]:
        """Return names of columns, cells, and which columns hold numbers."""
        frame = self.to_frame()
        names = [name for name in self._columns if name in frame.columns] or [
            name for name, kind in frame.schema.items() if not kind.is_nested()
        ]
        cells = [[_shown(value) for value in row] for row in frame.select(names).rows()]
        numeric = [frame.schema[name].is_numeric() for name in names]
        return [name.replace("_", " ").replace(".", " ") for name in names], cells, numeric


class Results(ResultTable[T]):
    """A list of results, one for each system and prompt.

    Beside numbers and slices, a system is an index, or a system and a prompt.

    Parameters
    ----------
    found : iterable
        The results.
    columns : sequence of str
        What its table shows: columns of `to_frame`. All single values by default.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> rows = [("a", 2.0, 3), ("b", 3.5, 4)]
    >>> means = [dict(system=name, prompt="p", estimate=mean, n_judgments=n) for name, mean, n in rows]
    >>> found = Results(
    ...     [SimpleNamespace(**one, to_dict=lambda one=one: one) for one in means],
    ...     columns=["system", "estimate", "n_judgments"],
    ... )
    >>> print(found)
    system  estimate  n judgments
    a          2.000            3
    b          3.500            4
    >>> found
    <Results of 2: systems a, b; prompt p>
    >>> found["b"].estimate, found["b", "p"].n_judgments
    (3.5, 4)
    >>> found.to_frame().select("system", "estimate").rows()
    [('a', 2.0), ('b', 3.5)]
    """

    def _named(self, key: _Name) -> T:
        system, prompt = (key, None) if isinstance(key, str) else key
        found = [
            one for one in self if one.system == system and (prompt is None or one.prompt == prompt)
        ]
        if len(found) == 1:
            return found[0]
        raise UnknownNameError(self._complaint(system, prompt, found))

    def _extent(self) -> str:
        systems = listed("system", (one.system for one in self))
        return f": {systems}; {listed('prompt', (one.prompt for one in self))}" if self else ""

    def _complaint(self, system: str, prompt: str | None, found: Sequence[T]) -> str:
        asked = f"system {system!r}" + ("" if prompt is None else f" and prompt {prompt!r}")
        if not found:
            there = dict.fromkeys(
                str(one.system) if prompt is None else f"{one.system}, {one.prompt}" for one in self
            )
            return f"no result has {asked}; there are: {'; '.join(there) or 'none'}"
        prompts = list(dict.fromkeys(str(one.prompt) for one in found))
        if prompt is None and len(prompts) > 1:
            return (
                f"{len(found)} results have {asked}: name the prompt too, such as "
                f"[{system!r}, {prompts[0]!r}]; there are: {', '.join(prompts)}"
            )
        return f"{len(found)} results have {asked}: choose among them by position"


def listed(what: str, names: Iterable[object]) -> str:
    """Return a few names in words; more are counted.

    Examples
    --------
    >>> listed("system", "aab"), listed("system", "abcde"), listed("prompt", "p")
    ('systems a, b', '5 systems', 'prompt p')
    """
    there = list(dict.fromkeys(str(name) for name in names))
    if len(there) > _LISTED:
        return f"{len(there)} {what}s"
    # One line, whatever a name holds.
    return f"{what}{'' if len(there) == 1 else 's'} {' '.join(', '.join(there).split())}"


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, one in value.items():
        if isinstance(one, Mapping) and one:
            found |= _flat(one, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = None if isinstance(one, Mapping) else one
    return found


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return number(value, 3)
    if isinstance(value, list | tuple):
        return ", ".join(_shown(one) for one in value)
    return str(value)
