"""Matrix of differences: every system against every other, in one table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from steelyard.names import shown_names
from steelyard.numbers import interval, signed
from steelyard.questions.answer import difference_decimals
from steelyard.questions.comparison import Comparison
from steelyard.questions.pairs import PairDifference

__all__ = ["Difference", "Matrix", "difference_matrix"]

Kind = Literal["better", "worse", "equal", "open"]


@dataclass(frozen=True)
class Difference:
    """A cell of the matrix: the system of its row minus that of its column.

    Attributes
    ----------
    text : str
        The difference.
    kind : {"better", "worse", "equal", "open"}
        The verdict on the system of the row.
    words : str
        The whole of it, for whoever points at the cell.
    """

    text: str
    kind: Kind
    words: str


@dataclass(frozen=True)
class Matrix:
    """Differences of all systems.

    Attributes
    ----------
    systems : tuple of str
        Rows and columns, best estimate first.
    names : tuple of str
        The same, short enough for a table.
    rows : tuple of tuples
        The cells; None where a system meets itself, or was not compared.
    """

    systems: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[tuple[Difference | None, ...], ...]


def difference_matrix(found: Comparison, systems: Sequence[str]) -> Matrix:
    """Return all differences of a comparison as a matrix.

    Parameters
    ----------
    found : Comparison
        The differences.
    systems : sequence of str
        Rows and columns, in this order.
    """
    decimals = difference_decimals(found.pairs)
    cells: dict[tuple[str, str], Difference] = {}
    for pair in found.pairs:
        for row, column, sign in ((pair.a, pair.b, 1), (pair.b, pair.a, -1)):
            cells[row, column] = _cell(pair, row, column, sign, decimals)
    return Matrix(
        tuple(systems),
        tuple(shown_names(systems)),
        tuple(tuple(cells.get((row, column)) for column in systems) for row in systems),
    )


def _cell(pair: PairDifference, row: str, column: str, sign: int, decimals: int) -> Difference:
    low, high = sorted((sign * pair.simultaneous_low, sign * pair.simultaneous_high))
    text = signed(sign * pair.difference, decimals)
    words = f"{row} minus {column}: {text} {interval(low, high, decimals)}, {pair.words}"
    return Difference(text, _kind(pair, row), words)


def _kind(pair: PairDifference, row: str) -> Kind:
    if pair.verdict == "equivalent":
        return "equal"
    if pair.verdict == "undecided":
        return "open"
    return "better" if row == (pair.a if pair.verdict == "a" else pair.b) else "worse"
