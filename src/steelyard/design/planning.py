"""How many outputs, how many judgments of each, at what price, before any is asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.design.assumptions import Assumptions, Prices
from steelyard.design.cheapest import Case, Goal, Search
from steelyard.design.difference_interval import DifferenceInterval, Pair
from steelyard.design.shown_interval import MeanInterval
from steelyard.errors import InvalidArgumentError
from steelyard.html_table import html_table
from steelyard.variance import Efficiency, Quantity, data_efficiency

__all__ = ["Case", "Plan", "plan"]

_FEW_JUDGMENTS = 20
# Below this share of the pool the finite-pool correction narrows an interval by less than 2.5%.
_SMALL_SHARE = 0.05


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much to collect, with the metric and without, as expected and to be safe.

    Attributes
    ----------
    expected, conservative : Case
        With the metric: at the assumed values, and at the ends of their intervals that ask for
        more.
    expected_without, conservative_without : Case or None
        The same for a plain mean; None if it cannot reach the goal.
    best_judgments_per_output : float
        The optimum m before rounding, infinite when only outputs cost.
    data_efficiency : Quantity
        Expected saving in judgments, with the interval that the assumptions give.
    level : float
        Level of the planned interval.
    notes : tuple of str
        What to know before spending.
    assumptions : Assumptions
        What it was made from.
    prices : Prices
        Of an output and of a judgment.
    pool_size : int or None
        Number of outputs of a system.
    n_metrics : int
        Number of metrics.
    rater_variance_given : bool
        Whether the plan holds only if the rater variance is passed on to the estimate.
    pair : Pair or None
        What is known of the two systems that are compared; None for the mean of one.
    """

    expected: Case
    conservative: Case
    expected_without: Case | None
    conservative_without: Case | None
    best_judgments_per_output: float
    data_efficiency: Quantity
    level: float
    notes: tuple[str, ...]
    assumptions: Assumptions
    prices: Prices
    pool_size: int | None
    n_metrics: int
    rater_variance_given: bool = False
    pair: Pair | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return {
            "expected": self.expected.to_dict(),
            "conservative": self.conservative.to_dict(),
            "expected_without_metric": self.expected_without and self.expected_without.to_dict(),
            "conservative_without_metric": (
                self.conservative_without and self.conservative_without.to_dict()
            ),
            "best_judgments_per_output": self.best_judgments_per_output,
            "data_efficiency": self.data_efficiency.to_dict(),
            "level": self.level,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        expected, safe = self.expected, self.conservative
        return (
            f"{expected.judgments:,} judgments of {expected.outputs:,} outputs, price "
            f"{expected.cost:,.0f}, half-width {expected.half_width:.3g} at {self.level:.0%} "
            f"(to be safe {safe.judgments:,} judgments, price {safe.cost:,.0f})"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        cases = {
            "with the metric, expected": self.expected,
            "with the metric, to be safe": self.conservative,
            "plain mean, expected": self.expected_without,
            "plain mean, to be safe": self.conservative_without,
        }
        rows = [
            (
                *(name, f"{case.outputs:,}", f"{case.judgments:,}", f"{case.cost:,.2f}"),
                f"{case.half_width:.4g}",
            )
            for name, case in cases.items()
            if case is not None
        ]
        names = ("", "outputs", "judgments", "price", f"half-width at {self.level:.0%}")
        return html_table(names, rows, below=self.notes)


def plan(
    assumptions: Assumptions | Efficiency,
    *,
    half_width: float | None = None,
    budget: float | None = None,
    difference: float | None = None,
    power: float = 0.80,
    pool_size: int | None = None,
    prices: Prices | None = None,
    judgments_per_output: int | None = None,
    n_metrics: int = 1,
    level: float = 0.95,
    paired: bool | Pair | None = None,
    rater_variance_given: bool = False,
) -> Plan:
    r"""Plan a campaign for a half-width, a budget, or the power to see a difference.

    With n outputs of a pool of N, m judgments of each, p metrics and
    :math:`\sigma_u^2 = \sigma_f^2 (1 - \rho^2)`, the error variance is

    .. math:: V = \left(\sigma_u^2 + \frac{\sigma_a^2}m\right) \frac{1 - n/N}n
                  \left(1 + \frac p{n - p - 2}\right) + \frac{\sigma_a^2}{m N},

    and the half-width :math:`t \sqrt V`, as `estimate` shows it. For two systems it is what `compare`
    shows, by the learned control and for the items on which they differ. An estimate from one judgment of each output cannot tell
    :math:`\sigma_a^2` and leaves out :math:`1 - n/N`, and so does the plan. Three ways around it
    are open: some outputs judged a second time, a larger m, or a rater variance that is passed on.
    Of the first two the cheapest is chosen; without a limit on n it is
    :math:`m^* = \sqrt{(c_o / c_j)\, \sigma_a^2 / \sigma_u^2}`.

    Parameters
    ----------
    assumptions : Assumptions or Efficiency
        Variances and correlation: typed, or from a pilot.
    half_width : float, optional
        Half the length of the interval to reach.
    budget : float, optional
        What may be spent, instead of `half_width`.
    difference : float, optional
        A difference to be seen with probability `power`, instead of `half_width`.
    power : float
        Probability of an interval that leaves out zero when the difference is `difference`.
    pool_size : int, optional
        Number of outputs N of a system; unlimited by default.
    prices : Prices, optional
        Of an output and of a judgment; 0 and 1 by default.
    judgments_per_output : int, optional
        A fixed m of all outputs instead of the cheapest way.
    n_metrics : int
        Number of metrics p that are fitted.
    level : float
        Level of the interval.
    paired : bool or Pair, optional
        Whether two systems are compared on the same items, and what is known of them; by default if
        `difference` is given. The assumptions are then of differences on items where they differ,
        what is drawn are pairs of outputs of such items, and a pair costs both outputs and their
        judgments. The half-width is that of the difference over all items.
    rater_variance_given : bool
        Whether the rater variance of the assumptions will be passed on to the estimate as
        `rater_variance`, so that it knows rater noise from one judgment of each output.

    Returns
    -------
    Plan

    Raises
    ------
    InvalidArgumentError
        If not exactly one goal is given, or an argument breaks its rule.
    NotEstimableError
        If the goal cannot be reached.

    References
    ----------
    Chaganty, Mussmann and Liang (2018), section 3.3. Cochran (1977), Sampling techniques, sections
    4.4, 7.4 and 10.6.

    Examples
    --------
    >>> made = plan(Assumptions.typed(0.15, 0.30, 0.5), half_width=0.05, pool_size=2000)
    >>> made.expected.outputs, made.expected.second_judgments, made.expected_without.outputs
    (596, 30, 644)
    """
    pilot = Assumptions.of(assumptions) if isinstance(assumptions, Efficiency) else assumptions
    _check(pool_size, judgments_per_output, n_metrics)
    prices = Prices() if prices is None else prices
    if paired is None:
        paired = difference is not None
    pair = paired if isinstance(paired, Pair) else Pair() if paired else None
    search = Search(
        goal=Goal.of(half_width, budget, difference, power=power, level=level),
        prices=prices,
        judgments_per_output=judgments_per_output,
        interval=MeanInterval(
            pool_size=pool_size, rater_variance_given=rater_variance_given, level=level
        )
        if pair is None
        else DifferenceInterval(
            items=pool_size, pair=pair, rater_variance_given=rater_variance_given, level=level
        ),
    )
    safe = pilot.conservative()
    expected, conservative = (search.best(one, n_metrics) for one in (pilot, safe))
    plain = search.reachable(pilot.without_metric(), 0)
    notes = (
        *_notes(expected, conservative, plain, search),
        *(() if pair is None else pair.notes(pool_size)),
        *_noise_notes(expected, conservative, pilot, search),
    )
    return Plan(
        expected=expected,
        conservative=conservative,
        expected_without=plain,
        conservative_without=search.reachable(safe.without_metric(), 0),
        best_judgments_per_output=_best_judgments(pilot, prices),
        data_efficiency=_forecast(pilot),
        level=level,
        notes=notes,
        assumptions=pilot,
        prices=prices,
        pool_size=pool_size,
        n_metrics=n_metrics,
        rater_variance_given=rater_variance_given,
        pair=pair,
    )


def _best_judgments(assumed: Assumptions, prices: Prices) -> float:
    left = assumed.item_variance.value * (1 - assumed.correlation.value**2)
    if left == 0:
        return float("inf")
    ratio = prices.output / prices.judgment
    return float(np.sqrt(ratio * assumed.rater_variance.value / left))


def _forecast(assumed: Assumptions) -> Quantity:
    """Return the data efficiency at the assumed values and at the ends of their intervals."""
    rho = assumed.correlation
    weakest = 0.0 if rho.low <= 0 <= rho.high else min(abs(rho.low), abs(rho.high))
    strongest = max(abs(rho.low), abs(rho.high))

    def at(item: float, rater: float, correlation: float) -> float:
        gamma = rater / item if item > 0 else float("inf")
        return float(data_efficiency(gamma, correlation))

    item, rater = assumed.item_variance, assumed.rater_variance
    return Quantity(
        at(item.value, rater.value, rho.value),
        at(item.low, rater.high, weakest),
        at(item.high, rater.low, strongest),
    )


def _notes(expected: Case, conservative: Case, plain: Case | None, search: Search) -> Iterator[str]:
    if expected.drawn * expected.judgments_per_output < _FEW_JUDGMENTS:
        yield (
            f"below about {_FEW_JUDGMENTS} judgments the metric may cost more than it brings: "
            "a plain mean is as good"
        )
    elif plain is not None and plain != expected and not search.saves(expected, plain):
        yield "the metric is not expected to save anything here: a plain mean is as good"
    if search.pool_size is not None and conservative.drawn == search.pool_size:
        what = "output" if expected.pairs is None else "item"
        yield f"to be safe, the plan judges every {what} of the pool"


def _noise_notes(
    expected: Case, conservative: Case, assumed: Assumptions, search: Search
) -> Iterator[str]:
    """Say how the estimate will come to know rater noise, or what it costs that it does not."""
    cases, rater = (expected, conservative), assumed.rater_variance
    if search.pool_size is None:
        return
    once = any(case.judgments_per_output == 1 for case in cases)
    if search.interval.rater_variance_given:
        # Of the difference of two judgments: twice that of one.
        value, high = (one / search.interval.systems for one in (rater.value, rater.high))
        other = "" if high == value else f" (to be safe, {high:.6g})"
        command = "estimate" if expected.pairs is None else "compare"
        yield (
            "this holds only if the estimate is told the rater variance: pass "
            f"`--rater-variance {value:.6g}`{other} to `steelyard {command}`"
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


def _check(pool_size: int | None, judgments_per_output: int | None, n_metrics: int) -> None:
    if pool_size is not None and pool_size < 2:
        raise InvalidArgumentError(f"`pool_size` must be at least 2; got {pool_size}")
    if judgments_per_output is not None and judgments_per_output < 1:
        raise InvalidArgumentError(
            f"`judgments_per_output` must be at least 1; got {judgments_per_output}"
        )
    if n_metrics < 0:
        raise InvalidArgumentError(f"`n_metrics` must not be negative; got {n_metrics}")
