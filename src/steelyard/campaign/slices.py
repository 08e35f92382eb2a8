"""Slices of a campaign: outputs by topic, language, length band or any other column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl

from steelyard.campaign.averages import check_weights
from steelyard.campaign.collected import Collected
from steelyard.campaign.draws import is_designed
from steelyard.campaign.source import Source
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.tables import Judgments, Outputs, read_outputs

__all__ = ["Slices", "sliced"]

_KEY = ["item", "system"]
# A column of numbers with more values than this is cut into this many bands.
_FEW_VALUES, _BANDS = 10, 3
# More slices than this are no slices: each would have hardly a judgment.
_MOST = 50
# Between the names of a system and a slice: no name has it.
_BETWEEN = "\N{INFORMATION SEPARATOR ONE}"


@dataclass(frozen=True, eq=False)
class Slices:
    """The slice of every output.

    Attributes
    ----------
    column : str
        The column that names it.
    names : tuple of str
        The slices, in the order of their names or bands.
    rows : polars.DataFrame
        Item and system of every output, and the number of its ``slice``: the number of `names` for
        outputs in none.
    mix : tuple of float or None
        The weight of each slice, where a mean over slices is wanted.
    """

    column: str
    names: tuple[str, ...]
    rows: pl.DataFrame
    mix: tuple[float, ...] | None

    @classmethod
    def of(
        cls,
        outputs: Outputs,
        by: str,
        *,
        bands: Sequence[float] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> "Slices":
        """Read the slices of all outputs.

        Parameters
        ----------
        outputs : Outputs
            The pool of every system.
        by : str
            The column.
        bands : sequence of float, optional
            Where a column of numbers is cut. By default it is cut into three bands of equal size,
            unless it has ten values or fewer.
        weights : mapping of str to float, optional
            The weight of each slice in a mean over slices.

        Raises
        ------
        InvalidArgumentError
            If there is no such column, it cannot be cut into slices, or `weights` do not fit.
        """
        column = outputs.named(by)
        if column not in outputs.columns or by in {"item", "system", "output"}:
            known = [name for name in outputs.columns if name not in {"item", "system", "output"}]
            raise InvalidArgumentError(
                f"`by` must be a column of {outputs.name} that divides its outputs; got {by!r}: there "
                f"are {', '.join(known) or 'none'}"
            )
        rows = outputs.rows(columns=[*_KEY, column])
        names, number = _numbered(rows[column], by, bands)
        mix = None if weights is None else _mix(weights, names)
        rows = rows.select(_KEY).with_columns(number.alias("slice"))
        return cls(by, names, rows, mix)

    def cell(self, system: str, name: str) -> str:
        """Return the name under which a slice of a system is fitted."""
        return f"{system}{_BETWEEN}{name}"

    def system_of(self, cell: str) -> str:
        """Return the system that a fitted slice is a part of."""
        return cell.rsplit(_BETWEEN, 1)[0]

    @cached_property
    def cells(self) -> frozenset[str]:
        """The names of all slices of all systems that have an output."""
        found = self.rows.select("system", "slice").unique().rows()
        there = len(self.names)
        return frozenset(
            self.cell(one, self.names[number]) for one, number in found if number < there
        )

    def source(self, whole: Source) -> Source:
        """Return the tables with each slice of a system as a system.

        Raises
        ------
        NotEstimableError
            If outputs were not drawn simply at random.
        """
        if is_designed(whole.judgments, whole.sample):
            raise NotEstimableError(
                "outputs were drawn by strata or with unequal probabilities, and slices need a simple draw"
            )
        names = pl.DataFrame({"slice": np.arange(len(self.names)), "#name": list(self.names)})
        known = self.rows.join(names, on="slice", how="inner", maintain_order="left")
        cells = known.select(*_KEY, _label("system", "#name").alias("#cell"))
        return replace(
            whole,
            outputs=_cut(whole.outputs, cells),
            judgments=_renamed(whole.judgments, cells),
            whole=whole,
            parts={one: self.system_of(one) for one in self.cells},
        )

    def with_families(self, found: Collected) -> Collected:
        """Return what was collected of slices, with the system that each is a part of."""
        systems = [self.system_of(one) for one in found.campaign.systems]
        family = np.unique(systems, return_inverse=True)[1].astype(np.int64)
        return replace(found, campaign=replace(found.campaign, family=family))

    @property
    def mix_name(self) -> str:
        """The name of the mean over slices."""
        pairs = zip(self.names, self.mix or (), strict=True)
        return ", ".join(f"{name}={weight:g}" for name, weight in pairs)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of the cut."""
        notes = []
        missing = int((self.rows["slice"] == len(self.names)).sum())
        if missing:
            notes.append(
                f"{missing} of {self.rows.height} outputs have no {self.column} and are in no slice"
            )
        differs = self.rows.group_by("item").agg(pl.col("slice").n_unique() > 1)["slice"].any()
        if differs and self.rows["system"].n_unique() > 1:
            notes.append(
                f"{self.column} differs between systems on the same item, so that a slice holds other "
                "items for one system than for another"
            )
        return tuple(notes)


def _label(system: pl.Expr | str, name: pl.Expr | str) -> pl.Expr:
    parts = [pl.col(one) if isinstance(one, str) else one for one in (system, name)]
    return pl.concat_str(parts, separator=_BETWEEN)


def sliced(
    outputs: Outputs,
    by: str | None,
    *,
    bands: Sequence[float] | None = None,
    weights: Mapping[str, float] | None = None,
) -> Slices | None:
    """Return how outputs are cut, None where that is not asked for.

    Raises
    ------
    InvalidArgumentError
        If there are bands or weights and no column.
    """
    if by is not None:
        return Slices.of(outputs, by, bands=bands, weights=weights)
    for name, given in (("bands", bands), ("weights", weights)):
        if given is not None:
            raise InvalidArgumentError(f"`{name}` needs `by`: the column of the slices")
    return None


def _numbered(
    values: pl.Series, by: str, bands: Sequence[float] | None
) -> tuple[tuple[str, ...], pl.Series]:
    """Return the names of the slices, and the number of each value's."""
    if values.dtype.is_nested():
        raise InvalidArgumentError(f"`by` must be a column of texts or numbers; {by!r} holds lists")
    if values.dtype.is_float():
        values = values.fill_nan(None)
    distinct = values.drop_nulls().n_unique()
    if bands is not None or (values.dtype.is_numeric() and distinct > _FEW_VALUES):
        values, names = _banded(values, by, bands)
    else:
        ordered = values.drop_nulls().unique().sort()
        if values.dtype.is_float():
            labels = [f"{value:g}" for value in ordered]
            values = values.map_elements(lambda value: f"{value:g}", return_dtype=pl.String)
        else:
            values = values.cast(pl.String)
            values = values.set(values.str.strip_chars() == "", None)
            labels = [one for one in ordered.cast(pl.String) if one.strip()]
        names = tuple(dict.fromkeys(labels))
    if not names or len(names) > _MOST:
        raise InvalidArgumentError(
            f"`by` must divide outputs into 1 to {_MOST} slices; column {by!r} has {len(names)} values"
        )
    number = {name: place for place, name in enumerate(names)}
    codes = values.replace_strict(number, default=len(names), return_dtype=pl.Int64)
    return names, codes.fill_null(len(names))


def _banded(
    values: pl.Series, by: str, bands: Sequence[float] | None
) -> tuple[pl.Series, tuple[str, ...]]:
    """Return the name of each number's band, and all names that occur, in order."""
    if not values.dtype.is_numeric():
        raise InvalidArgumentError(f"`bands` need a column of numbers; {by!r} holds texts")
    known = values.drop_nulls().to_numpy().astype(np.float64)
    if bands is None:
        quantiles = np.quantile(known, np.arange(1, _BANDS) / _BANDS)
        # Few digits, so that what is printed is where it is cut.
        edges = [float(f"{one:.3g}") for one in quantiles]
    else:
        edges = [float(edge) for edge in bands]
        if not edges or not np.isfinite(edges).all() or sorted(set(edges)) != edges:
            raise InvalidArgumentError(
                f"`bands` must be rising numbers, such as 10,20; got {edges}"
            )
    edges = sorted(set(edges))
    names = [f"up to {edges[0]:g}"]
    names += [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    names.append(f"over {edges[-1]:g}")
    place = np.searchsorted(edges, values.to_numpy().astype(np.float64), side="left")
    labels = [
        None if value is None else names[one] for value, one in zip(values, place, strict=True)
    ]
    there = set(labels)
    return pl.Series(labels, dtype=pl.String), tuple(name for name in names if name in there)


def _mix(weights: Mapping[str, float], names: Sequence[str]) -> tuple[float, ...]:
    check_weights("weights", weights, names, zero=True)
    missing = [name for name in names if name not in weights]
    if missing:
        raise InvalidArgumentError(
            f"`weights` must name all slices; {missing[0]!r} is missing: give it 0 to leave it out"
        )
    total = sum(weights.values())
    if abs(total - 1) > 1e-6:
        raise InvalidArgumentError(f"`weights` must sum to 1; they sum to {total:g}")
    return tuple(float(weights[name]) for name in names)


def _cut(outputs: Outputs, cells: pl.DataFrame) -> Outputs:
    """Return the outputs in some slice, each of the slice of its system."""
    rows = outputs.rows().join(cells, on=_KEY, how="inner", maintain_order="left")
    return read_outputs(rows.with_columns(system="#cell").drop("#cell"), metrics=outputs.metrics)


def _renamed(judgments: Judgments, cells: pl.DataFrame) -> Judgments:
    """Return the judgments of outputs in some slice, each of the slice of its system."""
    rows = judgments.frame.with_row_index("#position")
    found = rows.join(cells, on=_KEY, how="inner", maintain_order="left")
    return judgments.derived(found.with_columns(system="#cell").drop("#cell"))
