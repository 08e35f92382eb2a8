"""Which system is better: the matrix of differences, and every pair in numbers."""

from dataclasses import dataclass

from steelyard.numbers import interval, level_name, p_value, percent, signed
from steelyard.questions.answer import difference_decimals
from steelyard.questions.comparison import Comparison
from steelyard.questions.pairs import PairDifference
from steelyard.questions.preferences import PreferenceComparison, PreferencePair
from steelyard.report.copyable import copyable_pairs
from steelyard.report.difference_matrix import (
    Matrix,
    difference_matrix,
)
from steelyard.report.tables import Table

__all__ = ["ComparisonPart", "comparison_part", "pairs_table"]

# More pairs than this are folded away: the matrix shows them all.
_OPEN_PAIRS = 10
_OPEN_NOTES = 5


@dataclass(frozen=True)
class ComparisonPart:
    """What the page shows of a comparison.

    Attributes
    ----------
    matrix : Matrix or None
        All differences, for three systems or more.
    pairs : Table
        Every pair in numbers.
    fold_pairs, fold_notes : bool
        Whether there are so many that they are folded away.
    together : str
        What the verdicts hold for.
    copyable : str
        The differences with all their digits.
    notes : tuple of str
        What a reader must know.
    """

    matrix: Matrix | None
    pairs: Table
    fold_pairs: bool
    fold_notes: bool
    together: str
    copyable: str
    notes: tuple[str, ...]


def comparison_part(found: Comparison) -> ComparisonPart:
    """Return the part of the page on a comparison.

    Parameters
    ----------
    found : Comparison
        What `Study.compare` found.
    """
    strengths = found.strengths if isinstance(found, PreferenceComparison) else ()
    order = [one.system for one in found.ranks or strengths] or list(
        dict.fromkeys(name for pair in found.pairs for name in (pair.a, pair.b))
    )
    level = level_name(found.level)
    several = len(found.pairs) > 1
    return ComparisonPart(
        matrix=difference_matrix(found, order) if several else None,
        pairs=pairs_table(found, order),
        fold_pairs=len(found.pairs) > _OPEN_PAIRS,
        fold_notes=len(found.notes) > _OPEN_NOTES,
        together=f"for all {len(found.pairs)} pairs together at {level}"
        if several
        else f"at {level}",
        copyable=copyable_pairs(found),
        notes=found.notes,
    )


def pairs_table(found: Comparison, order: list[str]) -> Table:
    """Return every pair in numbers, the better estimate first, the clearest pairs on top."""
    decimals = difference_decimals(found.pairs)
    place = {system: number for number, system in enumerate(order)}
    several = len(found.pairs) > 1
    preferred = isinstance(found, PreferenceComparison)
    rows = []
    for pair in found.pairs:
        turned = place[pair.a] > place[pair.b]
        sign = -1 if turned else 1
        names = (pair.b, pair.a) if turned else (pair.a, pair.b)
        low, high = sorted((sign * pair.low, sign * pair.high))
        least, most = sorted((sign * pair.simultaneous_low, sign * pair.simultaneous_high))
        cells = (
            f"{names[0]} \N{MINUS SIGN} {names[1]}",
            *_shares(pair, turned=turned),
            signed(sign * pair.difference, decimals),
            *([interval(low, high, decimals)] if not several else []),
            *([interval(least, most, decimals)] if several else []),
            p_value(pair.p_value),
            pair.words,
            _items(pair),
        )
        rows.append((pair.p_value, -abs(pair.difference), cells))
    return Table(
        "Wins, ties and losses" if preferred else "Differences of mean human scores",
        (
            "pair",
            *(("wins", "ties", "losses") if preferred else ()),
            "wins minus losses" if preferred else "difference",
            f"{level_name(found.level)} interval{', all pairs' if several else ''}",
            "p",
            "verdict",
            "items judged for both",
        ),
        tuple(cells for *_, cells in sorted(rows)),
    )


def _shares(pair: PairDifference, *, turned: bool) -> list[str]:
    if not isinstance(pair, PreferencePair):
        return []
    shares = [percent(one.value) for one in (pair.win, pair.tie, pair.loss)]
    return shares[::-1] if turned else shares


def _items(pair: PairDifference) -> str:
    same = f" + {pair.identical_items:,} identical" if pair.identical_items else ""
    return f"{pair.n_items:,}{same}"
