r"""What an interval would have cost by plain means, and which device saved how much.

A plain mean of :math:`m` judgments drawn with replacement, with the spread that the :math:`n` judgments at hand
show, has an interval of half-width

.. math:: H(m) = t_{\nu m / n} \, s \sqrt{n / m},

where :math:`s` is its standard error at :math:`m = n` and :math:`\nu` the degrees of freedom of that. Its raters grow in
number with its judgments. The judgments that an interval of half-width :math:`h` is worth are :math:`H^{-1}(h)`. Devices are
added one after the other; what each adds to this number is what it saved, so that all add up to the whole.
Derived in docs/methods/ledger.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

__all__ = ["DEVICES", "Ledger", "PlainInterval", "mean_ledger", "rough_ledger", "total_ledger"]

# What may save judgments, in the order in which it is added.
DEVICES = (
    *("repeats", "identity", "pairing", "spread", "control", "raters", "other_systems"),
    *("without_replacement", "sharing", "race"),
)
# An interval that is worth more than this many times its judgments has no width to speak of.
_MOST = 1e9
# A ledger is rough where the standard deviation of judgments has a relative error above this.
_GREATEST_DOUBT = 0.25


@dataclass(frozen=True)
class Ledger:
    """Judgments that plain means would need for an interval, those used, and what saved the rest.

    Attributes
    ----------
    plain : float
        Judgments, drawn with replacement, after which a plain mean has an interval as long.
    used : float
        Judgments that were paid for; one that counts for k systems is 1/k of each.
    saved : dict of str to float
        Judgments that each device saved, by its name in `DEVICES`; negative where it cost some. They
        add up to `plain` less `used`.
    """

    plain: float
    used: float
    saved: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return {"plain": self.plain, "used": self.used, "saved": self.saved}


@dataclass(frozen=True)
class PlainInterval:
    """The interval of a plain mean of judgments that were drawn with replacement.

    Attributes
    ----------
    n : int
        Judgments that it rests on.
    standard_error, degrees_of_freedom : float
        Of the mean of these judgments.
    level : float
        Confidence level.
    """

    n: int
    standard_error: float
    degrees_of_freedom: float
    level: float

    def half_width(self, m: float) -> float:
        """Return the half-width that m judgments would have."""
        freedom = max(self.degrees_of_freedom * m / self.n, 1.0)
        reach = float(stdtrit(freedom, (1 + self.level) / 2))
        return reach * self.standard_error * float(np.sqrt(self.n / m))

    def judgments(self, half_width: float) -> float:
        """Return how many judgments have this half-width; infinite where none do."""
        from scipy.optimize import brentq  # noqa: PLC0415 - keeps the start of commands light

        least, most = 1e-3, _MOST * self.n
        if not self.half_width(most) < half_width < self.half_width(least):
            return np.inf

        def excess(log: float) -> float:
            return self.half_width(float(np.exp(log))) / half_width - 1

        return float(np.exp(brentq(excess, np.log(least), np.log(most))))

    def ledger(
        self, stages: Sequence[tuple[str, float]], *, used: float | None = None
    ) -> Ledger | None:
        """Return what each device saved.

        Parameters
        ----------
        stages : sequence of (str, float)
            Devices in the order in which they are added, with the half-width from then on.
        used : float, optional
            Judgments that were paid for, where some count for several systems; all by default.

        Returns
        -------
        Ledger or None
            None where an interval has no width.
        """
        worth, saved, last = float(self.n), {}, np.nan
        for name, half_width in stages:
            # Devices that do not apply leave the half-width as it was, up to rounding.
            same = abs(half_width - last) <= 1e-12 * half_width
            now = worth if same else self.judgments(half_width)
            if not np.isfinite(now):
                return None
            saved[name], worth, last = now - worth, now, half_width
        if used is not None and used != self.n:
            saved["sharing"] = self.n - used
        return Ledger(worth, float(self.n if used is None else used), saved)


def rough_ledger(scores: NDArray[np.float64]) -> tuple[str, ...]:
    r"""Return a note where a few judgments with long tails do not show how far scores spread.

    The standard deviation of n judgments with excess kurtosis :math:`\kappa` has the relative error
    :math:`\frac12 \sqrt{(\kappa + 2)/n}`.

    Examples
    --------
    >>> rough_ledger(np.arange(40.0))
    ()
    >>> len(rough_ledger(np.exp(np.arange(20.0))))
    1
    """
    away = scores - scores.mean()
    square = float(np.mean(away**2))
    if square <= 0:
        return ()
    excess = float(np.mean(away**4)) / square**2 - 3
    doubt = float(np.sqrt(max(excess + 2, 0) / len(scores))) / 2
    if doubt <= _GREATEST_DOUBT:
        return ()
    note = (
        f"judgments have long tails, and {len(scores)} of them show their spread to within {doubt:.0%} "
        "only: the interval may be too short, and the ledger is rough; judge more outputs"
    )
    return (note,)


def total_ledger(ledgers: Sequence[Ledger]) -> Ledger:
    """Return the sum of several ledgers."""
    names = [name for name in DEVICES if any(name in one.saved for one in ledgers)]
    saved = {name: sum(one.saved.get(name, 0.0) for one in ledgers) for name in names}
    return Ledger(
        sum(one.plain for one in ledgers),
        sum(one.used for one in ledgers),
        saved,
    )


def mean_ledger(ledgers: Sequence[Ledger]) -> Ledger:
    """Return the mean of several ledgers."""
    whole, n = total_ledger(ledgers), len(ledgers)
    saved = {name: value / n for name, value in whole.saved.items()}
    return Ledger(whole.plain / n, whole.used / n, saved)
