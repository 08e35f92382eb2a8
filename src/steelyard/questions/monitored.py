"""What is known of a collection under way, as it is shown and published."""

from dataclasses import asdict, dataclass
from typing import Any

from steelyard.questions.about import About
from steelyard.questions.pairs import PairDifference

__all__ = ["Monitored", "MonitoredSystem"]


@dataclass(frozen=True, kw_only=True)
class MonitoredSystem:
    """One system of a collection under way; its interval holds at all looks.

    Attributes
    ----------
    system : str
        The system.
    estimate, standard_error, low, high : float or None
        The mean as `estimate` gives it, with the wider interval; None where only differences are known.
    rank_low, rank_high : int or None
        The ranks that the system may have, 1 for the best; None with one system.
    n_outputs, n_judgments, pool_size : int
        Judged outputs, judgments of them, and outputs of the pool.
    enough : bool
        Whether the goal needs no more judgments of it.
    more_judgments : int or None
        About how many more it needs; None if nobody can say.
    """

    system: str
    estimate: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    rank_low: int | None
    rank_high: int | None
    n_outputs: int
    n_judgments: int
    pool_size: int
    enough: bool
    more_judgments: int | None

    @property
    def half_width(self) -> float | None:
        """Half the length of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True, kw_only=True)
class Monitored:
    """Whether the judgments under one prompt are enough.

    Attributes
    ----------
    prompt : str
        The prompt.
    slice : str or None
        The slice of the outputs; None for all.
    goal : str
        What is to be known; "none" without a goal.
    reached : bool
        Whether it is known, so that collection may stop.
    level : float
        Probability with which an interval, and all verdicts together, hold at all looks.
    about : About
        The outputs and raters that the intervals are about.
    planned : float or None
        Judgments that are planned of each system, where intervals are tightest.
    metrics : tuple of str
        The metrics that were used.
    answer : str
        What is known, in one sentence; empty with one system.
    systems : tuple of MonitoredSystem
        Best estimate first.
    pairs : tuple of PairDifference
        Differences as `compare` gives them, with wider intervals.
    n_judgments : int
        Judgments of all systems.
    more_judgments : int or None
        About how many more are needed; None if nobody can say.
    left_to_pay : float or None
        Their price, where the price of a judgment is known.
    notes : tuple of str
        What a reader must know.
    """

    prompt: str
    slice: str | None
    goal: str
    reached: bool
    level: float
    about: About
    planned: float | None
    metrics: tuple[str, ...]
    answer: str
    systems: tuple[MonitoredSystem, ...]
    pairs: tuple[PairDifference, ...]
    n_judgments: int
    more_judgments: int | None
    left_to_pay: float | None
    notes: tuple[str, ...]

    @property
    def enough(self) -> tuple[str, ...]:
        """The systems that need no more judgments."""
        return tuple(one.system for one in self.systems if one.enough)

    @property
    def sentence(self) -> str:
        """Whether to stop, in one sentence."""
        if self.goal == "none":
            return "no goal was given; these intervals hold however often you look"
        if self.reached:
            return f"stop: the goal ({self.goal}) is reached"
        if self.more_judgments is None:
            return f"go on: the goal ({self.goal}) is not reached, and how many more it takes cannot be told yet"
        pay = "" if self.left_to_pay is None else f", for {self.left_to_pay:,.2f}"
        return f"go on: about {self.more_judgments:,} more judgments to the goal ({self.goal}){pay}"

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return asdict(self) | {
            "metrics": list(self.metrics),
            "systems": [asdict(one) for one in self.systems],
            "pairs": [asdict(one) for one in self.pairs],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"<Monitored, prompt {self.prompt}: {self.sentence}>"
