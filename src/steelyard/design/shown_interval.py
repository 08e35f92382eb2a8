"""The half-width that `estimate` will show for planned judgments of one system."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri, stdtrit

from steelyard.design.assumptions import Assumptions
from steelyard.estimate.error_variance import satterthwaite
from steelyard.estimate.repeats import FEW_REPEATS

__all__ = ["Judging", "MeanInterval"]


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
class MeanInterval:
    """The interval of one system's mean, corrected by least squares; see docs/methods/planning.md."""

    systems: ClassVar[int] = 1

    pool_size: int | None
    rater_variance_given: bool
    level: float

    @property
    def drawn_from(self) -> int | None:
        """Number of outputs that can be drawn."""
        return self.pool_size

    def least(self, n_metrics: int) -> int:
        """Return the fewest outputs that give an interval."""
        return n_metrics + 3

    def half_width(self, assumed: Assumptions, n_metrics: int, judging: Judging, n: int) -> float:
        """Return the half-width to expect from n outputs."""
        variance, freedom = self._shown(assumed, n_metrics, judging, n)
        return float(stdtrit(freedom, (1 + self.level) / 2) * np.sqrt(variance))

    def error(self, assumed: Assumptions, n_metrics: int, judging: Judging, n: int) -> float:
        """Return the standard error, also where the interval leaves out the finite-pool factor."""
        within, noise = self._parts(assumed, n_metrics, judging, n)
        return float(np.sqrt(within + noise))

    def _parts(
        self, assumed: Assumptions, n_metrics: int, judging: Judging, n: int
    ) -> tuple[float, float]:
        """Return the error variance from the draw of outputs, and from raters of a whole pool."""
        spread = self._spread(assumed, judging, n)
        within = spread * (1 - self._share(n)) / n * (1 + _doubt(n, n_metrics))
        if self.pool_size is None:
            return within, 0.0
        return within, assumed.rater_variance.value * judging.noise(n) / self.pool_size

    def _shown(
        self, assumed: Assumptions, n_metrics: int, judging: Judging, n: int
    ) -> tuple[float, float]:
        """Return the variance that `estimate` will show, and its degrees of freedom."""
        within, noise = self._parts(assumed, n_metrics, judging, n)
        freedom = n - 1 - n_metrics
        if self.pool_size is None:
            return within, freedom
        if self.rater_variance_given:
            return within + noise, satterthwaite((within, freedom), (noise, np.inf))
        spread, repeated = self._spread(assumed, judging, n), judging.repeated(n)
        most = spread / self.pool_size
        if repeated >= FEW_REPEATS:
            # As `Repeats.against` has it: an imagined output joins those that were judged again.
            largest = max(noise * _largest_square(repeated), most)
            noise = (repeated * noise + largest) / (repeated + 1)
            if noise < most:
                return within + noise, satterthwaite((within, freedom), (noise, repeated + 1))
        doubt = _doubt(n, n_metrics)
        return spread / n * (1 + (1 - self._share(n)) * doubt), freedom

    def _spread(self, assumed: Assumptions, judging: Judging, n: int) -> float:
        left = assumed.item_variance.value * (1 - assumed.correlation.value**2)
        return left + assumed.rater_variance.value * judging.noise(n)

    def _share(self, n: int) -> float:
        return 0.0 if self.pool_size is None else n / self.pool_size


def _largest_square(count: int) -> float:
    """Return about the expected largest of so many squared standard normal deviates."""
    return float(ndtri(1 - 0.28 / count) ** 2)


def _doubt(n: int, n_metrics: int) -> float:
    """Return what the slope's own error adds, relative to the variance of the mean."""
    return n_metrics / max(n - n_metrics - 2, 1)
