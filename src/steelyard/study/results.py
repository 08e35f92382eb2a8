"""Results of a study: a list that prints as a table, is indexed by name and becomes a data frame."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, Self, SupportsIndex, TypeVar, overload

import polars as pl

from steelyard.errors import UnknownNameError

__all__ = ["Result", "Results"]


class Result(Protocol):
    """One result, of one system under one prompt."""

    @property
    def system(self) -> str | None:
        """The system."""

    @property
    def prompt(self) -> str | None:
        """The prompt."""

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""


T = TypeVar("T", bound=Result)

_Name = str | tuple[str, str]


class Results(list[T]):
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
    >>> from steelyard.estimate import sample_mean
    >>> means = {"a": sample_mean([1, 2, 3]), "b": sample_mean([2, 3, 4, 5])}
    >>> named = [one.named(system=name, prompt="p", metrics=()) for name, one in means.items()]
    >>> found = Results(named, columns=["system", "estimate", "n_judgments"])
    >>> print(found)
    system  estimate  n judgments
    a          2.000            3
    b          3.500            4
    >>> found["b"].estimate, found["b", "p"].n_judgments
    (3.5, 4)
    >>> found.to_frame().select("system", "estimate").rows()
    [('a', 2.0), ('b', 3.5)]
    """

    def __init__(self, found: Iterable[T] = (), *, columns: Sequence[str] = ()) -> None:
        super().__init__(found)
        self._columns = tuple(columns)

    @overload
    def __getitem__(self, key: SupportsIndex | _Name) -> T: ...

    @overload
    def __getitem__(self, key: slice) -> Self: ...

    def __getitem__(self, key: SupportsIndex | slice | _Name) -> T | Self:
        """Return the result at a position, those of a slice, or the one of this name.

        Raises
        ------
        UnknownNameError
            If there is none of this name, or several.
        """
        if isinstance(key, slice):
            return self._part(super().__getitem__(key))
        if not isinstance(key, str | tuple):
            return super().__getitem__(key)
        system, prompt = (key, None) if isinstance(key, str) else key
        found = [
            one for one in self if one.system == system and (prompt is None or one.prompt == prompt)
        ]
        if len(found) == 1:
            return found[0]
        raise UnknownNameError(self._complaint(system, prompt, found))

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the documented JSON form of each."""
        return [one.to_dict() for one in self]

    def to_frame(self) -> pl.DataFrame:
        """Return a data frame, one row for each result.

        Columns are the keys of `to_dict`; those of nested values are joined by dots, such as
        ``baseline.estimate``.
        """
        rows = [_flat(one) for one in self.to_dict()]
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
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        names, cells, numeric = self._table()
        styles = ["text-align: right" if right else "text-align: left" for right in numeric]

        def row(tag: str, values: Sequence[str]) -> str:
            inside = zip(values, styles, strict=True)
            return "".join(
                f'<{tag} style="{style}">{html.escape(value)}</{tag}>' for value, style in inside
            )

        body = "".join(f"<tr>{row('td', values)}</tr>" for values in cells)
        return f"<table><thead><tr>{row('th', names)}</tr></thead><tbody>{body}</tbody></table>"

    def _part(self, found: list[T]) -> Self:
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
        return f"{value:.3f}"
    if isinstance(value, list | tuple):
        return ", ".join(_shown(one) for one in value)
    return str(value)
