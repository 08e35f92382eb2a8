"""What was saved, in words: judgments and money against plain means."""

from collections.abc import Sequence

from steelyard.estimate import Estimate
from steelyard.estimate.ledger import Ledger, total_ledger
from steelyard.study.comparison import Comparison

__all__ = ["ledger_in_words", "means_ledger", "pairs_ledger"]

_DEVICES = {
    "repeats": "second judgments of outputs",
    "pairing": "the same items for both",
    "identity": "identical outputs",
    "spread": "the spread draw",
    "control": "metrics",
    "raters": "raters' leniency taken out",
    "other_systems": "spread known from other systems",
    "without_replacement": "the finite pool",
    "sharing": "texts shared by systems",
    "race": "systems out of the race",
}


def means_ledger(found: Sequence[Estimate], *, price: float | None = None) -> str | None:
    """Say what plain means would need for the intervals of some systems, and what saved it.

    Parameters
    ----------
    found : sequence of Estimate
        Estimates under one prompt.
    price : float, optional
        Price of a judgment.

    Returns
    -------
    str or None
        One sentence; None where no ledger is known.
    """
    known = [one.ledger for one in found if one.ledger is not None]
    if not known:
        return None
    whole = total_ledger(known)
    what = "this interval" if len(known) == 1 else "these intervals"
    return ledger_in_words(whole, what, price=price)


def pairs_ledger(found: Comparison, *, price: float | None = None) -> str | None:
    """Say what plain means would need for the differences, and what saved it.

    Pairs share judgments, so that of several pairs the ratio is told and not the sum.

    Parameters
    ----------
    found : Comparison
        The comparison.
    price : float, optional
        Price of a judgment.
    """
    known = [pair.ledger for pair in found.pairs if pair.ledger is not None]
    if not known:
        return None
    whole = total_ledger(known)
    if len(known) == 1:
        return ledger_in_words(whole, "this difference", price=price)
    times = whole.plain / whole.used
    return (
        f"for these {len(known)} differences plain means would need {times:.2f} times the "
        f"judgments{_devices(whole, of=whole.plain)}"
    )


def ledger_in_words(whole: Ledger, what: str, *, price: float | None = None) -> str:
    """Say what plain means would need for something, and what saved it.

    Parameters
    ----------
    whole : Ledger
        The ledger.
    what : str
        What it is of.
    price : float, optional
        Price of a judgment.
    """
    money = ""
    if price is not None:
        money = f" (price {price * whole.plain:,.2f} against {price * whole.used:,.2f})"
    return (
        f"for {what} plain means would need about {whole.plain:,.0f} judgments, and "
        f"{whole.used:,.0f} were used{money}{_devices(whole)}"
    )


def _devices(whole: Ledger, of: float | None = None) -> str:
    """Return what saved and what cost judgments, in numbers or in shares `of` a whole."""

    def amount(value: float) -> str:
        return f"{value:,.0f}" if of is None else f"{value / of:.0%}"

    least = 0.5 if of is None else 0.005 * of
    saved = [
        f"{_DEVICES[name]} {amount(value)}" for name, value in whole.saved.items() if value >= least
    ]
    cost = [
        f"{_DEVICES[name]} cost {amount(-value)}"
        for name, value in whole.saved.items()
        if value <= -least
    ]
    return "".join(
        f"; {part}" for part in ([f"saved by {', '.join(saved)}"] if saved else []) + cost
    )
