"""What is said in words about preferences: the effect of the order, and circles."""

from collections.abc import Collection, Sequence
from itertools import permutations

import numpy as np

from steelyard.questions.order_effect import OrderEffect

__all__ = ["balance_note", "circle_note", "order_sentence"]

_UNKNOWN = (
    "which output was shown first is not known (column first_system), so its effect is not tested"
)


def circle_note(systems: Sequence[str], better: Collection[tuple[str, str]]) -> tuple[str, ...]:
    """Name a circle of three systems of which each is better than the next, if there is one."""
    for a, b, c in permutations(sorted(systems), 3):
        if (a, b) in better and (b, c) in better and (c, a) in better:
            note = (
                f"preferences go round in a circle: {a} is preferred to {b}, {b} to {c}, and {c} to {a}. "
                "One strength for each system cannot show that: read the pairs"
            )
            return (note,)
    return ()


def order_sentence(found: OrderEffect | None, level: float) -> str:
    """Say whether the output that is shown first is preferred for it, and whether orders were balanced."""
    if found is None:
        return f"Order: {_UNKNOWN}."
    balance = (
        "either system was shown first about equally often"
        if found.balanced
        else "one system was shown first more often than chance brings"
    )
    if np.isnan(found.effect):
        return (
            "Order: the same system of each pair was always shown first, so the effect of the order cannot "
            "be separated from the preference: change sides at random."
        )
    shown = f"{found.effect:+.3f} [{found.low:.3f}, {found.high:.3f}], p = {found.p_value:.2g}"
    clear = found.p_value < 1 - level
    verdict = (
        f"the output shown {'first' if found.effect > 0 else 'second'} is preferred more often"
        if clear
        else "no effect of the order is shown"
    )
    return f"Order: {verdict} (wins minus losses of the first {shown}); {balance}."


def balance_note(found: OrderEffect | None, pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Say by how much an unbalanced order moved the judgments of a pair, worst pair first."""
    if found is None or found.balanced:
        return ()
    shares = np.nan_to_num(np.array(found.first_shares), nan=0.5)
    worst = int(np.argmax(np.abs(shares - 0.5)))
    a, b = pairs[worst]
    often = f"{a} was shown first in {shares[worst]:.0%} of judgments"
    if not np.isfinite(found.effect):
        return (f"the order was not balanced: against {b}, {often}",)
    shift = found.effect * (2 * shares[worst] - 1)
    moved = f"that moved its wins minus losses by about {shift:+.2g}"
    return (
        f"the order was not balanced: against {b}, {often}; {moved}, which the difference is corrected for",
    )
