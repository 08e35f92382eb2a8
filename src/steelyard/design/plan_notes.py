"""What to know of a plan before spending."""

from collections.abc import Iterator

from steelyard.design.assumptions import Assumptions
from steelyard.design.cheapest import Case, Search
from steelyard.design.shown_interval import Judging, MeanInterval

__all__ = ["assurance_notes", "noise_notes", "rater_notes", "worth_notes"]

_FEW_JUDGMENTS = 20
# Below this share of the pool the finite-pool correction narrows an interval by less than 2.5%.
_SMALL_SHARE = 0.05
# Leniency that makes up this share of the error variance, and is known no better than to this factor, makes
# an assurance uncertain.
_MUCH, _BADLY_KNOWN = 0.3, 2.5


def worth_notes(
    expected: Case, plain: Case | None, search: Search, *, n_metrics: int
) -> Iterator[str]:
    """Say where an interval would be rough, or a metric not worth it."""
    if expected.drawn * expected.judgments_per_output < _FEW_JUDGMENTS:
        yield (
            f"below about {_FEW_JUDGMENTS} judgments intervals are rough, and a metric brings little: "
            "judge more if you can"
        )
    elif n_metrics and plain is not None and not search.saves(expected, plain):
        yield "the metric is not expected to save anything here: a plain mean is as good"


def assurance_notes(
    assured: Case | None, assumed: Assumptions, search: Search, *, n_metrics: int
) -> Iterator[str]:
    """Say what can be promised at best where the goal cannot, or that it takes all of the pool."""
    how = f"{search.assurance:.0%} assurance"
    if assured is not None:
        if search.pool_size is not None and assured.drawn == search.pool_size:
            what = "item" if search.paired else "output"
            yield f"for {how} the plan judges every {what} of the pool"
        return
    least = search.least(assumed.draws(), n_metrics)
    goal = "difference" if search.goal.quantile_power else "half-width"
    raters = (
        "" if search.interval.raters is None else ", and more raters may reach more (--n-raters)"
    )
    yield (
        f"no campaign of this pool reaches the goal with {how}: from what is known of the variances, a {goal} of "
        f"{least:.3g} is the least that can be promised; a larger pilot may show more{raters}"
    )


def noise_notes(
    expected: Case, assured: Case | None, assumed: Assumptions, search: Search
) -> Iterator[str]:
    """Say how the estimate will come to know rater noise, or what it costs that it does not."""
    cases = [expected, *([] if assured is None else [assured])]
    rater = assumed.rater_variance
    if search.pool_size is None:
        return
    once = any(case.judgments_per_output == 1 for case in cases)
    if search.interval.rater_variance_given:
        # Of the difference of two judgments: twice that of one.
        value = rater.value / search.interval.systems
        command = "estimate" if expected.pairs is None else "compare"
        yield (
            "this holds only if the estimate is told the rater variance: pass "
            f"`--rater-variance {value:.6g}` to `steelyard {command}`"
        )
    elif any(case.second_judgments for case in cases):
        yield (
            f"the second judgments are of {'outputs' if expected.pairs is None else 'pairs'} chosen "
            "at random, by other raters: they tell rater noise, without which the estimate must "
            "leave out the finite-pool correction"
        )
    elif once and expected.drawn >= _SMALL_SHARE * search.pool_size:
        yield (
            "one judgment of each output does not tell rater noise, so the estimate leaves out the "
            "finite-pool correction, and the plan with it: judge some outputs twice, or pass the "
            "rater variance on"
        )


def rater_notes(
    expected: Case, assumed: Assumptions, search: Search, *, n_metrics: int
) -> Iterator[str]:
    """Say that a promise rests on leniency that is hardly known."""
    known, interval = assumed.leniency, search.interval
    if not isinstance(interval, MeanInterval) or interval.raters is None or known.high <= 0:
        return
    judging = Judging(expected.judgments_per_output, expected.second_judgments)
    share = interval.rater_share(assumed.central, n_metrics, judging, expected.outputs)
    factor = known.high / max(known.low, 1e-9 * known.high)
    if share >= _MUCH and factor >= _BADLY_KNOWN:
        near = f"a factor of {factor:.2g}" if factor < 100 else "an order of magnitude or two"
        yield (
            f"raters' leniency makes up {share:.0%} of the error variance, and it is known only to within "
            f"{near}: the {search.assurance:.0%} may be 10 to 20 points off; a larger pilot, with several "
            "judgments by each rater, promises more"
        )
