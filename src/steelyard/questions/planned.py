"""A plan: what to judge next, what it costs, and how narrow intervals will be."""

from dataclasses import asdict, dataclass
from typing import Any

from steelyard.html_table import html_table

__all__ = ["Case", "Plan", "Spending"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """Judgments that may be made, their price, and the half-width after them.

    Attributes
    ----------
    outputs : int
        Outputs that are judged next, of each system.
    judgments_per_output : float
        Judgments of every judged output; 1.2 gives every fifth a second one.
    raters : int or None
        Raters who make them; None where raters are not known.
    judgments : int
        Further judgments in all.
    cost : float
        Their price.
    half_width : float
        Of the widest interval.
    """

    outputs: int
    judgments_per_output: float
    raters: int | None
    judgments: int
    cost: float
    half_width: float


@dataclass(frozen=True, kw_only=True)
class Spending:
    """The half-width after the same number of judgments, spent in another way."""

    on: str
    judgments: int
    half_width: float


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to judge next for a goal.

    Attributes
    ----------
    goal : str
        The goal in words.
    level, assurance : float
        Confidence level of the intervals, and the probability of reaching the goal.
    made : int
        Judgments that have been made.
    half_width : float or None
        Of the widest interval now; None before the first judgment.
    expected : Case or None
        What reaches the goal in half of all campaigns; None if nothing does.
    assured : Case or None
        What reaches it with the probability `assurance`.
    spending : tuple of Spending
        What the same judgments would give if they were spent otherwise, the best first.
    notes : tuple of str
        What a reader must know.
    """

    goal: str
    level: float
    assurance: float
    made: int
    half_width: float | None
    expected: Case | None
    assured: Case | None
    spending: tuple[Spending, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return asdict(self)

    def __repr__(self) -> str:
        found = "not reached" if self.assured is None else f"{self.assured.judgments:,} judgments"
        return f"<Plan for {self.goal}: {found} with {self.assurance:.0%} assurance>"

    def _repr_html_(self) -> str:
        names = ("", "outputs", "judgments each", "judgments", "price", "half-width")
        cases = {"expected": self.expected, f"{self.assurance:.0%} assurance": self.assured}
        rows = [
            (
                *(name, f"{one.outputs:,}", f"{one.judgments_per_output:g}"),
                *(f"{one.judgments:,}", f"{one.cost:,.2f}", f"{one.half_width:.4g}"),
            )
            for name, one in cases.items()
            if one is not None
        ]
        return html_table(names, rows, right=(False, *[True] * 5), below=(self.goal, *self.notes))
