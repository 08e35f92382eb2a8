"""The mean of bounded scores, with an interval that holds exactly however often one looks."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Floats
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.betting import betting_interval

__all__ = ["ConfidenceSequence"]


class ConfidenceSequence:
    """An interval for the mean of bounded scores that holds at all times at once, exactly.

    With probability `level` the mean lies in the interval after every score, for all scores within
    `bounds` and from the first one, so collection may stop at any moment, for any reason. `Study.monitor` is
    tighter, uses metrics and all systems, and holds approximately.

    Parameters
    ----------
    level : float
        Probability with which the sequence holds at all times.
    bounds : (float, float)
        Least and greatest possible score.
    pool_size : int, optional
        Number of outputs that are drawn in random order, each once: then the mean is that of all of
        them, each judged once by this very process. None where every score is a draw of its own.

    Raises
    ------
    InvalidArgumentError
        If an argument breaks its rule.

    References
    ----------
    Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting.

    Examples
    --------
    >>> sequence = ConfidenceSequence(pool_size=500)
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(200):
    ...     _ = sequence.update(rng.integers(2))
    >>> print(sequence)
    0.5550 [0.4696, 0.6303] at 95%, at all times (200 scores of 500 outputs)
    """

    def __init__(
        self,
        *,
        level: float = 0.95,
        bounds: tuple[float, float] = (0.0, 1.0),
        pool_size: int | None = None,
    ) -> None:
        if not 0 < level < 1:
            raise InvalidArgumentError(
                f"`level` must lie strictly between 0 and 1; got {level}: write 0.95 for 95%"
            )
        if len(bounds) != 2 or not (np.isfinite(bounds).all() and bounds[0] < bounds[1]):
            raise InvalidArgumentError(
                f"`bounds` must be two finite numbers, the lower first; got {bounds}"
            )
        if pool_size is not None and pool_size < 1:
            raise InvalidArgumentError(f"`pool_size` must be at least 1; got {pool_size}")
        self.level, self.bounds, self.pool_size = level, bounds, pool_size
        self._score: Floats = np.empty(0)
        self._low, self._high = bounds

    def update(self, score: ArrayLike) -> Self:
        """Add one score or several, in the order of the draw.

        Raises
        ------
        InvalidArgumentError
            If one is no number or lies outside `bounds`, or there are more than outputs.
        """
        added = np.atleast_1d(np.asarray(score, dtype=np.float64)).ravel()
        least, greatest = self.bounds
        wrong = added[~((added >= least) & (added <= greatest))]
        if len(wrong):
            raise InvalidArgumentError(
                f"`bounds` must enclose every score; got {wrong[0]:g} outside [{least:g}, "
                f"{greatest:g}]: pass the least and greatest possible score"
            )
        longer = np.concatenate([self._score, added])
        if self.pool_size is not None and len(longer) > self.pool_size:
            raise InvalidArgumentError(
                f"`score` must hold one score of each output; got {len(longer)} for "
                f"{self.pool_size} outputs"
            )
        self._score = longer
        width = greatest - least
        low, high = betting_interval(
            (longer - least) / width, alpha=1 - self.level, pool_size=self.pool_size
        )
        self._low, self._high = least + width * low, least + width * high
        return self

    @property
    def n(self) -> int:
        """Number of scores so far."""
        return len(self._score)

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self._low

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self._high

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @property
    def estimate(self) -> float:
        """The mean so far, moved into the interval.

        Raises
        ------
        NotEstimableError
            If there are no scores yet.
        """
        if self.n == 0:
            raise NotEstimableError("an estimate needs at least one score; got none")
        return float(np.clip(self._score.mean(), self.low, self.high))

    def __str__(self) -> str:
        shown = f"{self.estimate:.4f} " if self.n else ""
        pool = "" if self.pool_size is None else f" of {self.pool_size} outputs"
        return (
            f"{shown}[{self.low:.4f}, {self.high:.4f}] at {self.level:.0%}, at all times "
            f"({self.n} scores{pool})"
        )

    def __repr__(self) -> str:
        return f"<ConfidenceSequence {self}>"
