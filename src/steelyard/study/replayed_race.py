"""What replays of a race came to."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from steelyard.design.race import RaceGoal
from steelyard.estimate.ledger import Ledger
from steelyard.results import Results

__all__ = ["COLUMNS", "RaceReplay", "ReplayedSystem"]

COLUMNS = (
    *("prompt", "goal", "margin", "rule", "decided", "wrong", "n_items", "judgments"),
    *("most_judgments", "relative_judgments", "pool_size", "runs"),
)


@dataclass(frozen=True, kw_only=True)
class ReplayedSystem:
    """What became of one system over many replays.

    Attributes
    ----------
    system : str
        Its name.
    estimate : float
        Its mean by all judgments of the campaign.
    judgments : float
        Mean number of its judgments.
    out : float
        Share of replays in which it was let go before the end.
    won : float or None
        With the goal best, the share of replays in which it was named.
    """

    system: str
    estimate: float
    judgments: float
    out: float
    won: float | None


@dataclass(frozen=True, kw_only=True)
class RaceReplay:
    """How many judgments a decision took, over many replays.

    Attributes
    ----------
    prompt : str
        The prompt.
    goal, margin, level
        As in `Study.race`.
    rule : {"race", "fixed design"}
        A race; or all systems on the same number of items, the smallest that decides as often, by
        paired t tests.
    metrics : tuple of str
        Metrics that foretold differences; none in the fixed design.
    method : {"betting", "asymptotic", "t tests"}
        What decides.
    guarantee : {"exact", "asymptotic"}
        Whether the level holds exactly.
    decided : float
        Share of replays in which the goal was reached.
    wrong : float or None
        Share of replays in which anything false was said at any look, of the pool as this replay judged it: what the
        level is about. None for the fixed design.
    other_winner : float or None
        With the goal best, the share in which another system is named than has the best mean by all
        judgments of the campaign.
    n_items, judgments : float
        Mean number of items, and of judgments of all systems.
    most_judgments : float
        What one replay in ten exceeds.
    relative_judgments : float or None
        Judgments over those of the fixed design; None where no fixed design decides as often.
    ledger : Ledger or None
        Of the race: judgments of all systems on all its items, those used, and what letting systems go saved; the
        mean over replays.
    systems : tuple of ReplayedSystem
        Best mean first; empty for the fixed design.
    pool_size, judged_items, runs : int
        Items of the pool, those that were judged for all systems, and replays.
    """

    prompt: str
    goal: RaceGoal
    margin: float | None
    level: float
    rule: Literal["race", "fixed design"]
    metrics: tuple[str, ...]
    method: Literal["betting", "asymptotic", "t tests"]
    guarantee: Literal["exact", "asymptotic"]
    decided: float
    wrong: float | None
    other_winner: float | None
    n_items: float
    judgments: float
    most_judgments: float
    relative_judgments: float | None
    ledger: Ledger | None
    systems: tuple[ReplayedSystem, ...]
    pool_size: int
    judged_items: int
    runs: int

    @property
    def system(self) -> str:
        """The rule, by which a list of them is asked."""
        return self.rule

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return vars(self) | {
            "metrics": list(self.metrics),
            "ledger": self.ledger and self.ledger.to_dict(),
            "systems": [asdict(one) for one in self.systems],
        }

    def __repr__(self) -> str:
        return (
            f"<RaceReplay, prompt {self.prompt}, {self.goal}, {self.rule}: {self.judgments:.0f} judgments, "
            f"decided in {self.decided:.0%} of {self.runs}>"
        )

    def _repr_html_(self) -> str:
        return Results([self], columns=COLUMNS)._repr_html_()
