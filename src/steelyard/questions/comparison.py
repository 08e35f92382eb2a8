"""The comparison of systems under one prompt, as it is shown and published."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.html_table import html_table
from steelyard.questions.about import About
from steelyard.questions.answer import answer_sentence
from steelyard.questions.pairs import PairDifference
from steelyard.questions.ranks import Rank

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison", "step_note"]

_STEPS = (
    "verdicts go by steps, from the clearest pair down; so a pair may be decided although its interval "
    "for all pairs together holds 0"
)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How the systems of a campaign compare under one prompt.

    Attributes
    ----------
    prompt : str
        The prompt.
    slice : str or None
        The slice of the outputs that is compared, or the weights of a mix of slices; None for all.
    level : float
        Confidence level: of each interval, of all simultaneous ones together, and of all ranks.
    about : About
        The outputs and raters that the intervals are about.
    margin : float or None
        Differences within it count as equivalent.
    lower_is_better : bool
        Whether the lower score is the better one.
    pairs : tuple of PairDifference
        The pairs that were asked for.
    ranks : tuple of Rank
        Best estimate first; none unless all pairs were compared.
    groups : tuple of tuple of str
        Systems that are not told apart from one group to the next, best first.
    notes : tuple of str
        What a reader must know.
    sentence : str
        The answer: which system is better, by how much, and what cannot be told.
    """

    prompt: str
    slice: str | None = None
    level: float
    about: About
    margin: float | None
    lower_is_better: bool = False
    pairs: tuple[PairDifference, ...]
    ranks: tuple[Rank, ...]
    groups: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    sentence: str = field(default="", init=False)

    @property
    def place(self) -> str:
        """The prompt, and the slice if there is one, in words."""
        return f"prompt {self.prompt}" + ("" if self.slice is None else f", {self.slice}")

    def __post_init__(self) -> None:
        """Say the answer in one sentence."""
        object.__setattr__(self, "sentence", self._sentence())

    def _sentence(self) -> str:
        return answer_sentence(self.pairs, [rank.system for rank in self.ranks], self.level)

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return asdict(self) | {
            "pairs": [asdict(pair) for pair in self.pairs],
            "ranks": [asdict(rank) for rank in self.ranks],
            "groups": [list(group) for group in self.groups],
            "notes": list(self.notes),
        }

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the differences of all pairs; of more than 20 pairs, the ranks or strengths of systems.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # matplotlib is slow to load
        from steelyard.questions.plots import plot_comparisons  # noqa: PLC0415

        return plot_comparisons([self], ax)

    def __repr__(self) -> str:
        said = f"; {self.sentence}" if self.sentence else ""
        return f"<{type(self).__name__}, {self.place}: {len(self.pairs)} pairs{said}>"

    def _repr_html_(self) -> str:
        names = ("a", "b", "a - b", f"{self.level:.0%} interval", "all together", "verdict")
        rows = [
            (
                *(pair.a, pair.b, f"{pair.difference:+.3f}"),
                f"[{pair.low:.3f}, {pair.high:.3f}]",
                f"[{pair.simultaneous_low:.3f}, {pair.simultaneous_high:.3f}]",
                pair.words,
            )
            for pair in self.pairs
        ]
        below = [line for line in (self.sentence, f"about {self.about}", *self.notes) if line]
        return html_table(names, rows, right=(False, False, True, True, True, False), below=below)


def step_note(results: Sequence[PairDifference], level: float) -> tuple[str, ...]:
    """Return a note on pairs that are decided although their interval for all pairs holds 0."""
    if any(
        pair.better(level) and pair.simultaneous_low < 0 < pair.simultaneous_high
        for pair in results
    ):
        return (_STEPS,)
    return ()
