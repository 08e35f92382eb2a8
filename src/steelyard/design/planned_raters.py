"""The raters of a planned campaign, where they are a sample."""

from dataclasses import dataclass

import numpy as np

from steelyard.design.later_sample import Floats, Number, fallen_out

__all__ = ["PlannedRaters"]


@dataclass(frozen=True, kw_only=True)
class PlannedRaters:
    """Raters as a sample; their variance is the assumptions' `leniency`.

    Attributes
    ----------
    number : float
        Number of raters; fewer if some judge much more than others.
    rest : float
        Variance of one rater's judgments of one system.
    apart : float
        Share of leniency that does not cancel in a difference: 0 if the same raters judge both
        outputs of an item, 1 if others do, and for a mean.
    same : bool
        Whether `leniency` is the variance between just these raters, which a campaign finds but for
        noise; otherwise they are drawn anew.
    """

    number: float
    rest: float
    apart: float = 1.0
    same: bool = False

    def taken(self, leniency: Number, each: float) -> Number:
        """Return the share of leniency that is taken out, from `each` judgments by a rater.

        It is predicted with reliability b / (b + v / each), and trusted as far as the variance
        between raters will be known; `Leniency.trust` goes by what holds between systems.
        """
        noise, half = self.rest / each, (self.number - 1) / 2
        leniency = np.maximum(leniency, 1e-9 * noise)
        trust = np.maximum(1 - (noise / leniency) ** 2 / half, 0.0)
        return np.asarray(leniency / (leniency + noise) * trust)

    def estimated(self, leniency: Number, each: float, luck: Floats | None) -> Number:
        """Return the leniency that a campaign will find, as luck will have it."""
        noise = self.rest / each
        freedom: Number = self.number - 1
        if self.same:
            freedom = freedom * (leniency + noise) ** 2 / (noise**2 + 2 * noise * leniency)
        found = (leniency + noise) * fallen_out(luck, freedom)
        return np.asarray(np.maximum(found - noise, 0.0))

    def doubt(self, leniency: Number, each: float) -> Number:
        """Return the squared relative error of an estimated leniency."""
        noise, half = self.rest / each, (self.number - 1) / 2
        leniency = np.maximum(leniency, 1e-9 * noise)
        return np.asarray((1 + noise / leniency) ** 2 / half)
