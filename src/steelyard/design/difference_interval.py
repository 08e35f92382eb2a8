"""The half-width that `compare` will show for planned judgments of two systems on the same items."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import stdtrit

from steelyard.design.assumptions import Assumptions
from steelyard.design.shown_interval import Judging
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.repeats import FEW_REPEATS

__all__ = ["DifferenceInterval", "Pair", "PairRaters"]

# Items below which `compare` does not correct for the finite pool.
_FEW_ITEMS = 5


@dataclass(frozen=True, kw_only=True)
class PairRaters:
    """The raters of a pair of systems, where they are a sample.

    Attributes
    ----------
    number : int
        Number of raters.
    leniency : float
        Variance between raters.
    rest : float
        Variance of one rater's judgments of one system.
    apart : float
        Share of leniency that does not cancel in a difference: 0 if the same raters judge both
        outputs of an item, 1 if others do.
    """

    number: int
    leniency: float
    rest: float
    apart: float


@dataclass(frozen=True, kw_only=True)
class Pair:
    """What is known of two systems that are compared on the same items.

    Attributes
    ----------
    identical : float
        Share of items on which both gave the same output; they need no judgment.
    raters : PairRaters or None
        Raters as a sample; None for exactly the raters at hand.
    """

    identical: float = 0.0
    raters: PairRaters | None = None

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

    def least(self, n_metrics: int) -> int:  # noqa: ARG002 - the learned control takes any number
        """Return the fewest pairs that give an interval worth planning."""
        return _FEW_ITEMS

    def half_width(self, assumed: Assumptions, n_metrics: int, judging: Judging, n: int) -> float:
        """Return the half-width to expect from n pairs on which the two differ."""
        parts = self._parts(assumed, n_metrics, judging, n)
        repeated = 2 * judging.repeated(n)
        known = self.rater_variance_given or repeated >= FEW_REPEATS
        value, doubt = parts.outputs + parts.raters, 2 * parts.outputs**2 / (n - 1)
        between = 0.0
        if self.drawn_from is not None and known:
            # `compare` takes off the noise of single outputs, leniency included.
            between = max(parts.left - parts.cancelled, 0.0) / self.drawn_from
        if between > 0:
            assert self.drawn_from is not None
            again = 2 * n * (judging.each - 1) + 2 * judging.second
            noise = (parts.noise + parts.cancelled) / self.drawn_from
            doubt *= (1 - n / self.drawn_from) ** 2
            doubt += 0.0 if self.rater_variance_given else noise**2 * 2 / again
        value, doubt = value - between, doubt + parts.raters_doubt
        freedom = 2 * value**2 / doubt if doubt > 0 else np.inf
        return float(self._share * stdtrit(freedom, (1 + self.level) / 2) * np.sqrt(value))

    def error(self, assumed: Assumptions, n_metrics: int, judging: Judging, n: int) -> float:
        """Return the standard error, also where the interval leaves out the finite pool."""
        parts = self._parts(assumed, n_metrics, judging, n)
        value = parts.outputs + parts.raters
        if self.drawn_from is not None:
            value -= parts.left / self.drawn_from
        return float(self._share * np.sqrt(max(value, 0.0)))

    def _parts(self, assumed: Assumptions, n_metrics: int, judging: Judging, n: int) -> "_Parts":
        once = judging.noise(n)
        item, noise = assumed.item_variance.value, assumed.rater_variance.value * once
        explained = item * assumed.correlation.value**2
        explained *= _learned(explained / (item + noise), n_metrics, n)
        left = item - explained
        raters = self.pair.raters
        if raters is None:
            return _Parts(left=left, noise=noise, outputs=(left + noise) / n)
        lenient = min(2 * raters.apart * raters.leniency * once, noise)
        each = 2 * n / once / raters.number
        taken, doubt = _leniency_taken(raters, each)
        # Taking leniency out moves weight between outputs, as far as they have one judgment only.
        single = raters.apart * (1 - judging.repeated(n) / n)
        more = 1 + single * taken**2 / each
        left_over = lenient * (1 - taken) ** 2 / n
        return _Parts(
            left=left,
            noise=noise,
            outputs=(left + noise - lenient) / n * more,
            raters=left_over,
            raters_doubt=left_over**2 * doubt,
            cancelled=2 * (1 - raters.apart) * raters.leniency * once,
        )


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What a difference varies by.

    Attributes
    ----------
    left, noise : float
        Variance over items of what the control leaves of the difference, and that of judgments.
    outputs, raters, raters_doubt : float
        Error variance without and from leniency, and the variance of the latter's estimate.
    cancelled : float
        Leniency in judgments of single outputs that cancels in differences.
    """

    left: float
    noise: float
    outputs: float
    raters: float = 0.0
    raters_doubt: float = 0.0
    cancelled: float = 0.0


def _learned(explained: float, n_metrics: int, n: int) -> float:
    """Return the share of what metrics explain that a control learned from n pairs takes out.

    Fitted to simulation: the learned control is slow to trust few items.
    """
    if explained >= 1:
        return 1.0
    signal = n * explained / (1 - explained)
    return signal / (signal + 2 + np.log2(1 + n_metrics)) if signal > 0 else 0.0


def _leniency_taken(raters: PairRaters, each: float) -> tuple[float, float]:
    """Return the share of leniency that is taken out, and the doubt about the variance of all.

    It is predicted from `each` judgments by a rater with reliability b / (b + v / each), and
    trusted as in `Leniency.trust`. The doubt is the squared relative error of that variance.
    """
    if raters.leniency <= 0:
        return 0.0, 0.0
    noise, half = raters.rest / each, (raters.number - 1) / 2
    reliable = raters.leniency / (raters.leniency + noise)
    trust = max(1 - noise**2 / half / raters.leniency**2, 0.0)
    doubt = ((raters.leniency + noise) / raters.leniency) ** 2 / half
    return reliable * trust, doubt
