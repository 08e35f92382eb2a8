"""What a confidence sequence is about, checked once."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtri

from steelyard.errors import InvalidArgumentError

__all__ = ["Method", "SequenceOptions", "SequenceTarget"]

Method = Literal["betting", "empirical-bernstein", "asymptotic"]
SequenceTarget = Literal["pool", "census"]

# Share of the doubt that is spent on rater noise when the pool is sought without replacement. The
# noise of a whole pool is small beside what is not known of it, so it gets little.
_NOISE_SHARE = 0.1


@dataclass(frozen=True, kw_only=True)
class SequenceOptions:
    """The options of a `ConfidenceSequence`; see there.

    Attributes
    ----------
    level : float
        Probability with which the sequence holds at all times.
    bounds : (float, float)
        Least and greatest possible judgment.
    method : {"betting", "empirical-bernstein", "asymptotic"}
        Kind of sequence.
    replacement : bool
        Whether outputs are drawn with replacement.
    pool_size : int or None
        Number of outputs N; needed without replacement.
    target : {"pool", "census"} or None
        What is estimated; None stands for "pool" with replacement and "census" without.
    rater_variance : float or None
        Variance of the judgments of one output, known from elsewhere.
    tuned_for : int or None
        Number of judgments at which the asymptotic sequence is tightest.
    goal : float or None
        Half-width at which the sequence is tightest.
    """

    level: float = 0.95
    bounds: tuple[float, float] = (0.0, 1.0)
    method: Method = "betting"
    replacement: bool = False
    pool_size: int | None = None
    target: SequenceTarget | None = None
    rater_variance: float | None = None
    tuned_for: int | None = None
    goal: float | None = None

    def __post_init__(self) -> None:
        """Check every option."""
        for name, choices in (("method", get_args(Method)), ("target", get_args(SequenceTarget))):
            value = getattr(self, name)
            if value not in choices and not (name == "target" and value is None):
                raise InvalidArgumentError(
                    f"`{name}` must be one of {', '.join(choices)}; got {value!r}"
                )
        if not 0 < self.level < 1:
            raise InvalidArgumentError(
                f"`level` must lie strictly between 0 and 1; got {self.level}: "
                "write 0.95 for a 95% sequence"
            )
        if len(self.bounds) != 2 or not (
            np.isfinite(self.bounds).all() and self.bounds[0] < self.bounds[1]
        ):
            raise InvalidArgumentError(
                f"`bounds` must be two finite numbers, the lower first; got {self.bounds}"
            )
        if self.rater_variance is not None and not 0 <= self.rater_variance < np.inf:
            raise InvalidArgumentError(
                f"`rater_variance` must be finite and not negative; got {self.rater_variance}"
            )
        if self.goal is not None and not 0 < self.goal < np.inf:
            raise InvalidArgumentError(
                f"`goal` must be a half-width greater than 0; got {self.goal}: leave it out if "
                "there is none"
            )
        if self.tuned_for is not None and self.tuned_for < 1:
            raise InvalidArgumentError(
                f"`tuned_for` must be a number of judgments of at least 1; got {self.tuned_for}"
            )
        self._check_draws()

    def _check_draws(self) -> None:
        if self.pool_size is not None and self.pool_size < 1:
            raise InvalidArgumentError(f"`pool_size` must be at least 1; got {self.pool_size}")
        if not self.replacement and self.pool_size is None:
            raise InvalidArgumentError(
                "`pool_size` is needed for draws without replacement when there is no "
                "`metric_pool`: pass the number of outputs, or replacement=True"
            )
        if self.replacement and self.target == "census":
            raise InvalidArgumentError(
                '`target` "census" judges every output once and cannot go with '
                '`replacement=True`: use target="pool"'
            )

    @property
    def about(self) -> SequenceTarget:
        """What is estimated, whether it was said or not."""
        return self.target or ("pool" if self.replacement else "census")

    @property
    def drawn_from(self) -> int | None:
        """Number of outputs that are drawn without replacement; None with replacement."""
        return None if self.replacement else self.pool_size

    @property
    def alpha(self) -> float:
        """Probability with which the sequence of judgments may ever miss its mean."""
        share = _NOISE_SHARE if self._noisy else 0.0
        return (1 - self.level) * (1 - share)

    @property
    def noise(self) -> float:
        r"""How far the census may lie from the pool's mean human score, on the unit scale.

        The census mean differs from the pool's mean human score by the mean of N independent
        errors of mean zero. With probability :math:`1 - \beta` it is within Hoeffding's
        :math:`\sqrt{\log(2/\beta) / 2N}`; when their mean variance :math:`\sigma_a^2` is known,
        also within Bernstein's :math:`\sqrt{2 \sigma_a^2 \log(2/\beta)/N} + \log(2/\beta)/3N`, or,
        for the asymptotic sequence, within the normal :math:`z_{1-\beta/2}\, \sigma_a/\sqrt N`.
        """
        if not self._noisy:
            return 0.0
        assert self.pool_size is not None
        doubt = (1 - self.level) * _NOISE_SHARE
        log, size = np.log(2 / doubt), self.pool_size
        found = float(np.sqrt(log / (2 * size)))
        if self.rater_variance is None:
            return found
        variance = self.rater_variance / (self.bounds[1] - self.bounds[0]) ** 2
        if self.method == "asymptotic":
            return min(found, float(-ndtri(doubt / 2) * np.sqrt(variance / size)))
        return min(found, float(np.sqrt(2 * variance * log / size) + log / (3 * size)))

    @property
    def aim(self) -> float | None:
        """The half-width that is left for the sequence to reach, on the unit scale.

        None without a goal, or when rater noise alone exceeds it.
        """
        if self.goal is None:
            return None
        aim = self.goal / (self.bounds[1] - self.bounds[0]) - self.noise
        return aim if aim > 0 else None

    @property
    def _noisy(self) -> bool:
        return self.about == "pool" and not self.replacement and self.rater_variance != 0
