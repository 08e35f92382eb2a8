"""What a run tells: how far it has come, and what it has done."""

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["ScoreSummary", "ScoringProgress"]


@dataclass(frozen=True, slots=True)
class ScoringProgress:
    """How far the work has come.

    Attributes
    ----------
    rows : int
        Rows scored by this run.
    position, total : int or None
        Place in the outputs and their end, in rows or bytes; None if it is not known.
    """

    rows: int
    position: int | None
    total: int | None


@dataclass(frozen=True, kw_only=True)
class ScoreSummary:
    """What was done.

    Attributes
    ----------
    output : str
        The file or folder that was written.
    rows : int
        Rows in it.
    distinct_pairs : int
        Outputs with their references after equal ones of a batch were merged: those scored.
    metrics : tuple of str
        The columns that were added.
    seconds : float
        Time taken.
    rows_per_second : float
        Rows that this run scored, in a second.
    resumed_from : int
        Rows that an interrupted run had scored already.
    not_scored : int
        Rows that could not be scored and were kept without values.
    problem : str or None
        Why the first of them could not, if this run found it.
    """

    output: str
    rows: int
    distinct_pairs: int
    metrics: tuple[str, ...]
    seconds: float
    rows_per_second: float
    resumed_from: int
    not_scored: int = 0
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON knows them."""
        return asdict(self) | {"metrics": list(self.metrics)}
