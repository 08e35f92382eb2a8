"""The comparisons of a study: a list that is indexed by prompt."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from steelyard.errors import UnknownNameError
from steelyard.questions.comparison import Comparison
from steelyard.results import ResultTable, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparisons"]

_COLUMNS = (
    *("prompt", "a", "b", "difference", "low", "high", "simultaneous_low", "simultaneous_high"),
    *("p_value", "verdict"),
)


class Comparisons(ResultTable[Comparison]):
    """A list of comparisons, one for each prompt and slice; its table has a row for each pair.

    Beside numbers and slices, a prompt is an index, or a prompt and the name of a slice.
    """

    def __init__(
        self, found: Iterable[Comparison] = (), *, columns: Sequence[str] = _COLUMNS
    ) -> None:
        found = list(found)
        if any(one.slice is not None for one in found) and "slice" not in columns:
            columns = (columns[0], "slice", *columns[1:])
        super().__init__(found, columns=columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know, each note once."""
        return tuple(dict.fromkeys(note for one in self for note in one.notes))

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the differences of all pairs, prompts and slices below each other.

        Of more than 20 pairs under a prompt the ranks that systems may have are drawn instead, or
        their strengths.

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

        return plot_comparisons(self, ax)

    def _named(self, key: str | tuple[str, str]) -> Comparison:
        prompt, part = (key, None) if isinstance(key, str) else key
        found = [one for one in self if one.prompt == prompt and part in {None, one.slice}]
        if len(found) == 1:
            return found[0]
        there = [(one.prompt, one.slice) for one in found or self]
        asked = f"prompt {prompt!r}" + ("" if part is None else f" and slice {part!r}")
        if not found:
            known = "; ".join(dict.fromkeys(", ".join(filter(None, one)) for one in there))
            raise UnknownNameError(f"no comparison has {asked}; there are: {known or 'none'}")
        raise UnknownNameError(
            f"{len(found)} comparisons have {asked}: name the slice too, such as [{prompt!r}, "
            f"{there[0][1]!r}]; there are: {', '.join(str(one) for _, one in there)}"
        )

    def _extent(self) -> str:
        systems = listed(
            "system", (name for one in self for pair in one.pairs for name in (pair.a, pair.b))
        )
        return f": {listed('prompt', (one.prompt for one in self))}; {systems}" if self else ""

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"prompt": one["prompt"], "slice": one["slice"], **pair}
            for one in self.to_dict()
            for pair in one["pairs"]
        ]

    def _below(self) -> tuple[str, ...]:
        said = (f"{one.place}: {one.sentence}" for one in self if one.sentence)
        return (*said, *self.notes)
