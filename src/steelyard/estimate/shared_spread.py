"""What several means of judgments show together: how much raters differ in taste, and noise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.estimate.judgment_mean import JudgmentMean
from steelyard.estimate.repeats import FEW_REPEATS

__all__ = ["SharedSpread"]


@dataclass(frozen=True)
class SharedSpread:
    """What several means of the same kind show together.

    Attributes
    ----------
    rater_share : float
        Variance of raters' taste as a share of the variance of a judgment.
    doubt, freedom : float
        Variance of that share, and the degrees of freedom that raters give it.
    noise : float or None
        Variance of judgments of one item as a share of that of a judgment; None if it is unknown.
    """

    rater_share: float
    doubt: float
    freedom: float
    noise: float | None

    @classmethod
    def of(cls, means: Sequence[JudgmentMean], *, raters: bool, directions: int) -> "SharedSpread":
        """Learn the spread from several means.

        Parameters
        ----------
        means : sequence of JudgmentMean
            One of each pair of systems, say.
        raters : bool
            Whether raters are a sample; otherwise their taste counts as 0.
        directions : int
            In how many ways raters can differ: one less than systems.
        """
        noise = _noise_share(means)
        return cls(*(_rater_share(means, directions) if raters else (0.0, 0.0, np.inf)), noise)


def _rater_share(means: Sequence[JudgmentMean], directions: int) -> tuple[float, float, float]:
    """Return the share of raters' taste in the variance of a judgment, its variance, and its freedom.

    Two judgments of different items differ less if one rater gave both.
    """
    lead = total = 0.0
    freedom = judgments = labels = 0.0
    for one in means:
        _, same, different = one.half_squares
        weight = len(one.values) - len(one.rater_weights)
        if weight > 0 and np.isfinite(same) and np.isfinite(different):
            lead += weight * (different - same)
            total += weight * different
            freedom += 1 / float(one.rater_weights @ one.rater_weights) - 1
            judgments += len(one.values)
            labels += len(one.rater_weights)
    if total <= 0 or freedom <= 0:
        return 0.0, 0.0, np.inf
    share = float(np.clip(lead / total, 0.0, 1.0))
    freedom = max(freedom * min(directions / len(means), 1.0), 1.0)
    chance = share + (1 - share) * labels / judgments
    return share, 2 * chance**2 / freedom, freedom


def _noise_share(means: Sequence[JudgmentMean]) -> float | None:
    """Return the variance of judgments of one item as a share of that of any judgment."""
    parts = [one.within for one in means]
    if sum(again for _, _, again in parts) < FEW_REPEATS:
        return None
    squares = sum(part[0] for part in parts)
    spread = [one.half_squares[0] for one in means]
    total = sum(
        part[1] * here for part, here in zip(parts, spread, strict=True) if np.isfinite(here)
    )
    return min(squares / total, 1.0) if total > 0 else None
