"""The judged outputs of a pilot: mean squares, skewness and tails."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import NotEstimableError

__all__ = ["Pilot"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Tails are seen badly by few outputs: so many imagined ones join them.
_IMAGINED = 30
# Excess kurtosis that goes with squared skewness, halved: 0.75 for gamma distributions, more for
# longer tails; and few outputs show too little of both.
_SKEWED = 2.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Pilot:
    """The judged outputs of a pilot.

    Attributes
    ----------
    mean, within : (n,) array
        Mean judgment of each output, and sum of squares of its judgments around it.
    count : (n,) array of int
        Judgments of each output.
    system : (n,) array of int
        Whose output it is.
    control : (n,) array
        Control of each output; zeros without one.
    explained : float
        Share of the variance of mean judgments that the control explains.
    scores : int
        Number of different scores: a scale of few has no long tails.
    ends : (float, float)
        The least score and the greatest.
    item_added : float
        What leniency hides of the item variance where raters share all outputs.
    leniency, leniency_error : float
        Variance between raters, with its standard error.
    raters : float
        Number of raters in the pilot; 0 where they are fixed.
    new_raters : float
        Share of the raters of a campaign that the pilot has not seen.
    """

    mean: Floats
    within: Floats
    count: Integers
    system: Integers
    control: Floats
    explained: float = 0.0
    scores: int = 100
    ends: tuple[float, float] = (0.0, 1.0)
    item_added: float = 0.0
    leniency: float = 0.0
    leniency_error: float = 0.0
    raters: float = 0.0
    new_raters: float = 0.0

    def check(self) -> None:
        """Raise unless the pilot tells item from rater variance."""
        n = len(self.mean)
        if (self.count == 1).all():
            raise NotEstimableError(
                "at least one output with two judgments is needed; got "
                f"{n} judgments of as many outputs: collect a second judgment on some outputs"
            )
        if n - self.systems < 2:
            raise NotEstimableError(
                f"at least two judged outputs more than systems are needed; got {n} outputs of "
                f"{self.systems} system(s): judge more outputs"
            )
        if not self.within.any() and not np.ptp(self.around(self.mean)):
            raise NotEstimableError(
                "a plan needs judgments that differ; all of the pilot's are equal: judge more outputs, or "
                "type the variances"
            )

    def around(self, values: Floats) -> Floats:
        """Return values around the means of their systems."""
        count = np.maximum(np.bincount(self.system), 1)
        return np.asarray(values - (np.bincount(self.system, values) / count)[self.system])

    @property
    def systems(self) -> int:
        """Number of systems."""
        return len(np.unique(self.system))

    @property
    def each(self) -> float:
        """Judgments per output, n0 of the analysis of variance."""
        count = self.count.astype(np.float64)
        return float((count.sum() - count @ count / count.sum()) / max(len(count) - 1, 1))

    @property
    def rater_variance(self) -> float:
        """Unbiased variance of judgments of one output."""
        return float(self.within.sum() / (self.count - 1).sum())

    @property
    def between(self) -> float:
        """Mean square between outputs within systems."""
        count = self.count.astype(np.float64)
        means = np.bincount(self.system, count * self.mean) / np.bincount(self.system, count)
        squares = float(count @ (self.mean - means[self.system]) ** 2)
        return squares / (len(count) - self.systems) + self.each * self.item_added

    @property
    def item_variance(self) -> float:
        """Unbiased variance of human scores, negative where chance makes it so."""
        return (self.between - self.rater_variance) / self.each

    @property
    def judged_apart(self) -> Floats:
        r"""Mean second, third and fourth powers (3, n) of an output's single judgments less the control.

        Around the means of systems, over their spread. Judgments of one output are taken to lie at equal
        distances on either side of their mean, which is exact for one or two of them.
        """
        between, within = self.around(self.mean - self.control), self.within / self.count
        squares = between**2 + within
        spread = np.bincount(self.system, squares) / np.maximum(np.bincount(self.system) - 1, 1)
        spread = np.maximum(spread, 1e-300)[self.system]
        return np.array(
            [
                squares / spread,
                (between**3 + 3 * between * within) / spread**1.5,
                (between**4 + 6 * between**2 * within + within**2) / spread**2,
            ]
        )

    @property
    def two_scores(self) -> bool:
        """Whether scores are of two values, whose tails are all seen."""
        return self.scores <= 2

    @property
    def share(self) -> float:
        """Item variance as a share of that of single judgments."""
        item = max(self.item_variance, 0.0)
        total = item + self.rater_variance
        return item / total if total > 0 else 0.0

    @property
    def doubt(self) -> float:
        r"""Squared relative error of the variance of single judgments, times the number of outputs.

        The variance is the mean of :math:`q_i`, the mean square of an output's judgments around its system's
        mean, so it is that of the q. Few outputs do not show long tails: imagined ones join them, as
        a normal distribution with two judgments per output has it, or one as skewed as the pilot.
        """
        squares = self.within / self.count + self.around(self.mean) ** 2
        means = np.bincount(self.system, squares) / np.maximum(np.bincount(self.system), 1)
        scaled = squares / np.maximum(means, 1e-300)[self.system]
        n, k = len(scaled), self.systems
        seen = float(np.sum((scaled - 1) ** 2)) / max(n - k, 1)
        if self.two_scores:
            return max(seen, 2 / n)
        usual = (1 + self.share**2) * self._longer
        imagined = min(2 * self.scores, _IMAGINED)
        return max((n * seen + imagined * usual) / (n + imagined), usual / 8)

    @property
    def tails(self) -> float:
        """Excess kurtosis of single judgments less the control, with imagined outputs as in `doubt`."""
        second, _, fourth = self.judged_apart
        seen = float(fourth.mean() / max(float(second.mean()), 1e-9) ** 2) - 1
        if self.two_scores:
            return seen - 2
        n, imagined = len(second), min(2 * self.scores, _IMAGINED)
        return (n * seen + imagined * 2 * self._longer) / (n + imagined) - 2

    @property
    def skewness(self) -> float:
        """Skewness of single judgments less the control."""
        second, third, _ = self.judged_apart
        return float(third.mean() / max(float(second.mean()), 1e-9) ** 1.5)

    @property
    def _longer(self) -> float:
        """How many times as uncertain squares are as those of normal scores, by the skewness of outputs."""
        residual = self.around(self.mean - self.control)
        squares = np.bincount(self.system, residual**2)
        spread = np.sqrt(squares / np.maximum(np.bincount(self.system) - 1, 1))[self.system]
        scaled = np.divide(residual, spread, out=np.zeros_like(residual), where=spread > 0)
        skewness = float(np.mean(scaled**3) / max(float(np.mean(scaled**2)), 1e-9) ** 1.5)
        # Of n normal scores the squared skewness is about 6 / n.
        return 1 + _SKEWED * max(skewness**2 - 6 / len(scaled), 0.0)
