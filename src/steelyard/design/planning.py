"""How many outputs, how many judgments of each, at what price, before any is asked for."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from steelyard.design.assumptions import Assumptions, Prices
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.variance import Efficiency, Quantity, data_efficiency

__all__ = ["Case", "Plan", "plan"]

_MOST_JUDGMENTS = 20
_FEW_JUDGMENTS = 20
# Without a pool a plan may ask for this many outputs before it is called unreachable.
_UNLIMITED = 100_000_000


@dataclass(frozen=True, kw_only=True)
class Case:
    """One campaign: its size, price and the precision to expect of it."""

    outputs: int
    judgments_per_output: int
    cost: float
    half_width: float

    @property
    def judgments(self) -> int:
        """Number of judgments in all."""
        return self.outputs * self.judgments_per_output

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return {
            "outputs": self.outputs,
            "judgments_per_output": self.judgments_per_output,
            "judgments": self.judgments,
            "cost": self.cost,
            "half_width": self.half_width,
        }


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much to collect, with the metric and without, as expected and to be safe.

    Attributes
    ----------
    expected, conservative : Case
        With the metric: at the assumed values, and at the ends of their intervals that ask for
        more.
    expected_without, conservative_without : Case
        The same for a plain mean.
    best_judgments_per_output : float
        The optimum m before rounding, infinite when only outputs cost.
    data_efficiency : Quantity
        Expected saving in judgments, with the interval that the assumptions give.
    level : float
        Level of the planned interval.
    notes : tuple of str
        What to know before spending.
    """

    expected: Case
    conservative: Case
    expected_without: Case
    conservative_without: Case
    best_judgments_per_output: float
    data_efficiency: Quantity
    level: float
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return {
            "expected": self.expected.to_dict(),
            "conservative": self.conservative.to_dict(),
            "expected_without_metric": self.expected_without.to_dict(),
            "conservative_without_metric": self.conservative_without.to_dict(),
            "best_judgments_per_output": self.best_judgments_per_output,
            "data_efficiency": self.data_efficiency.to_dict(),
            "level": self.level,
            "notes": list(self.notes),
        }


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
) -> Plan:
    r"""Plan a campaign for a half-width, a budget, or the power to see a difference.

    With n outputs of a pool of N, m judgments of each, p metrics and
    :math:`\sigma_u^2 = \sigma_f^2 (1 - \rho^2)`, the error variance to expect is

    .. math:: V = \left(\sigma_u^2 + \frac{\sigma_a^2}m\right) \frac{1 - n/N}n
                  \left(1 + \frac p{n - p - 2}\right) + \frac{\sigma_a^2}{m N},

    and the half-width :math:`t_{n-1-p} \sqrt V`. Of all m, the one that reaches the goal for the
    lowest price is chosen; without a limit it is
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
        A difference to be seen with probability `power`, instead of `half_width`; the assumptions
        are then of differences.
    power : float
        Probability of an interval that leaves out zero when the difference is `difference`.
    pool_size : int, optional
        Number of outputs N; unlimited by default.
    prices : Prices, optional
        Of an output and of a judgment; 0 and 1 by default.
    judgments_per_output : int, optional
        A fixed m instead of the best one.
    n_metrics : int
        Number of metrics p that are fitted.
    level : float
        Level of the interval.

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
    >>> made.expected.outputs, made.expected_without.outputs
    (587, 623)
    """
    pilot = Assumptions.of(assumptions) if isinstance(assumptions, Efficiency) else assumptions
    goal = _Goal.of(half_width, budget, difference, power=power, level=level)
    prices = Prices() if prices is None else prices
    _check(pool_size, judgments_per_output, n_metrics)
    search = _Search(goal, prices, pool_size, judgments_per_output, level)
    safe = pilot.conservative()
    cases = {
        "expected": search.best(pilot, n_metrics),
        "conservative": search.best(safe, n_metrics),
        "expected_without": search.best(pilot.without_metric(), 0),
        "conservative_without": search.best(safe.without_metric(), 0),
    }
    return Plan(
        **cases,
        best_judgments_per_output=_best_judgments(pilot, prices),
        data_efficiency=_forecast(pilot),
        level=level,
        notes=_notes(cases, pool_size),
    )


@dataclass(frozen=True)
class _Goal:
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
    ) -> "_Goal":
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


@dataclass(frozen=True)
class _Search:
    """Finds the cheapest campaign for a goal."""

    goal: _Goal
    prices: Prices
    pool_size: int | None
    judgments_per_output: int | None
    level: float

    def best(self, assumed: Assumptions, n_metrics: int) -> Case:
        fixed = self.judgments_per_output
        counts = range(1, _MOST_JUDGMENTS + 1) if fixed is None else [fixed]
        found = [case for m in counts if (case := self._case(assumed, n_metrics, m)) is not None]
        if not found:
            raise NotEstimableError(self._unreachable(assumed))
        if self.goal.budget is None:
            return min(found, key=lambda case: (case.cost, case.judgments_per_output))
        return min(found, key=lambda case: (case.half_width, case.cost))

    def _case(self, assumed: Assumptions, n_metrics: int, m: int) -> Case | None:
        least = n_metrics + 3
        most = _UNLIMITED if self.pool_size is None else self.pool_size
        if self.goal.budget is not None:
            affordable = int(self.goal.budget / self.prices.of(1, m) + 1e-9)
            n = min(affordable, most)
        else:
            n = self._fewest(assumed, n_metrics, m, most)
        if n < least:
            if self.goal.budget is not None or most < least:
                return None
            n = least
        reach = self._reach(assumed, n_metrics, m, n)
        if self.goal.half_width is not None and reach > self.goal.half_width * (1 + 1e-12):
            return None
        width = self._half_width(assumed, n_metrics, m, n)
        return Case(outputs=n, judgments_per_output=m, cost=self.prices.of(n, m), half_width=width)

    def _fewest(self, assumed: Assumptions, n_metrics: int, m: int, most: int) -> int:
        """Return the least n that reaches the goal, or `most`."""
        low, high = n_metrics + 2, most
        while high - low > 1:
            middle = (low + high) // 2
            assert self.goal.half_width is not None
            if self._reach(assumed, n_metrics, m, middle) <= self.goal.half_width:
                high = middle
            else:
                low = middle
        return high

    def _reach(self, assumed: Assumptions, n_metrics: int, m: int, n: int) -> float:
        """Return the half-width, or the difference that is seen with the asked power."""
        error = self._error(assumed, n_metrics, m, n)
        return self._half_width(assumed, n_metrics, m, n) + self.goal.quantile_power * error

    def _half_width(self, assumed: Assumptions, n_metrics: int, m: int, n: int) -> float:
        freedom = n - 1 - n_metrics
        reach = float(stdtrit(freedom, (1 + self.level) / 2))
        return reach * self._error(assumed, n_metrics, m, n)

    def _error(self, assumed: Assumptions, n_metrics: int, m: int, n: int) -> float:
        left = assumed.item_variance.value * (1 - assumed.correlation.value**2)
        noise = assumed.rater_variance.value / m
        share = 0.0 if self.pool_size is None else n / self.pool_size
        doubt = 1 + n_metrics / max(n - n_metrics - 2, 1)
        variance = (left + noise) * (1 - share) / n * doubt
        if self.pool_size is not None:
            variance += noise / self.pool_size
        return float(np.sqrt(variance))

    def _unreachable(self, assumed: Assumptions) -> str:
        if self.goal.budget is not None:
            return (
                f"`budget` {self.goal.budget:g} does not buy enough judgments for an interval; "
                "raise it"
            )
        m = self.judgments_per_output or _MOST_JUDGMENTS
        best = (
            ""
            if self.pool_size is None
            else (
                f": even judging all {self.pool_size} outputs {m} times gives "
                f"{self._reach(assumed, 0, m, self.pool_size):.3g}"
            )
        )
        return f"the goal {self.goal.half_width:g} cannot be reached{best}; ask for less precision"


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


def _notes(cases: dict[str, Case], pool_size: int | None) -> tuple[str, ...]:
    notes = []
    if cases["expected"].judgments < _FEW_JUDGMENTS:
        notes.append(
            f"below about {_FEW_JUDGMENTS} judgments the metric may cost more than it brings: "
            "a plain mean is as good"
        )
    elif cases["expected"].cost >= cases["expected_without"].cost:
        notes.append("the metric is not expected to save anything here: a plain mean is as good")
    if pool_size is not None and cases["conservative"].outputs == pool_size:
        notes.append("to be safe, the plan judges every output of the pool")
    return tuple(notes)


def _check(pool_size: int | None, judgments_per_output: int | None, n_metrics: int) -> None:
    if pool_size is not None and pool_size < 2:
        raise InvalidArgumentError(f"`pool_size` must be at least 2; got {pool_size}")
    if judgments_per_output is not None and judgments_per_output < 1:
        raise InvalidArgumentError(
            f"`judgments_per_output` must be at least 1; got {judgments_per_output}"
        )
    if n_metrics < 0:
        raise InvalidArgumentError(f"`n_metrics` must not be negative; got {n_metrics}")
