"""What the same intervals would have cost with plain means."""

from collections.abc import Sequence

from steelyard.questions.estimates import Estimate

__all__ = ["worth_in_words"]


def worth_in_words(found: Sequence[Estimate], *, price: float | None = None) -> str | None:
    """Say how many judgments plain means would need for the intervals of some systems.

    The variance of a plain mean falls with the number of its judgments, so that an interval as narrow
    needs `data_efficiency` times as many.

    Parameters
    ----------
    found : sequence of Estimate
        Estimates under one prompt.
    price : float, optional
        Price of a judgment.

    Returns
    -------
    str or None
        One sentence; None where there are no estimates.
    """
    if not found:
        return None
    used = sum(one.n_judgments for one in found)
    plain = sum(one.n_judgments * one.data_efficiency for one in found)
    money = "" if price is None else f" (price {price * plain:,.2f} against {price * used:,.2f})"
    what = "this interval" if len(found) == 1 else "these intervals"
    return f"for {what} plain means would need about {plain:,.0f} judgments, and {used:,} were used{money}"
