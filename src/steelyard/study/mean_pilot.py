"""What a pilot shows of the means of systems, as `estimate` will see them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.design import Assumptions, Judged, PlannedRaters
from steelyard.design.pilot import Pilot
from steelyard.design.pilot_draws import pilot_draws
from steelyard.errors import NotEstimableError
from steelyard.estimate.controlled import JudgedSystem
from steelyard.single.crossed import CrossedComponents, crossed_components
from steelyard.study.campaign import Campaign, rater_mode
from steelyard.study.compared_draw import simple_cells
from steelyard.study.judged import judged_table

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["MeanPilot"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FOLDS = 20
# Odds against what metrics may explain, as the ridge has it: a fifth of the variance.
_ODDS = 4.0


@dataclass(frozen=True, eq=False)
class MeanPilot:
    """The judgments of a pilot, its systems together.

    Attributes
    ----------
    assumed : Assumptions
        Variances and correlation, with draws of what is not known of them.
    judged : Judged
        Systems and raters, where they are a sample.
    pilot : Pilot
        Its judged outputs.
    """

    assumed: Assumptions
    judged: Judged
    pilot: Pilot

    @classmethod
    def of(
        cls, study: "Study", metrics: Sequence[str], *, prompt: str, systems: Sequence[str]
    ) -> "MeanPilot":
        """Read a pilot: the control and leniency come from all systems that are asked for."""
        study.check_judged([prompt], systems)
        table = judged_table(study.outputs, study.judgments, metrics, gaps=True)
        gaps = study.outputs.metric_gaps(metrics) if metrics else {}
        pools = study.outputs.pool_moments(metrics, gaps="fill") if metrics else {}
        campaign = Campaign(study.outputs, table, pools, gaps)
        cells = simple_cells(table, prompt, study.outputs.sizes)
        judged = campaign.judged(prompt, {name: cells[name] for name in systems})
        mode, _ = rater_mode(table, prompt, None, adjusted="adjusted")
        return cls.of_systems(judged, as_sample=mode != "fixed")

    @classmethod
    def of_systems(cls, judged: Sequence[JudgedSystem], *, as_sample: bool) -> "MeanPilot":
        """Return what the judged outputs of some systems tell, with raters as a sample or not."""
        pilot, raters = _pilot(judged, as_sample=as_sample)
        about = Judged(
            systems=len(judged), raters=raters, skewness=pilot.skewness, tails=pilot.tails
        )
        assumed = Assumptions.from_draws(pilot_draws(pilot))
        return cls(assumed, about, pilot)


def _pilot(
    judged: Sequence[JudgedSystem], *, as_sample: bool
) -> tuple[Pilot, PlannedRaters | None]:
    """Return the judged outputs of all systems, and raters if they are a sample."""
    samples = [one.sample for one in judged]
    scores = np.unique(np.concatenate([one.human for one in samples]))
    pilot = Pilot(
        mean=np.concatenate([one.mean for one in samples]),
        within=np.concatenate([one.within for one in samples]),
        count=np.concatenate([one.count for one in samples]),
        system=np.repeat(np.arange(len(samples)), [one.n_outputs for one in samples]),
        control=np.zeros(sum(one.n_outputs for one in samples)),
        scores=len(scores),
        ends=(float(scores[0]), float(scores[-1])),
    )
    pilot.check()
    control, explained = _predicted(pilot, judged)
    pilot = replace(pilot, control=control, explained=explained)
    found = _crossed(judged)
    if found is None:
        return pilot, None
    crossed, rater = found
    pilot = replace(pilot, item_added=max(crossed.item - pilot.item_variance, 0.0))
    if not as_sample:
        return pilot, None
    number, new = _equal_raters(rater, judged)
    pilot = replace(
        pilot,
        leniency=crossed.leniency,
        leniency_error=float(np.sqrt(crossed.covariance[1, 1])),
        raters=crossed.n_raters,
        new_raters=new,
    )
    # Leniency is told from judgments less the control.
    rest = crossed.item + crossed.residual
    taken = explained * (crossed.item + crossed.rater / pilot.each)
    return pilot, PlannedRaters(number=number, rest=max(rest - taken, 0.1 * rest), same=True)


def _crossed(judged: Sequence[JudgedSystem]) -> tuple[CrossedComponents, Integers] | None:
    """Return variance components with leniency apart, and who gave each judgment."""
    raters = [one.raters for one in judged if one.raters is not None]
    if len(raters) < len(judged):
        return None
    sizes = [one.sample.n_outputs for one in judged]
    starts = np.cumsum(sizes) - sizes
    output = np.concatenate(
        [one.sample.output + start for one, start in zip(judged, starts, strict=True)]
    )
    human = np.concatenate([one.sample.human for one in judged])
    system = np.repeat(np.arange(len(judged)), [one.sample.n_judgments for one in judged])
    rater = np.unique(np.concatenate(raters), return_inverse=True)[1]
    try:
        return crossed_components(human, output, rater, systems=system), rater
    except NotEstimableError:
        return None


def _equal_raters(rater: Integers, judged: Sequence[JudgedSystem]) -> tuple[float, float]:
    """Return how many raters with equal shares would meet as often, and the share of raters not yet seen.

    Two judgments of different items meet if they are by one rater. Who judged one item may be one of many: Chao (1984) has the
    number of all raters by how many judged one item and two, and equal shares cannot be of more.
    """
    unit = np.concatenate([one.units[one.sample.output] for one in judged])
    item = np.unique(unit, return_inverse=True)[1]
    pairs, count = np.unique(np.stack([rater, item]), axis=1, return_counts=True)
    inside = float(np.sum(count.astype(np.float64) ** 2))
    squares = [float(np.sum(np.bincount(one).astype(np.float64) ** 2)) for one in (rater, item)]
    items = np.bincount(pairs[0])
    once, twice = (float(np.sum(items == number)) for number in (1, 2))
    most = len(items) + once * (once - 1) / (2 * (twice + 1))
    alike = (squares[0] - inside) / max(len(rater) ** 2 - squares[1], 1.0)
    number = min(1 / alike, most) if alike > 0 else most
    return number, 1 - len(items) / most


def _predicted(pilot: Pilot, judged: Sequence[JudgedSystem]) -> tuple[Floats, float]:
    """Return scores as metrics predict them by ridge regression within systems, and what that explains.

    The control of `estimate` is slow to trust few items. That of a larger campaign will not be, so a
    plan goes by what the metrics may be worth. Items that a fit has seen show too much of it, others
    too little: what is explained is the mean of both.
    """
    x = np.concatenate([_around_pool(one) for one in judged])
    y = pilot.around(pilot.mean)
    spread = np.sqrt(np.mean(x**2, axis=0))
    x = (x / np.where(spread > 0, spread, 1.0))[:, spread > 0]
    if not x.shape[1]:
        return np.zeros(len(y)), 0.0
    item = np.unique(np.concatenate([one.units for one in judged]), return_inverse=True)[1]
    fold = item % _FOLDS
    seen, unseen = x @ _ridge(x, y), np.zeros(len(y))
    for one in np.unique(fold):
        unseen[fold == one] = x[fold == one] @ _ridge(x[fold != one], y[fold != one])
    left = [float(np.sum((y - pilot.around(by)) ** 2)) for by in (seen, unseen)]
    return unseen, max(1 - sum(left) / 2 / max(float(y @ y), 1e-300), 0.0)


def _ridge(x: Floats, y: Floats) -> Floats:
    squares = x.T @ x
    squares += np.eye(len(squares)) * np.trace(squares) * _ODDS / max(len(y), 1)
    return np.asarray(np.linalg.solve(squares, x.T @ y))


def _around_pool(system: JudgedSystem) -> Floats:
    """Return metrics around the mean of the pool, 0 where one is missing."""
    if system.pool is None:
        return np.zeros_like(system.metric)
    return np.asarray(np.nan_to_num(system.metric - system.pool.mean))
