"""Slices of a campaign: outputs by topic, language, length band or any other column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.arrays import PoolMoments
from steelyard.data import Outputs
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.slices import Slicing
from steelyard.study.averages import check_weights

__all__ = ["Slices"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_KEY = ["item", "system"]
# A column of numbers with more values than this is cut into this many bands.
_FEW_VALUES, _BANDS = 10, 3
# More slices than this are no slices: each would have hardly a judgment.
_MOST = 50


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
        Item, system and metrics of every output, and the number of its ``slice``: the number of
        `names` for outputs in none.
    metrics : tuple of str
        The metrics.
    mix : tuple of float or None
        The weight of each slice, where a mean over slices is wanted.
    """

    column: str
    names: tuple[str, ...]
    rows: pl.DataFrame
    metrics: tuple[str, ...]
    mix: tuple[float, ...] | None

    @classmethod
    def of(
        cls,
        outputs: Outputs,
        by: str,
        *,
        metrics: Sequence[str],
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
        metrics : sequence of str
            Metrics to read beside it.
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
        if by not in outputs.columns or by in {"item", "system", "output"}:
            known = [name for name in outputs.columns if name not in {"item", "system", "output"}]
            raise InvalidArgumentError(
                f"`by` must be a column of {outputs.name} that divides its outputs; got {by!r}: there "
                f"are {', '.join(known) or 'none'}"
            )
        rows = outputs.rows(columns=list(dict.fromkeys([*_KEY, by, *metrics])))
        names, number = _numbered(rows[by], by, bands)
        mix = None if weights is None else _mix(weights, names)
        rows = rows.select(*_KEY, *metrics).with_columns(number.alias("slice"))
        return cls(by, names, rows, tuple(metrics), mix)

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

    def numbers(self, system: str, items: Sequence[str] | NDArray[np.object_]) -> Integers:
        """Return the slice of each of a system's outputs of these items."""
        asked = pl.DataFrame({"item": pl.Series(items, dtype=pl.String)})
        own = self._by_system[system].select("item", "slice")
        found = asked.join(own, on="item", how="left", maintain_order="left")
        return found["slice"].to_numpy()

    def slicing(self, system: str, items: NDArray[np.object_], pool: PoolMoments | None) -> Slicing:
        """Return how one system is cut.

        Parameters
        ----------
        system : str
            The system.
        items : (n,) array
            The items of its judged outputs.
        pool : PoolMoments or None
            Moments of the metrics over its whole pool.
        """
        rows = self._by_system[system]
        code = rows["slice"].to_numpy()
        sizes = np.bincount(code, minlength=len(self.names) + 1).tolist()
        pools: list[PoolMoments | None] = [None] * len(sizes)
        if pool is not None:
            values = rows.select(pl.col(self.metrics).cast(pl.Float64)).to_numpy()
            # A missing metric counts as the system's mean, as it does for the control.
            values = np.where(np.isfinite(values), values, pool.mean)
            pools = [
                PoolMoments.of(values[code == number]) if size else None
                for number, size in enumerate(sizes)
            ]
        return Slicing(self.numbers(system, items), sizes, pools)

    @cached_property
    def _by_system(self) -> dict[str, pl.DataFrame]:
        return {
            str(key[0]): part
            for key, part in self.rows.partition_by("system", as_dict=True).items()
        }


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
