"""How many outputs, how many judgments of each, at what price, before any is asked for."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steelyard.design.assumptions import Assumptions, Prices
from steelyard.design.cheapest import Case, Goal, Search
from steelyard.design.difference_interval import DifferenceInterval, Pair
from steelyard.design.plan_notes import assurance_notes, noise_notes, rater_notes, worth_notes
from steelyard.design.shown_interval import Judged, MeanInterval
from steelyard.errors import InvalidArgumentError
from steelyard.html_table import html_table
from steelyard.variance import Efficiency, Quantity

__all__ = ["Case", "Plan", "plan"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much to collect, with the metric and without, as expected and with assurance.

    Attributes
    ----------
    expected : Case
        With the metric, at the assumed values: the goal is reached in about half of all campaigns.
    assured : Case or None
        With the metric: the goal is reached with probability `assurance`, over what is not known of
        the values and over campaigns. None if it cannot be.
    expected_without, assured_without : Case or None
        The same for a plain mean; None if it cannot reach the goal.
    assurance : float
        Probability with which the assured cases reach the goal.
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
    search : Search
        What finds the cheapest campaign.
    """

    expected: Case
    assured: Case | None
    expected_without: Case | None
    assured_without: Case | None
    assurance: float
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
    search: Search

    def price(self, assumed: Assumptions, half_width: float, n_metrics: int) -> float | None:
        """Return the price to expect for another half-width, or other values; None if out of reach."""
        goal = replace(self.search.goal, half_width=half_width, budget=None)
        found = replace(self.search, goal=goal).reachable(assumed.central, n_metrics)
        return None if found is None else found.cost

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return {
            "expected": self.expected.to_dict(),
            "assured": self.assured and self.assured.to_dict(),
            "expected_without_metric": self.expected_without and self.expected_without.to_dict(),
            "assured_without_metric": self.assured_without and self.assured_without.to_dict(),
            "assurance": self.assurance,
            "best_judgments_per_output": self.best_judgments_per_output,
            "data_efficiency": self.data_efficiency.to_dict(),
            "level": self.level,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        expected, sure = self.expected, self.assured
        more = "not reached" if sure is None else f"{sure.judgments:,} judgments"
        return (
            f"{expected.judgments:,} judgments of {expected.outputs:,} outputs, price "
            f"{expected.cost:,.0f}, half-width {expected.half_width:.3g} at {self.level:.0%} "
            f"(with {self.assurance:.0%} assurance: {more})"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        sure = f"{self.assurance:.0%} assurance"
        cases = {
            "with the metric, expected": self.expected,
            f"with the metric, {sure}": self.assured,
            "plain mean, expected": self.expected_without,
            f"plain mean, {sure}": self.assured_without,
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
    assurance: float = 0.80,
    pool_size: int | None = None,
    prices: Prices | None = None,
    judgments_per_output: int | None = None,
    n_metrics: int = 1,
    level: float = 0.95,
    paired: bool | Pair | None = None,
    judged: Judged | None = None,
    rater_variance_given: bool = False,
) -> Plan:
    r"""Plan a campaign for a half-width, a budget, or the power to see a difference.

    With n outputs of a pool of N, m judgments of each and :math:`\sigma_u^2` the item variance that
    the learned control leaves, the error variance is

    .. math:: V = \left(\sigma_u^2 + \frac{\sigma_a^2}m\right) \frac{1 - n/N}n + \frac{\sigma_a^2}{m N},

    and the half-width :math:`t \sqrt V`, as `estimate` shows it; raters as a sample add theirs. For two
    systems it is what `compare` shows, for the items on which they differ. An estimate from one
    judgment of each output cannot tell :math:`\sigma_a^2` and leaves out :math:`1 - n/N`, and so does
    the plan. Three ways around it are open: some outputs judged a second time, a larger m, or a
    rater variance that is passed on. Of the first two the cheapest is chosen; without a limit on n
    it is :math:`m^* = \sqrt{(c_o / c_j)\, \sigma_a^2 / \sigma_u^2}`.

    What is expected at the assumed values is reached in about half of all campaigns. The assured case
    is reached with probability `assurance`, over what is not known of the values and over campaigns.

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
    assurance : float
        Probability of reaching the goal in the assured case.
    pool_size : int, optional
        Number of outputs N of a system; unlimited by default.
    prices : Prices, optional
        Of an output and of a judgment; 0 and 1 by default.
    judgments_per_output : int, optional
        A fixed m of all outputs instead of the cheapest way.
    n_metrics : int
        Number of metrics that the control is learned from.
    level : float
        Level of the interval.
    paired : bool or Pair, optional
        Whether two systems are compared on the same items, and what is known of them; by default if
        `difference` is given. The assumptions are then of differences on items where they differ,
        what is drawn are pairs of outputs of such items, and a pair costs both outputs and their
        judgments. The half-width is that of the difference over all items.
    judged : Judged, optional
        For the mean of a system: how many systems are judged beside it, and by what raters.
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
    (597, 30, 644)
    """
    pilot = Assumptions.of(assumptions) if isinstance(assumptions, Efficiency) else assumptions
    _check(pool_size, judgments_per_output, n_metrics, assurance)
    prices = Prices() if prices is None else prices
    if paired is None:
        paired = difference is not None
    pair = paired if isinstance(paired, Pair) else Pair() if paired else None
    search = Search(
        goal=Goal.of(half_width, budget, difference, power=power, level=level),
        prices=prices,
        judgments_per_output=judgments_per_output,
        interval=MeanInterval(
            pool_size=pool_size,
            rater_variance_given=rater_variance_given,
            level=level,
            judged=Judged() if judged is None else judged,
        )
        if pair is None
        else DifferenceInterval(
            items=pool_size, pair=pair, rater_variance_given=rater_variance_given, level=level
        ),
    )
    sure = replace(search, assurance=assurance)
    expected, plain = search.best(pilot.central, n_metrics), pilot.without_metric()
    assured = sure.reachable(pilot.draws(), n_metrics)
    expected_without = search.reachable(plain.central, 0)
    notes = (
        *worth_notes(expected, expected_without, search, n_metrics=n_metrics),
        *assurance_notes(assured, pilot, sure, n_metrics=n_metrics),
        *rater_notes(expected, pilot, sure, n_metrics=n_metrics),
        *(() if pair is None else pair.notes(pool_size)),
        *noise_notes(expected, assured, pilot, search),
        *(() if pair is not None or judged is None else judged.notes),
    )
    return Plan(
        expected=expected,
        assured=assured,
        expected_without=expected_without,
        assured_without=sure.reachable(plain.draws(), 0) if n_metrics else assured,
        assurance=assurance,
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
        search=search,
    )


def _best_judgments(assumed: Assumptions, prices: Prices) -> float:
    left = assumed.item_variance.value * (1 - assumed.correlation.value**2)
    if left == 0:
        return float("inf")
    ratio = prices.output / prices.judgment
    return float(np.sqrt(ratio * assumed.rater_variance.value / left))


def _forecast(assumed: Assumptions) -> Quantity:
    """Return the data efficiency at the assumed values, with the interval that draws of them give."""
    value = float(assumed.central.efficiency)
    low, high = np.quantile(assumed.draws().efficiency, [0.1, 0.9])
    return Quantity(value, min(float(low), value), max(float(high), value))


def _check(
    pool_size: int | None, judgments_per_output: int | None, n_metrics: int, assurance: float
) -> None:
    if not 0.5 <= assurance < 1:
        raise InvalidArgumentError(f"`assurance` must lie between 0.5 and 1; got {assurance}")
    if pool_size is not None and pool_size < 2:
        raise InvalidArgumentError(f"`pool_size` must be at least 2; got {pool_size}")
    if judgments_per_output is not None and judgments_per_output < 1:
        raise InvalidArgumentError(
            f"`judgments_per_output` must be at least 1; got {judgments_per_output}"
        )
    if n_metrics < 0:
        raise InvalidArgumentError(f"`n_metrics` must not be negative; got {n_metrics}")
