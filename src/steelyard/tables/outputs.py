"""Outputs: the pool of every system, in memory or on disk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import polars as pl

from steelyard.arrays import Floats
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import Output, names_of, optional_columns, required_columns
from steelyard.single.pool import PoolMoments
from steelyard.tables.judgments import Judgments
from steelyard.tables.keys import system_sizes
from steelyard.tables.metric_values import counted_gaps, finite, matrix_of, pool_moments
from steelyard.tables.refusals import check
from steelyard.tables.rules import ColumnRule, is_gap
from steelyard.tables.tables import ROW, Table, quoted

__all__ = ["OUTPUT_COLUMNS", "Outputs"]


# What is read of a pool once, whichever metrics are used.
_COUNTED = ("sizes", "_known_moments")

OUTPUT_COLUMNS = (*required_columns(Output), *optional_columns(Output))


@dataclass(frozen=True, eq=False)
class Outputs:
    """The outputs of every system: what the estimates speak about.

    Made by `read_outputs`. The rows of a Parquet file or a lazy frame stay where they are: each
    method reads the columns it needs, in a stream, and first makes sure, once, that no item and
    system is missing or there twice.

    Attributes
    ----------
    name : str
        The file they come from, or ``outputs``.
    metrics : tuple of str
        Columns that hold metrics.
    columns : tuple of str
        All columns.
    notes : tuple of str
        What was filled or left out while they were read.
    """

    name: str
    metrics: tuple[str, ...]
    columns: tuple[str, ...]
    _table: Table = field(repr=False)
    _keys: tuple[ColumnRule, ...] = field(repr=False)
    _texts: tuple[ColumnRule, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    _known_moments: dict[tuple[str, ...], dict[str, PoolMoments]] = field(
        default_factory=dict, init=False, repr=False
    )

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Number of outputs of each system; systems in order of first appearance."""
        return system_sizes(self._table, self._keys)

    @property
    def systems(self) -> tuple[str, ...]:
        """Systems, in order of first appearance."""
        return tuple(self.sizes)

    @property
    def has_texts(self) -> bool:
        """Whether the texts of the outputs are known, or only their metrics."""
        return "output" in self.columns

    @property
    def left_out(self) -> tuple[str, ...]:
        """Systems that were there and left out, as asked."""
        return self._table.left_out

    @property
    def mapped(self) -> Mapping[str, str]:
        """The name in the file of each column that got another name."""
        return self._table.mapped

    def named(self, column: str) -> str:
        """Return what a column is called here: ``outputs:score`` where judgments have such a column."""
        own = f"outputs:{column}"
        return own if column not in self.columns and own in self.columns else column

    def with_metrics(self, metrics: Sequence[str]) -> "Outputs":
        """Return the same outputs with these of their metrics; what was counted is kept."""
        if tuple(metrics) == self.metrics:
            return self
        found = replace(self, metrics=tuple(metrics))
        vars(found).update({name: vars(self)[name] for name in _COUNTED if name in vars(self)})
        return found

    def check(self) -> None:
        """Raise unless every output has an item and a system, and no two have the same."""
        # Counting reads every key; the count is kept, so that it is done once.
        _ = self.sizes

    def pool_moments(
        self,
        metrics: Sequence[str] | None = None,
        *,
        gaps: Literal["refuse", "fill"] = "refuse",
    ) -> dict[str, PoolMoments]:
        """Return the moments of metrics over each system's pool, gathered in a stream.

        Parameters
        ----------
        metrics : sequence of str, optional
            Names of p metrics; all of them if not given.
        gaps : {"refuse", "fill"}
            What to do where outputs lack a metric: refuse, or let each missing value count as the
            mean of the system's others.

        Returns
        -------
        dict
            Moments by system, systems in order of first appearance.

        Raises
        ------
        InvalidArgumentError
            If there is no such metric.
        InvalidDataError
            If the metric of an output is missing, NaN or infinite, unless it is to be filled. The
            output is never dropped: that would change what is estimated.

        Examples
        --------
        >>> from steelyard.tables import read_outputs
        >>> pool = pl.DataFrame({"item": [1, 2, 3], "system": "a", "length": [1.0, 2.0, 6.0]})
        >>> read_outputs(pool).pool_moments()["a"].mean
        array([3.])
        """
        names = self._known(metrics)
        self.check()
        # A pool is read once, however often it is asked about.
        key = (gaps, *names)
        if key not in self._known_moments:
            parts = pool_moments(
                lambda: self._table.batches(self._metric_rows(names)),
                names,
                fill=gaps == "fill",
                checked=lambda batch: self._check_finite(batch, names),
            )
            self._known_moments[key] = {system: parts[system] for system in self.systems}
        return dict(self._known_moments[key])

    def metric_gaps(self, metrics: Sequence[str] | None = None) -> dict[str, dict[str, int]]:
        """Return on how many outputs of each system each metric is missing, where it is.

        Examples
        --------
        >>> from steelyard.tables import read_outputs
        >>> pool = pl.DataFrame({"item": [1, 2], "system": "a", "length": [1.0, None], "n": [1, 2]})
        >>> read_outputs(pool).metric_gaps()
        {'a': {'length': 1}}
        """
        names = self._known(metrics)
        self.check()
        return counted_gaps(self._table.batches(self._metric_rows(names)), names)

    def pool_values(self, system: str, metrics: Sequence[str] | None = None) -> Floats:
        """Return the metrics (N, p) of one system's pool, in memory and in its order."""
        names = self._known(metrics)
        if system not in self.sizes:
            raise InvalidArgumentError(
                f"`system` must be one of {quoted(self.systems)}; got {system!r}"
            )
        rows = self._table.collect(self._metric_rows(names).filter(pl.col("system") == system))
        self._check_finite(rows, names)
        return matrix_of(rows, names)

    def rows(self, *, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the whole pool, in memory: these of its columns, all of them if not given.

        Items, systems and outputs are text, references lists of texts.
        """
        names = self._present(self.columns if columns is None else columns)
        self.check()
        return self._with_texts(self._table.collect(self._keyed_rows(names)))

    def rows_of(
        self, judgments: Judgments, *, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Return the rows of judged outputs, each once, in the order of the pool.

        Parameters
        ----------
        judgments : Judgments
            What was judged.
        columns : sequence of str, optional
            What to read beside item and system; texts and metrics if not given.

        Returns
        -------
        polars.DataFrame
            Item, system and output as text, references as lists of texts, metrics as floats.

        Raises
        ------
        InvalidDataError
            If a judged output is not in the pool.

        Examples
        --------
        >>> from steelyard.tables import read_judgments, read_outputs
        >>> pool = pl.DataFrame({"item": [1, 2], "system": "a", "length": [4, 5]})
        >>> judged = {"item": [2], "system": "a", "rater": "r", "prompt": "p", "score": 1}
        >>> read_outputs(pool).rows_of(read_judgments(pl.DataFrame(judged))).rows()
        [('2', 'a', 5.0)]
        """
        if columns is None:
            columns = [*(name for name in OUTPUT_COLUMNS if name in self.columns), *self.metrics]
        names = self._present([*Output.key, *columns])
        self.check()
        keys = judgments.frame.select(Output.key).with_row_index("position")
        keys = keys.unique(subset=Output.key, keep="first", maintain_order=True)
        query = self._keyed_rows(names).with_columns(
            finite(name) for name in names if name in self.metrics
        )
        rows = self._table.collect(
            query.join(keys.lazy(), on=Output.key, how="semi", maintain_order="left")
        )
        absent = keys.join(rows, on=Output.key, how="anti", maintain_order="left")
        if not absent.is_empty():
            position, item, system = absent.row(0)
            raise InvalidDataError(
                f"{judgments.place(position)}: the output of item {item!r} by system {system!r} "
                f"is judged but not in {self.name}, which lacks {absent.height} of "
                f"{keys.height} judged outputs: {self._way_to_agree(item, system)}"
            )
        return self._with_texts(rows)

    def _way_to_agree(self, item: str, system: str) -> str:
        """Say what to do about an output that is judged and not there."""
        whole = item.removesuffix(".0")
        same = (pl.col("item") == whole) & (pl.col("system") == system)
        if whole != item and self._table.collect(self._keyed_rows(Output.key).filter(same)).height:
            return f"an item there is {whole!r}, so write whole numbers without .0 in both files"
        return "add them to the pool, or remove their judgments"

    def _keyed_rows(self, columns: Sequence[str]) -> pl.LazyFrame:
        return self._table.rows.select(ROW, *columns).with_columns(
            rule.value for rule in self._keys if rule.column in columns
        )

    def _metric_rows(self, metrics: Sequence[str]) -> pl.LazyFrame:
        return self._keyed_rows(["system", *metrics]).with_columns(map(finite, metrics))

    def _with_texts(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Check and convert the texts, in rows that are in memory."""
        rules = [rule for rule in self._texts if rule.column in rows.columns]
        check(self._table, rows, rules)
        return rows.with_columns(rule.value for rule in rules).drop(ROW)

    def _known(self, metrics: Sequence[str] | None) -> list[str]:
        names = list(self.metrics if metrics is None else map(self.named, names_of(metrics)))
        for name in names:
            if name not in self.metrics:
                raise InvalidArgumentError(
                    f"`metrics` must be among {quoted(self.metrics)} of {self.name}; got {name!r}"
                )
            if names.count(name) > 1:
                raise InvalidArgumentError(f"`metrics` must name each once; got {name!r} twice")
        return names

    def _present(self, columns: Sequence[str]) -> list[str]:
        for name in columns:
            if name not in self.columns:
                raise InvalidArgumentError(
                    f"`columns` must be among {quoted(self.columns)} of {self.name}; got {name!r}"
                )
        return list(dict.fromkeys(columns))

    def _check_finite(self, rows: pl.DataFrame, metrics: Sequence[str]) -> None:
        if not metrics:
            return
        first = rows.filter(pl.any_horizontal(map(is_gap, metrics))).head(1)
        if first.is_empty():
            return
        row = first[ROW][0]
        metric = next(name for name in metrics if first.select(is_gap(name)).item())
        item, system = self._table.collect(
            self._keyed_rows(Output.key).filter(pl.col(ROW) == row).select(Output.key)
        ).row(0)
        gaps, size = self._table.collect(
            self._table.rows.select(is_gap(metric).sum().alias("gaps"), pl.len().alias("size"))
        ).row(0)
        raise InvalidDataError(
            f"{self._table.cell_error(row, metric, 'a finite number')} (item {item!r}, system "
            f"{system!r}; a gap in metric {metric} on {gaps:,} of {size:,} outputs): score them, or leave "
            "out the metric"
        )
