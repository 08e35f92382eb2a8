"""The systems of a campaign, gathered under one prompt and estimated together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.arrays import PoolMoments
from steelyard.campaign.metric_checks import copies, filled_in, judged_gaps
from steelyard.errors import NotEstimableError
from steelyard.estimate import Estimate, Options
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.campaign_leniency import FEW_RATERS
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.options import Raters
from steelyard.study.judged import JudgedTable, judged_arrays
from steelyard.study.others_judgments import OTHERS, check_drawn_apart, with_others_judgments
from steelyard.study.recorded_draw import DrawnCell, drawn_cell, known_raters
from steelyard.study.shared_judgments import TEXT
from steelyard.tables import Outputs

__all__ = ["Campaign", "rater_mode"]

Found = dict[str, Estimate | NotEstimableError]


@dataclass(frozen=True, eq=False)
class Campaign:
    """Every system's pool and judgments, with the control that is learned from all of them.

    Attributes
    ----------
    outputs : Outputs
        The pool of every system.
    table : JudgedTable
        All judgments, with metrics and what is known of the draw.
    pools : mapping of str to PoolMoments
        Moments of each system's metrics, a missing value counting as the mean of the others.
    gaps : mapping of str to mapping of str to int
        On how many outputs of a system a metric is missing.
    """

    outputs: Outputs
    table: JudgedTable
    pools: Mapping[str, PoolMoments]
    gaps: Mapping[str, Mapping[str, int]]

    @cached_property
    def left_out(self) -> dict[str, str]:
        """The metrics that come with the judgments, not with the outputs, and a note on each."""
        rows, metrics = self.table.rows, self.table.metrics
        simply = "probability" not in rows.columns
        gaps = judged_gaps(rows, metrics, self.gaps, self.outputs.sizes, simply_drawn=simply)
        return {**filled_in(rows, metrics, self.pools), **gaps}

    def cells(self, prompt: str) -> tuple[dict[str, DrawnCell], dict[str, NotEstimableError]]:
        """Return the judged outputs of each system under one prompt, or why they show nothing."""
        cells: dict[str, DrawnCell] = {}
        refused: dict[str, NotEstimableError] = {}
        for system in self.table.systems:
            rows = self.table.of(prompt, system)
            if rows.height:
                try:
                    cells[system] = drawn_cell(rows, (), size=self.outputs.sizes[system])
                except NotEstimableError as error:
                    refused[system] = error
        return cells, refused

    def estimates(
        self,
        prompt: str,
        *,
        options: Options,
        notes: Sequence[str],
        seed: int,
        other_systems: bool = False,
    ) -> Found:
        """Return the estimate of each system under one prompt, or why it has none.

        With `other_systems`, their judgments of the same items correct it too.
        """
        cells, refused = self.cells(prompt)
        found: Found = {**refused}
        judged = self.judged(prompt, cells)
        names = self.table.metrics
        if other_systems:
            rows = self.table.rows.filter(pl.col("prompt") == prompt)
            check_drawn_apart(rows, self.outputs.sizes)
            judged = with_others_judgments(judged, list(cells), rows, self.outputs, names)
            names = (*names, OTHERS)
        results = campaign_means(judged, options=options, seed=seed)
        for system, result in zip(cells, results, strict=True):
            if isinstance(result, Estimate):
                about = (
                    *cells[system].notes,
                    *self.metric_notes(prompt, system),
                    *notes,
                    *result.notes,
                )
                named = replace(result, notes=about)
                metrics = names if result.slope else ()
                found[system] = named.named(system=system, prompt=prompt, metrics=metrics)
            else:
                found[system] = result
        return found

    def judged(self, prompt: str, cells: Mapping[str, DrawnCell]) -> list[JudgedSystem]:
        """Return what is known of the systems of `cells`, their items and raters numbered alike."""
        rows = {system: self.table.of(prompt, system) for system in cells}
        numbers = _codes([rows[system]["item"].to_numpy() for system in cells])
        clusters = None
        if "cluster" in self.table.rows.columns:
            clusters = _codes([rows[system]["cluster"].to_numpy() for system in cells])
            if len(np.unique(np.concatenate(clusters))) == len(np.unique(np.concatenate(numbers))):
                clusters = None  # each item is a cluster
        raters = _codes([rows[system]["rater"].to_numpy() for system in cells])
        texts = _text_codes(list(rows.values())) if TEXT in self.table.rows.columns else None
        useless = [self.table.metrics.index(name) for name in self.left_out]
        judged = []
        for position, (system, cell) in enumerate(cells.items()):
            _, metric, items = judged_arrays(rows[system], self.table.metrics)
            if useless:
                metric = np.where(np.isin(np.arange(metric.shape[1]), useless), np.nan, metric)
            # Judged outputs are in the order of their items' names, raters numbered by theirs.
            first = np.unique(items, return_index=True)[1]
            known = np.unique(raters[position])
            judged.append(
                JudgedSystem(
                    sample=cell.sample,
                    draw=cell.draw,
                    metric=metric[first],
                    items=numbers[position][first],
                    raters=None if cell.sample.rater is None else known[cell.sample.rater],
                    pool=self.pools.get(system),
                    clusters=None if clusters is None else clusters[position][first],
                    texts=None if texts is None else texts[position][first],
                )
            )
        return judged

    def metric_notes(self, prompt: str, system: str) -> tuple[str, ...]:
        """Say which metrics of a system are missing, always the same, or its judgments themselves."""
        size, gaps = self.outputs.sizes[system], self.gaps.get(system, {})
        pool = self.pools.get(system)
        constant = () if pool is None else np.flatnonzero(pool.low == pool.high)
        same = (self.table.metrics[number] for number in constant)
        missing = (
            f"metric {name} is missing on {count} of {size} outputs: they are corrected by the "
            "others, as if it were at its mean"
            if count < size
            else f"metric {name} is missing: this system is corrected by the others"
            for name, count in gaps.items()
            if name not in self.left_out
        )
        used = [name for name in self.table.metrics if name not in self.left_out]
        return (
            *self.left_out.values(),
            *missing,
            *copies(self.table.of(prompt, system), used),
            *(
                f"metric {name} is the same on all outputs: it cannot correct this system"
                for name in same
                if name not in gaps
            ),
        )


def rater_mode(
    table: JudgedTable, prompt: str, asked: Raters | None, *, adjusted: Raters
) -> tuple[Raters, tuple[str, ...]]:
    """Return how raters are seen under a prompt, and what is to be said of it.

    Parameters
    ----------
    table : JudgedTable
        All judgments.
    prompt : str
        The prompt.
    asked : str or None
        How they are to be seen; None for a sample where they are enough.
    adjusted : str
        How a sample of raters is seen here: "adjusted" where leniency can be taken out.
    """
    if asked is not None:
        return asked, ()
    known = table.raters(prompt)
    if known >= FEW_RATERS:
        return adjusted, ()
    number = f"only {known} raters are known"
    if known < 2:
        named = known_raters(table.rows.filter(pl.col("prompt") == prompt)) is not None
        number = "only one rater is known" if named else "raters are unknown"
    note = (
        f"{number}: the interval is about exactly these raters, and may be too short for others; "
        f"{FEW_RATERS} or more can be seen as a sample"
    )
    return "fixed", (note,)


def _text_codes(rows: Sequence[pl.DataFrame]) -> list[NDArray[np.int64]]:
    """Number the texts of all systems; those that are shared have one number."""
    system = [np.full(one.height, number) for number, one in enumerate(rows)]
    together = pl.concat([one.select("item", TEXT) for one in rows]).with_columns(
        pl.Series("system", np.concatenate(system))
    )
    own = pl.when(pl.col(TEXT).is_null()).then(pl.struct("item", "system"))
    code = together.select(pl.struct(TEXT, own.alias("own")).rank("dense")).to_series().to_numpy()
    return np.split(code.astype(np.int64), np.cumsum([one.height for one in rows])[:-1])


def _codes(labels: Sequence[NDArray[np.object_]]) -> list[NDArray[np.int64]]:
    """Number labels over all systems, in their own order."""
    if not labels:
        return []
    codes = np.unique(np.concatenate(labels), return_inverse=True)[1]
    ends = np.cumsum([len(one) for one in labels])
    return np.split(codes, ends[:-1])
