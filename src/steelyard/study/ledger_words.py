"""What was saved, in words: judgments and money against plain means."""

from steelyard.estimate.ledger import Ledger

__all__ = ["ledger_in_words"]

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
