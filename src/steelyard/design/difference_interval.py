"""The half-width that `compare` will show for planned judgments of two systems on the same items."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from steelyard.design.assumptions import Values
from steelyard.design.later_sample import Luck, Number, fallen_out, student_reach, variance_freedom
from steelyard.design.learned_share import left_variance
from steelyard.design.planned_raters import PlannedRaters
from steelyard.design.shown_interval import Judging
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.repeats import FEW_REPEATS

__all__ = ["DifferenceInterval", "Pair"]

# Items below which `compare` does not correct for the finite pool.
_FEW_ITEMS = 5


@dataclass(frozen=True, kw_only=True)
class Pair:
    """What is known of two systems that are compared on the same items.

    Attributes
    ----------
    identical : float
        Share of items on which both gave the same output; they need no judgment.
    raters : PlannedRaters or None
        Raters as a sample; None for exactly the raters at hand.
    tails : float
        Excess kurtosis of what the control leaves of differences.
    """

    identical: float = 0.0
    raters: PlannedRaters | None = None
    tails: float = 0.0

    def __post_init__(self) -> None:
        """Check the share."""
        if not 0 <= self.identical < 1:
            raise InvalidArgumentError(
                f"`identical` must be at least 0 and below 1; got {self.identical:g}"
                + (": nothing needs to be judged" if self.identical == 1 else "")
            )

    def notes(self, items: int | None) -> tuple[str, ...]:
        """Say which of so many items count as pairs."""
        if not self.identical:
            return ()
        share = f"{self.identical:.0%} of items"
        if items is not None:
            share = f"{round(self.identical * items)} of {items} items"
        why = "which differ by exactly zero and need no judgment"
        pairs = "pairs are of the others, as `steelyard sample --pair` draws them"
        return (f"{share} have identical outputs, {why}: {pairs}",)


@dataclass(frozen=True, kw_only=True)
class DifferenceInterval:
    """The interval of a difference by the learned control; see docs/methods/planning.md."""

    systems: ClassVar[int] = 2

    items: int | None
    pair: Pair
    rater_variance_given: bool
    level: float

    @property
    def drawn_from(self) -> int | None:
        """Number of items on which the two differ."""
        return None if self.items is None else round(self._share * self.items)

    @property
    def _share(self) -> float:
        return 1 - self.pair.identical

    @property
    def raters(self) -> PlannedRaters | None:
        """Raters as a sample."""
        return self.pair.raters

    def least(self) -> int:
        """Return the fewest pairs that give an interval worth planning."""
        return _FEW_ITEMS

    def half_width(
        self, values: Values, n_metrics: int, judging: Judging, n: int, luck: Luck | None = None
    ) -> Number:
        """Return the half-width to expect from n pairs on which the two differ, or what luck will have."""
        parts = self._parts(values, n_metrics, judging, n, luck)
        repeated = 2 * judging.repeated(n)
        known = self.rater_variance_given or repeated >= FEW_REPEATS
        value, doubt = parts.outputs + parts.raters, 2 * parts.outputs**2 / (n - 1)
        if self.drawn_from is not None and known:
            # `compare` takes off the noise of single outputs, leniency included.
            between = np.maximum(parts.left - parts.cancelled, 0.0) / self.drawn_from
            again = 2 * n * (judging.each - 1) + 2 * judging.second
            noise = (parts.noise + parts.cancelled) / self.drawn_from
            less = doubt * (1 - n / self.drawn_from) ** 2
            less = less + (0.0 if self.rater_variance_given else noise**2 * 2 / again)
            doubt = np.where(between > 0, less, doubt)
            value = value - between
        doubt = doubt + parts.raters_doubt
        freedom = np.where(doubt > 0, 2 * value**2 / np.maximum(doubt, 1e-300), np.inf)[()]
        return np.asarray(self._share * student_reach(freedom, self.level) * np.sqrt(value))

    def error(self, values: Values, n_metrics: int, judging: Judging, n: int) -> Number:
        """Return the standard error, also where the interval leaves out the finite pool."""
        parts = self._parts(values, n_metrics, judging, n, None)
        value = parts.outputs + parts.raters
        if self.drawn_from is not None:
            value = value - parts.left / self.drawn_from
        return np.asarray(self._share * np.sqrt(np.maximum(value, 0.0)))

    def _parts(
        self, values: Values, n_metrics: int, judging: Judging, n: int, luck: Luck | None
    ) -> "_Parts":
        once = judging.noise(n)
        left, noise = left_variance(values, n_metrics, noise=once, n=n), values.rater * once
        freedom = variance_freedom(n - 1.0, n, self.pair.tails)
        fallen = fallen_out(None if luck is None else luck.outputs, freedom)
        raters = self.pair.raters
        if raters is None:
            outputs = (left + noise) / n
            # What luck adds to the spread is taken for differences between items.
            more = (fallen - 1) * n * outputs
            return _Parts(left=left + more, noise=noise, outputs=outputs * fallen)
        lenient = np.minimum(2 * raters.apart * values.leniency * once, noise)
        each = 2 * n / once / raters.number
        taken = raters.taken(values.leniency, each)
        # Taking leniency out moves weight between outputs, as far as they have one judgment only.
        single = raters.apart * (1 - judging.repeated(n) / n)
        more = 1 + single * taken**2 / each
        found = raters.estimated(values.leniency, each, None if luck is None else luck.raters)
        left_over = np.minimum(2 * raters.apart * found * once, noise) * (1 - taken) ** 2 / n
        outputs = (left + noise - lenient) / n * more
        return _Parts(
            left=left + (fallen - 1) * n * outputs,
            noise=noise,
            outputs=outputs * fallen,
            raters=left_over,
            raters_doubt=left_over**2 * raters.doubt(values.leniency, each),
            cancelled=2 * (1 - raters.apart) * values.leniency * once,
        )


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What a difference varies by.

    Attributes
    ----------
    left, noise : float or array
        Variance over items of what the control leaves of the difference, and that of judgments.
    outputs, raters, raters_doubt : float or array
        Error variance without and from leniency, and the variance of the latter's estimate.
    cancelled : float or array
        Leniency in judgments of single outputs that cancels in differences.
    """

    left: Number
    noise: Number
    outputs: Number
    raters: Number = 0.0
    raters_doubt: Number = 0.0
    cancelled: Number = 0.0
