"""The half-width that `estimate` will show for planned judgments of one system."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from steelyard.design.assumptions import Values
from steelyard.design.later_sample import (
    Floats,
    Luck,
    Number,
    fallen_out,
    student_reach,
    variance_freedom,
)
from steelyard.design.learned_share import left_variance
from steelyard.design.lent_variance import LentVariance, lent_variance
from steelyard.design.planned_raters import PlannedRaters
from steelyard.estimate.borrowed import MIN_SYSTEMS
from steelyard.estimate.repeats import FEW_REPEATS

__all__ = ["Judged", "Judging", "MeanInterval"]

_FEW_OUTPUTS = 5
# So many outputs that are all judged again need no imagined one beside them.
_ENOUGH = 20


@dataclass(frozen=True)
class Judging:
    """How often the drawn outputs are judged: all m times, and `second` of them once more."""

    each: int
    second: int

    def noise(self, n: int) -> float:
        """Return the mean of 1/m over n outputs."""
        return 1 / self.each - self.second / n * (1 / self.each - 1 / (self.each + 1))

    def repeated(self, n: int) -> int:
        """Return the outputs of n that are judged more than once."""
        return n if self.each > 1 else self.second


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The campaign in which a system's mean is planned.

    Attributes
    ----------
    systems : int
        Systems that are judged alike; four or more lend one another spread and shape.
    raters : PlannedRaters or None
        Raters as a sample; None for exactly the raters at hand.
    skewness, tails : float
        Skewness of what the control leaves of the scores, and its excess kurtosis.
    spread : bool
        Whether the draw is spread over metrics: its variance, from differences of neighbours, has fewer
        degrees of freedom.
    """

    systems: int = 1
    raters: PlannedRaters | None = None
    skewness: float = 0.0
    tails: float = 0.0
    spread: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """Say how outputs must be drawn for the plan to hold."""
        if not self.spread:
            return ()
        drawn = "this holds for outputs drawn with `steelyard sample --design spread`"
        return (f"{drawn}, all of which are judged; what that gains in error is not promised",)

    @property
    def lends(self) -> bool:
        """Whether the systems lend one another shape."""
        return self.systems >= MIN_SYSTEMS

    def squares(self, n: int) -> float:
        """Return the degrees of freedom of a sum of squares of n outputs.

        Differences of neighbours and of the next but one have four fifths of those around a mean.
        """
        return max(0.8 * n - 0.6, 1.0) if self.spread else n - 1.0

    def shown(self, others: Floats | None, n: int, luck: Luck | None) -> LentVariance:
        """Return what n outputs, as luck will have it, show of the variance between them."""
        squares = self.squares(n)
        actual = variance_freedom(squares, n, self.tails)
        if self.lends:
            counted = variance_freedom(squares, n, max(self.tails, 0.0))
            return lent_variance(others, luck, systems=self.systems, actual=actual, counted=counted)
        found = fallen_out(None if luck is None else luck.outputs, actual)
        return LentVariance(found, squares, 1.0)


@dataclass(frozen=True, kw_only=True)
class MeanInterval:
    """The interval of one system's mean by the learned control; see docs/methods/planning.md."""

    systems: ClassVar[int] = 1

    pool_size: int | None
    rater_variance_given: bool
    level: float
    judged: Judged = Judged()

    @property
    def drawn_from(self) -> int | None:
        """Number of outputs that can be drawn."""
        return self.pool_size

    @property
    def raters(self) -> PlannedRaters | None:
        """Raters as a sample."""
        return self.judged.raters

    def least(self) -> int:
        """Return the fewest outputs that give an interval worth planning."""
        return _FEW_OUTPUTS

    def half_width(
        self, values: Values, n_metrics: int, judging: Judging, n: int, luck: Luck | None = None
    ) -> Number:
        """Return the half-width to expect from n outputs, or those that luck will have."""
        parts = self._parts(values, n_metrics, judging, n)
        lent = self.judged.shown(values.others, n, luck)
        own = parts.own * lent.shown / n
        noise, freedom, known = self._noise(values, parts, judging, n)
        own = own * np.where(known, 1 - self._share(n), 1.0)
        if not self.rater_variance_given and luck is not None:
            noise = noise * fallen_out(luck.noise, freedom)
        noise = np.where(known, noise, 0.0)
        doubt = 2 * own**2 / lent.freedom + 2 * noise**2 / freedom
        raters, raters_doubt = self._raters(values, judging, n, luck)
        variance = own + noise + raters
        # Doubt below this is none, as when nothing is left and the rater variance is told.
        doubt = np.maximum(doubt + raters_doubt, np.maximum(1e-12 * variance**2, 1e-300))
        reach = student_reach(2 * variance**2 / doubt, self.level)
        if self.judged.lends:
            reach = (
                reach + self._lengthened(n, lent.own) * (own / np.maximum(variance, 1e-300)) ** 1.5
            )
        return np.asarray(reach * np.sqrt(variance))

    def error(self, values: Values, n_metrics: int, judging: Judging, n: int) -> Number:
        """Return the standard error, also where the interval leaves out the finite-pool factor."""
        parts = self._parts(values, n_metrics, judging, n)
        value = parts.own * (1 - self._share(n)) / n + self._raters(values, judging, n, None)[0]
        if self.pool_size is not None:
            value = value + values.rater * judging.noise(n) / self.pool_size
        return np.asarray(np.sqrt(value))

    def rater_share(self, values: Values, n_metrics: int, judging: Judging, n: int) -> float:
        """Return the share of the error variance that leniency of raters makes up."""
        raters = self._raters(values, judging, n, None)[0]
        error = self.error(values, n_metrics, judging, n)
        return float(raters / max(float(error) ** 2, 1e-300))

    def _parts(self, values: Values, n_metrics: int, judging: Judging, n: int) -> "_Parts":
        once = judging.noise(n)
        spread = left_variance(values, n_metrics, noise=once, n=n) + values.rater * once
        raters = self.judged.raters
        if raters is None:
            return _Parts(spread, spread)
        each = self._each(judging, n)
        taken = raters.taken(values.leniency, each)
        # Taking leniency out moves weight between outputs, as far as they have one judgment only.
        more = 1 + (1 - judging.repeated(n) / n) * taken**2 / each
        return _Parts(spread, (spread - np.minimum(values.leniency, values.rater) * once) * more)

    def _raters(
        self, values: Values, judging: Judging, n: int, luck: Luck | None
    ) -> tuple[Number, Number]:
        """Return the error variance from leniency, and the variance of its estimate.

        What raters of all outputs share stays; their unequal numbers in one system's are taken out.
        """
        raters = self.judged.raters
        if raters is None:
            return 0.0, 0.0
        each = self._each(judging, n)
        actual = None if luck is None else luck.raters
        leniency = np.minimum(values.leniency, values.rater)
        found = raters.estimated(leniency, each, actual)
        unequal = (1 - raters.taken(leniency, each)) ** 2 * judging.noise(n) / n
        value = found * (1 / raters.number + unequal)
        return value, value**2 * raters.doubt(found, each)

    def _each(self, judging: Judging, n: int) -> float:
        """Return about how many judgments a rater gives in the whole campaign."""
        assert self.judged.raters is not None
        return self.judged.systems * n / judging.noise(n) / self.judged.raters.number

    def _noise(
        self, values: Values, parts: "_Parts", judging: Judging, n: int
    ) -> tuple[Number, float, NDArray[np.bool_]]:
        """Return what rater noise adds in a finite pool, its degrees of freedom, and if it is known."""
        if self.pool_size is None:
            return 0.0, np.inf, np.asarray(False)
        noise = values.rater * judging.noise(n) / self.pool_size
        if self.rater_variance_given:
            return noise, np.inf, np.asarray(True)
        repeated = judging.repeated(n)
        if repeated < FEW_REPEATS:
            return 0.0, np.inf, np.asarray(False)
        if judging.each > 1 and n >= _ENOUGH:
            return noise, float(repeated), np.asarray(True)
        # As `Repeats.against` has it: an imagined output joins those that were judged again.
        most = parts.spread / self.pool_size
        largest = np.maximum(noise * _largest_square(repeated), most)
        lifted = (repeated * noise + largest) / (repeated + 1)
        return lifted, repeated + 1.0, np.asarray(lifted < most)

    def _lengthened(self, n: int, own: Number) -> Number:
        """Return what skewness adds to Student's quantile, on the longer side, halved.

        The first term of the Edgeworth expansion of a Student statistic (Hall 1992, section 2.6), of
        whose variance the system's own judgments make up a part.
        """
        z = float(ndtri((1 + self.level) / 2))
        shift = np.abs(z**2 - 1 - 3 * z**2 * own)
        return np.asarray(abs(self.judged.skewness) * shift / (12 * np.sqrt(n)))

    def _share(self, n: int) -> float:
        return 0.0 if self.pool_size is None else n / self.pool_size


@dataclass(frozen=True, eq=False)
class _Parts:
    """The variance of an output's mean judgment less its control, and without leniency."""

    spread: Number
    own: Number


def _largest_square(count: int) -> float:
    """Return about the expected largest of so many squared standard normal deviates."""
    return float(ndtri(1 - 0.28 / count) ** 2)
