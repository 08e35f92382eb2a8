"""What the same intervals would have cost with plain means."""

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.questions.estimates import Estimate

__all__ = ["Worth", "worth"]


@dataclass(frozen=True)
class Worth:
    """The judgments that were used, and those that plain means would have needed.

    Attributes
    ----------
    used : int
        Judgments that were used.
    plain : float
        Judgments after which plain means have intervals as long.
    several : bool
        Whether it is about the intervals of several systems.
    """

    used: int
    plain: float
    several: bool

    @property
    def share(self) -> float:
        """The used judgments as a share of those that plain means would have needed."""
        return self.used / self.plain

    @property
    def sentence(self) -> str:
        """Both in one sentence."""
        what = "These intervals" if self.several else "This interval"
        return (
            f"{what} would have cost about {self.plain:,.0f} judgments with plain means; {self.used:,} were "
            "used."
        )

    def priced(self, price: float | None) -> str:
        """Return the sentence, in money too where the price of a judgment is known."""
        if price is None:
            return self.sentence
        money = f" ({price * self.used:,.2f} instead of {price * self.plain:,.2f})"
        return f"{self.sentence[:-1]}{money}."


def worth(found: Sequence[Estimate], judgments: int | None = None) -> Worth | None:
    """Return how many judgments plain means would need for the intervals of some systems.

    The variance of a plain mean falls with the number of its judgments, so that an interval as narrow
    needs `data_efficiency` times as many.

    Parameters
    ----------
    found : sequence of Estimate
        Estimates under one prompt.
    judgments : int, optional
        Judgments of these systems; fewer than those of each where some count for several.

    Returns
    -------
    Worth or None
        None where there are no estimates.
    """
    counted = sum(one.n_judgments for one in found)
    if not counted:
        return None
    used = counted if judgments is None else min(counted, judgments)
    times = sum(one.n_judgments * one.data_efficiency for one in found) / counted
    return Worth(used, used * times, several=len(found) > 1)
