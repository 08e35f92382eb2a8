"""`Study.monitor`: whether the judgments are enough, however often one looks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from steelyard.campaign.slices import sliced
from steelyard.errors import InvalidArgumentError
from steelyard.questions.about import Raters, Target
from steelyard.questions.asked import Asked
from steelyard.questions.compare import pairs_asked
from steelyard.questions.goal import Decide, Goal
from steelyard.questions.monitor import monitored
from steelyard.questions.monitored import Monitored
from steelyard.questions.pairs import Gate
from steelyard.records import names_of
from steelyard.results import ResultTable

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["monitor"]


def monitor(
    study: "Study",
    metrics: Sequence[str] | None = None,
    *,
    half_width: float | None = None,
    goal: Decide | None = None,
    gate: Gate | None = None,
    margin: float | None = None,
    pair: tuple[str, str] | None = None,
    baseline: str | None = None,
    planned: float | None = None,
    judgment_price: float | None = None,
    prompts: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    target: Target = "pool",
    raters: Raters | None = None,
    level: float = 0.95,
    average: Mapping[str, float] | None = None,
    by: str | None = None,
    bands: Sequence[float] | None = None,
    weights: Mapping[str, float] | None = None,
) -> ResultTable[Monitored]:
    """Say whether the judgments are enough, as often as you like.

    The estimates are those of `estimate` and `compare`; the intervals are wider, so that all of them
    hold at all looks together. What is not back yet counts as not drawn.

    Parameters
    ----------
    metrics
        As in `estimate`.
    half_width : float, optional
        The goal: the half-width of every mean's interval.
    goal : {"best", "order", "difference"}, optional
        Or: which system is best; the order of all; which of every pair is better, or that they differ by
        at most `margin`.
    gate : {"better", "not-worse", "equivalent"}, optional
        Or: whether that holds of the pairs that `pair` or `baseline` names.
    margin : float, optional
        Differences that do not matter.
    pair, baseline
        As in `compare`.
    planned : float, optional
        Judgments of each system that are planned; intervals are tightest there, 1.14 times those of one
        look. Choose it before looking. Without a plan they are about 1.55 times as long at any number.
    judgment_price : float, optional
        Of one judgment: says what is left to pay.
    prompts, systems, target, raters, level, average, by, bands, weights
        As in `estimate`.

    Returns
    -------
    ResultTable of Monitored
        One for each prompt and slice.
    """
    aim = Goal.of(half_width=half_width, decide=goal, gate=gate, margin=margin)
    if gate is not None and pair is None and baseline is None:
        raise InvalidArgumentError(
            "`gate` needs `pair` or `baseline`: whose difference is it about?"
        )
    if systems is None and study.today is not None:
        systems = study.today.systems
    pairs = pairs_asked(pair, baseline, names_of(systems), margin=margin, known=study.systems)
    fits = study.fits(metrics, average=average)
    asked = Asked.of(fits, prompts, systems, target=target, raters=raters, level=level)
    slices = sliced(study.outputs, by, bands=bands, weights=weights)
    return monitored(
        fits.cut(slices), asked, aim, planned=planned, pairs=pairs, price=judgment_price
    )
