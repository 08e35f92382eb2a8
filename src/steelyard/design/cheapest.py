"""The cheapest campaign that reaches a goal, by the interval that will then be shown."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import ndtri

from steelyard.design.assumptions import Prices, Values
from steelyard.design.difference_interval import DifferenceInterval
from steelyard.design.later_sample import Luck
from steelyard.design.shown_interval import Judging, MeanInterval
from steelyard.errors import InvalidArgumentError, NotEstimableError

__all__ = ["Case", "Goal", "Search"]

_MOST_JUDGMENTS = 20
# Outputs that may be judged a second time when all others are judged once. Ten tell rater noise to
# within a factor of two or so; the price is flat between neighbours.
_SECOND = (10, 15, 20, 30, 45, 70, 100, 150, 220, 330, 500)
# Without a pool a plan may ask for this many outputs before it is called unreachable.
_UNLIMITED = 100_000_000


@dataclass(frozen=True, kw_only=True)
class Case:
    """One campaign: its size, price and the precision to expect of it.

    Attributes
    ----------
    outputs : int
        Outputs to judge; for a comparison those of both systems.
    pairs : int or None
        Items on which both systems are judged; None unless two systems are compared.
    judgments_per_output : int
        Judgments of each output.
    second_judgments : int
        Judgments on top: a second one, by another rater, of so many of the outputs. For a
        comparison half of them are of either system, on the same items.
    cost : float
        Price of all.
    half_width : float
        Half the length of the interval to expect, or that is reached with the assurance.
    """

    outputs: int
    judgments_per_output: int
    cost: float
    half_width: float
    pairs: int | None = None
    second_judgments: int = 0

    @property
    def judgments(self) -> int:
        """Number of judgments in all."""
        return self.outputs * self.judgments_per_output + self.second_judgments

    @property
    def drawn(self) -> int:
        """What is drawn: pairs in a comparison, outputs otherwise."""
        return self.outputs if self.pairs is None else self.pairs

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return {
            "pairs": self.pairs,
            "outputs": self.outputs,
            "judgments_per_output": self.judgments_per_output,
            "second_judgments": self.second_judgments,
            "judgments": self.judgments,
            "cost": self.cost,
            "half_width": self.half_width,
        }


@dataclass(frozen=True)
class Goal:
    """What the campaign is to reach: a half-width, or whatever a budget buys."""

    half_width: float | None
    budget: float | None
    quantile_power: float = 0.0

    @classmethod
    def of(
        cls,
        half_width: float | None,
        budget: float | None,
        difference: float | None,
        *,
        power: float,
        level: float,
    ) -> "Goal":
        """Check the arguments of `plan` and return the one goal that they name."""
        if sum(goal is not None for goal in (half_width, budget, difference)) != 1:
            raise InvalidArgumentError(
                "exactly one of `half_width`, `budget` and `difference` must be given"
            )
        if not 0 < level < 1:
            raise InvalidArgumentError(f"`level` must lie strictly between 0 and 1; got {level}")
        for name, value in (("half_width", half_width), ("budget", budget)):
            if value is not None and not 0 < value < np.inf:
                raise InvalidArgumentError(f"`{name}` must be above zero; got {value}")
        if difference is None:
            return cls(half_width, budget)
        if not 0.5 <= power < 1:
            raise InvalidArgumentError(f"`power` must lie between 0.5 and 1; got {power}")
        if not 0 < abs(difference) < np.inf:
            raise InvalidArgumentError(f"`difference` must not be zero; got {difference}")
        return cls(abs(difference), None, float(ndtri(power)))


@dataclass(frozen=True, kw_only=True)
class Search:
    """Finds the cheapest campaign for a goal, by the interval that it will show.

    Attributes
    ----------
    goal, prices, judgments_per_output
        What is asked for.
    interval : MeanInterval or DifferenceInterval
        What will be shown.
    assurance : float or None
        Probability of reaching the goal, over draws of the values and of the campaign to come; None
        for what is to be expected at given values.
    """

    goal: Goal
    prices: Prices
    judgments_per_output: int | None
    interval: MeanInterval | DifferenceInterval
    assurance: float | None = None

    @property
    def pool_size(self) -> int | None:
        """Number of outputs, or of pairs, that can be drawn."""
        return self.interval.drawn_from

    @property
    def paired(self) -> bool:
        """Whether two systems are compared."""
        return self.interval.systems == 2

    def best(self, values: Values, n_metrics: int) -> Case:
        """Return the cheapest campaign, or for a budget that with the shortest interval.

        Raises
        ------
        NotEstimableError
            If none reaches the goal.
        """
        found = self.reachable(values, n_metrics)
        if found is None:
            raise NotEstimableError(self._unreachable(values, n_metrics))
        return found

    def reachable(self, values: Values, n_metrics: int) -> Case | None:
        """Return the same, or None if none reaches the goal."""
        best: Case | None = None
        for judging in self._judgings():
            found = self._case(values, n_metrics, judging, below=best)
            if found is not None and (best is None or self._order(found) < self._order(best)):
                best = found
        return best

    def least(self, values: Values, n_metrics: int) -> float:
        """Return the least half-width, or difference that is seen, that any campaign of the pool reaches."""
        most = _UNLIMITED if self.pool_size is None else self.pool_size
        return min(
            self._reach(values, n_metrics, judging, most)
            for judging in self._judgings()
            if judging.second <= most
        )

    def _order(self, case: Case) -> tuple[float, float]:
        if self.goal.budget is None:
            return case.cost, case.judgments_per_output
        return case.half_width, case.cost

    def saves(self, case: Case, other: Case) -> bool:
        """Return whether a case is better than another, by price or by what a budget buys."""
        if self.goal.budget is None:
            return case.cost < other.cost
        return case.half_width < other.half_width

    def _judgings(self) -> Iterator[Judging]:
        if self.judgments_per_output is not None:
            yield Judging(self.judgments_per_output, 0)
            return
        for each in range(1, _MOST_JUDGMENTS + 1):
            yield Judging(each, 0)
        if self.pool_size is not None and not self.interval.rater_variance_given:
            for second in _SECOND:
                yield Judging(1, second)

    def _case(
        self, values: Values, n_metrics: int, judging: Judging, *, below: Case | None
    ) -> Case | None:
        """Return the best campaign with this judging; None if it is none, or not below another's price."""
        least = max(self.interval.least(), judging.second)
        most = _UNLIMITED if self.pool_size is None else self.pool_size
        if self.goal.budget is not None:
            n = most = min(self._bought(self.goal.budget, judging), most)
        elif below is not None:
            most = min(self._bought(below.cost, judging), most)
        if most < least:
            return None
        if self.goal.budget is None:
            assert self.goal.half_width is not None
            goal = self.goal.half_width * (1 + 1e-12)
            if self._reach(values, n_metrics, judging, most) > goal:
                return None
            n = self._fewest(values, n_metrics, judging, least=least, most=most)
        systems = self.interval.systems
        return Case(
            outputs=systems * n,
            pairs=n if self.paired else None,
            judgments_per_output=judging.each,
            second_judgments=systems * judging.second,
            cost=self._price(n, judging),
            half_width=self._half_width(values, n_metrics, judging, n),
        )

    def _bought(self, price: float, judging: Judging) -> int:
        """Return how many outputs, or pairs, can be judged like this for a price."""
        one, none = self._price(1, judging), self._price(0, judging)
        return int((price - none) / (one - none) + 1e-9)

    def _price(self, n: int, judging: Judging) -> float:
        one_system = self.prices.of(n, judging.each) + judging.second * self.prices.judgment
        return self.interval.systems * one_system

    def _fewest(
        self, values: Values, n_metrics: int, judging: Judging, *, least: int, most: int
    ) -> int:
        """Return the least n that reaches the goal, or `most`."""
        low, high = least - 1, most
        while high - low > 1:
            middle = (low + high) // 2
            assert self.goal.half_width is not None
            if self._reach(values, n_metrics, judging, middle) <= self.goal.half_width:
                high = middle
            else:
                low = middle
        return high

    def _reach(self, values: Values, n_metrics: int, judging: Judging, n: int) -> float:
        """Return the half-width, or the difference that is seen with the asked power."""
        if not self.goal.quantile_power:
            return self._half_width(values, n_metrics, judging, n)
        error = self.interval.error(values, n_metrics, judging, n)
        width = self.interval.half_width(values, n_metrics, judging, n, None)
        reach = width + self.goal.quantile_power * error
        return float(reach if self.assurance is None else np.quantile(reach, self.assurance))

    def _half_width(self, values: Values, n_metrics: int, judging: Judging, n: int) -> float:
        """Return the half-width to expect, or that which is reached with the assurance."""
        if self.assurance is None:
            return float(self.interval.half_width(values, n_metrics, judging, n))
        luck = _luck(np.size(values.item))
        widths = self.interval.half_width(values, n_metrics, judging, n, luck)
        return float(np.quantile(widths, self.assurance))

    def _unreachable(self, values: Values, n_metrics: int) -> str:
        if self.goal.budget is not None:
            return (
                f"`budget` {self.goal.budget:g} does not buy enough judgments for an interval; "
                "raise it"
            )
        m = self.judgments_per_output or _MOST_JUDGMENTS
        best, way_out = "", "ask for less precision"
        if m == 1 and not self.interval.rater_variance_given:
            way_out = "judge outputs more than once, or ask for less precision"
        if self.interval.raters is not None:
            number = f"{self.interval.raters.number:.3g} raters"
            way_out += (
                f", or ask more raters: this counts on {number} with equal shares (--n-raters)"
            )
        if self.pool_size is not None:
            what = "pairs" if self.paired else "outputs"
            often = "once" if m == 1 else f"{m} times"
            reach = self._reach(values, n_metrics, Judging(m, 0), self.pool_size)
            best = f": even judging all {self.pool_size} {what} {often} gives {reach:.3g}"
        return f"the goal {self.goal.half_width:g} cannot be reached{best}; {way_out}"


@cache
def _luck(number: int) -> Luck:
    return Luck.of(number)
