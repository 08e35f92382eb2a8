"""How the variances that a campaign will show may fall out, beside what is to be expected of them."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

__all__ = ["Floats", "Luck", "Number", "fallen_out", "student_reach", "variance_freedom"]

Floats = NDArray[np.float64]
Number = float | Floats

# Quantiles are looked up between these inverse degrees of freedom: far faster, and right to 1e-4.
_INVERSE = np.concatenate([np.linspace(0, 0.2, 200), np.geomspace(0.201, 2, 200)])
# More systems than this tell the same.
_OTHERS = 11


@dataclass(frozen=True, eq=False)
class Luck:
    """Standard normal deviates, (D,) each: how the estimated variances of a campaign will fall out.

    Attributes
    ----------
    outputs, noise, raters : (D,) array
        Of the variance between outputs, of rater noise and of leniency.
    others : (D, 11) array
        Of the variances between outputs of other systems.
    """

    outputs: Floats
    noise: Floats
    raters: Floats
    others: Floats

    @classmethod
    def of(cls, number: int) -> "Luck":
        """Return so many deviates, the same each time."""
        rng = np.random.default_rng(number + 1)
        outputs, noise, raters = rng.standard_normal((3, number))
        return cls(outputs, noise, raters, rng.standard_normal((number, _OTHERS)))


def fallen_out(deviates: Floats | None, freedom: Number) -> Number:
    """Return an estimated variance over the true one; 1 if only its expectation is wanted.

    Chi-square over its degrees of freedom, by Wilson and Hilferty (1931).
    """
    if deviates is None:
        return 1.0
    spread = 2 / (9 * np.maximum(freedom, 1.0))
    return np.asarray(np.maximum(1 - spread + deviates * np.sqrt(spread), 0.05) ** 3)


def variance_freedom(freedom: float, n: int, tails: float) -> float:
    """Return what degrees of freedom the variance of n outputs is worth, given their excess kurtosis.

    Its squared relative error is 2 / d + tails / n. Short tails, as of binary scores, make it better
    known, here at most four times.
    """
    return 2 / max(2 / freedom + tails / n, 0.5 / freedom)


def student_reach(freedom: Number, level: float) -> Number:
    """Return the quantiles of Student's distribution that enclose `level`."""
    if np.ndim(freedom) == 0:
        return float(stdtrit(freedom, (1 + level) / 2))
    return np.asarray(np.interp(1 / np.maximum(freedom, 0.5), _INVERSE, _reaches(level)))


@lru_cache(maxsize=8)
def _reaches(level: float) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(stdtrit(1 / _INVERSE, (1 + level) / 2))
