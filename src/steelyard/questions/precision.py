"""How narrow a plan is to make the intervals of some answers."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, stdtrit

from steelyard.model.campaign import Floats
from steelyard.model.imagined import Imagined
from steelyard.model.intervals import Intervals

__all__ = ["Precision"]

_DRAWS = 4_000
_SEED = 20_181


@dataclass(frozen=True, eq=False)
class Precision:
    """Answers, and how far their intervals may reach.

    Attributes
    ----------
    name : str
        The answers in words, such as "the mean of each system".
    forms : (f, k) array
        The answers, as forms of the means.
    limit : (f,) array or float
        How far each interval may reach.
    level : float
        Confidence level.
    together : bool
        Whether the level is that of all answers together.
    power : float or None
        The probability to show a difference as large as the limit, instead of a half-width.
    longer, at : (f,) arrays or float
        By which share intervals are longer now than variances make them, because of skewness and scores that
        are nearly all equal, and the variance of each answer now: it falls with the variance.
    """

    name: str
    forms: Floats
    limit: Floats | float
    level: float = 0.95
    together: bool = False
    power: float | None = None
    longer: Floats | float = 0.0
    at: Floats | float = 1.0

    def shaped(self, now: Imagined, shown: Intervals) -> "Precision":
        """Return the same for intervals of the shape that the answers' have now."""
        half_width = (shown.high - shown.low) / 2
        variance = now.variance(self.forms)
        normal = stdtrit(now.freedom(self.forms), (1 + self.level) / 2) * np.sqrt(variance)
        known = np.isfinite(half_width) & (normal > 0)
        ratio = np.where(known, half_width, 1.0) / np.where(known, normal, 1.0)
        # what chance made of the error now is no matter of shape
        ratio = np.minimum(ratio, (shown.down + shown.up) / 2)
        return replace(self, longer=np.maximum(ratio - 1, 0.0), at=np.maximum(variance, 1e-300))

    def half_width(self, errors: Imagined, assurance: float | None = None) -> float:
        """Return the half-width of the widest interval, as expected or with an assurance."""
        return self._widest(errors, self._multiple(errors), assurance)

    def reach(self, errors: Imagined, assurance: float | None = None) -> float:
        """Return the largest ratio of an interval's reach to its limit: the goal is 1 or less."""
        multiple = self._multiple(errors)
        if self.power is not None:
            multiple = multiple + stdtrit(errors.freedom(self.forms), self.power)
        return self._widest(errors, multiple / self.limit, assurance)

    def _widest(self, errors: Imagined, multiple: Floats, assurance: float | None) -> float:
        variance = errors.variance(self.forms)
        shape = 1 + self.longer * np.minimum(variance / self.at, 1.0)
        reach = multiple * shape * np.sqrt(variance)
        # a squared error that is known with v degrees of freedom is v / chi-square(v) of what it seems
        doubt = errors.doubt(self.forms)
        size = np.sqrt(np.maximum(np.diag(doubt), 1e-9))
        values, axes = np.linalg.eigh(doubt / np.outer(size, size))
        root = axes * np.sqrt(np.maximum(values, 0.0))
        draws = np.random.default_rng(_SEED).standard_normal((_DRAWS // 2, len(size)))
        z = np.concatenate([draws, -draws]) @ root.T
        # chi-square by Wilson and Hilferty, with v = 2 / size^2
        part = size**2 / 9
        squares = np.maximum(1 - part - z * np.sqrt(part), 0.05) ** 3
        widest = (reach / np.sqrt(squares)).max(axis=1)
        return float(np.quantile(widest, 0.5 if assurance is None else assurance))

    def _multiple(self, errors: Imagined) -> Floats:
        """Return how many standard errors each interval reaches."""
        freedom = errors.freedom(self.forms)
        level = self.level
        if self.together and len(self.forms) > 1:
            covariance = self.forms @ errors.answers.covariance @ self.forms.T
            error = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
            values, axes = np.linalg.eigh(covariance / np.outer(error, error))
            root = axes * np.sqrt(np.maximum(values, 0.0))
            draws = np.random.default_rng(_SEED).standard_normal((_DRAWS, len(error)))
            largest = np.abs(draws @ root.T).max(axis=1)
            level = 2 * ndtr(np.quantile(largest, level)) - 1
        return np.asarray(stdtrit(freedom, (1 + level) / 2))
