"""What a pilot shows of the difference of two systems on the same items, as `compare` will see it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs
from steelyard.design import Pair, PlannedRaters
from steelyard.design.pilot import Pilot
from steelyard.errors import NotEstimableError
from steelyard.estimate import Options
from steelyard.estimate.campaign_leniency import campaign_leniency
from steelyard.estimate.controlled import JudgedSystem, controlled
from steelyard.study.campaign import Campaign, rater_mode
from steelyard.study.compared_draw import simple_cells
from steelyard.study.judged import judged_table
from steelyard.variance import crossed_components

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["PairPilot"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairPilot:
    """The judgments of both systems of a pair on items where they differ.

    Attributes
    ----------
    rows : polars.DataFrame
        One row for each judgment of the one system and one of the other on the same item: scores,
        raters, and the control that `compare` learns from the pilot.
    pair : Pair
        Share of identical outputs, and raters where they are a sample.
    items : int or None
        Items of the pool; None where the two systems have different items.
    leniency : float
        Variance between raters; 0 where they are fixed.
    """

    rows: pl.DataFrame
    pair: Pair
    items: int | None
    leniency: float

    @classmethod
    def of(
        cls, study: "Study", metrics: Sequence[str], *, prompt: str, names: tuple[str, str]
    ) -> "PairPilot":
        """Read a pilot; the learned control comes from all its systems."""
        study.check_judged([prompt], names)
        table = judged_table(study.outputs, study.judgments, metrics, gaps=True)
        gaps = study.outputs.metric_gaps(metrics) if metrics else {}
        pools = study.outputs.pool_moments(metrics, gaps="fill") if metrics else {}
        campaign = Campaign(study.outputs, table, pools, gaps)
        cells = simple_cells(table, prompt, study.outputs.sizes)
        systems = campaign.judged(prompt, cells)
        # As `compare` has it: scaled for differences.
        found = controlled(systems, differences=True)
        learned = pl.concat(
            pl.DataFrame(
                {
                    "item": np.unique(table.of(prompt, name)["item"].to_numpy()),
                    "system": name,
                    "control": control,
                }
            )
            for name, control in zip(cells, found.values, strict=True)
        )
        judged = table.rows.filter(
            (pl.col("prompt") == prompt) & pl.col("system").is_in(names)
        ).select("item", "system", "rater", "score")
        differing, items, identical = _differing(study, names)
        judged = judged.join(learned, on=["item", "system"], how="left")
        if differing is not None:
            judged = judged.join(differing, on="item", how="semi")
        rows = _pairs_of(judged, names)
        if rows.is_empty():
            raise NotEstimableError(
                f"no item on which they differ has judgments of both {names[0]!r} and {names[1]!r} under "
                f"prompt {prompt!r}: a paired plan needs a pilot on the same items"
            )
        mode, _ = rater_mode(table, prompt, None, adjusted="adjusted")
        raters, leniency = None, 0.0
        if mode != "fixed":
            chosen = [list(cells).index(name) for name in names]
            raters, leniency = _raters(
                systems, found.samples, judged, chosen=chosen, number=table.raters(prompt)
            )
        made = cls(rows, Pair(identical=identical, raters=raters), items, leniency)
        return replace(made, pair=replace(made.pair, tails=made.pilot.tails))

    @property
    def controlled(self) -> bool:
        """Whether the pilot taught a control that varies between the two systems."""
        control = self._control
        return bool(np.var(control) > 1e-9 * np.var(self.rows["score"].to_numpy()))

    @property
    def _control(self) -> Floats:
        return self.rows["control"].to_numpy()

    @cached_property
    def pilot(self) -> Pilot:
        """Judgments of the difference by item, with the control's difference as their control."""
        score = pl.col("score")
        items = self.rows.group_by("item", maintain_order=True).agg(
            score.mean(),
            pl.col("control").first(),
            count=pl.len(),
            within=((score - score.mean()) ** 2).sum(),
        )
        control = items["control"].to_numpy()
        pilot = Pilot(
            mean=items["score"].to_numpy(),
            within=items["within"].to_numpy(),
            count=items["count"].to_numpy().astype(np.int64),
            system=np.zeros(items.height, dtype=np.int64),
            control=control if self.controlled else np.zeros(items.height),
            explained=_explained(items["score"].to_numpy(), control) if self.controlled else 0.0,
            scores=self.rows["score"].n_unique(),
        )
        pilot.check()
        raters = self.rows.select(pl.struct("rater", "rater_other").rank("dense")).to_series()
        try:
            found = crossed_components(
                self.rows["score"].to_numpy(), self.rows["item"].to_numpy(), raters.to_numpy()
            )
        except NotEstimableError:
            return pilot
        return replace(pilot, item_added=max(found.item - pilot.item_variance, 0.0))


def _explained(score: Floats, control: Floats) -> float:
    """Return the share of the variance of scores that goes with a control of the right sign."""
    return float(max(np.corrcoef(score, control)[0, 1], 0.0)) ** 2


def _differing(
    study: "Study", names: tuple[str, str]
) -> tuple[pl.DataFrame | None, int | None, float]:
    """Return the items on which two systems differ, the number of all, and the share of the others."""
    texts = ["output"] if study.outputs.has_texts else []
    rows = study.outputs.rows(columns=["item", "system", *texts])
    rows = rows.filter(pl.col("system").is_in(names))
    both = rows.group_by("item").agg(pl.len(), *(pl.col(one).n_unique() for one in texts))
    if not (both["len"] == 2).all():
        return None, None, 0.0
    if not texts:
        return None, both.height, 0.0
    differing = both.filter(pl.col("output") > 1)
    if differing.is_empty():
        raise NotEstimableError(
            f"all outputs of {names[0]!r} and {names[1]!r} are identical: their difference is exactly "
            "0, and nothing needs to be judged"
        )
    return differing.select("item"), both.height, 1 - differing.height / both.height


def _pairs_of(judged: pl.DataFrame, names: tuple[str, str]) -> pl.DataFrame:
    """Return the j-th judgment of one system's output minus the j-th of the other's."""
    # Raters in order, so that those who judged both outputs meet themselves.
    judged = judged.sort("item", "system", "rater").with_columns(
        number=pl.int_range(pl.len()).over("item", "system")
    )
    a, b = (judged.filter(pl.col("system") == name) for name in names)
    both = a.join(b, on=["item", "number"], suffix="_other", maintain_order="left")
    return both.select(
        "item",
        "rater",
        "rater_other",
        score=pl.col("score") - pl.col("score_other"),
        control=pl.col("control") - pl.col("control_other"),
    )


def _raters(
    systems: Sequence[JudgedSystem],
    samples: Sequence[JudgedOutputs],
    judged: pl.DataFrame,
    *,
    chosen: Sequence[int],
    number: int,
) -> tuple[PlannedRaters | None, float]:
    """Return the raters as a sample, with their variance; None if they are alike."""
    leniency, _, _ = campaign_leniency(systems, samples, Options(raters_as="adjusted"))
    if leniency is None:
        return None, 0.0
    scale = float(np.mean([leniency.scale[leniency.system == one][0] ** 2 for one in chosen]))
    found = leniency.components
    shares = judged.group_by("item", "system", "rater").len()
    shares = shares.with_columns(share=pl.col("len") / pl.col("len").sum().over("item", "system"))
    sign = pl.when(pl.col("system") == judged["system"][0]).then(1).otherwise(-1)
    both = shares.filter(pl.col("system").n_unique().over("item") == 2)
    left = both.group_by("item", "rater").agg(share=(sign * pl.col("share")).sum() ** 2)
    alone = float((both["share"] ** 2).sum())
    raters = PlannedRaters(
        number=number,
        rest=(found.item + found.residual) * scale,
        apart=min(float(left["share"].sum()) / alone, 1.0),
    )
    return raters, found.leniency * scale
