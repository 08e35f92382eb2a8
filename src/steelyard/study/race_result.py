"""Where a race stands: who is in, who is out and why, what is known, what is left to pay."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.design.race import Race, RaceGoal, RaceMethod
from steelyard.errors import UnknownNameError
from steelyard.estimate.ledger import Ledger
from steelyard.results import ResultTable, listed
from steelyard.study.race_words import answer, claim, standing_notes

__all__ = ["Raced", "Racer", "Races", "RacingPair", "raced"]

Floats = NDArray[np.float64]

_COLUMNS = (
    *("prompt", "system", "state", "n_items", "estimate", "behind", "rank_low", "rank_high"),
    *("out_at", "out_by", "expected_more"),
)


@dataclass(frozen=True, kw_only=True)
class Racer:
    """Where one system stands.

    Attributes
    ----------
    system : str
        Its name.
    state : {"in", "out"}
        Whether it still gets judgments.
    n_items : int
        Items that entered.
    estimate : float or None
        Its mean score on these; systems that went earlier have fewer.
    behind : float or None
        How much lower it scored than the leader, on the items on which both were judged; 0 for the leader.
    rank_low, rank_high : int
        The best and the worst place that it may have, 1 the best.
    out_at : int or None
        Number of items after which it was let go.
    out_by : str or None
        With the goal best, the system that led the others then.
    expected_more : int
        Judgments that it is still expected to get.
    """

    system: str
    state: Literal["in", "out"]
    n_items: int
    estimate: float | None
    behind: float | None
    rank_low: int
    rank_high: int
    out_at: int | None
    out_by: str | None
    expected_more: int


@dataclass(frozen=True, kw_only=True)
class RacingPair:
    """What is known of two systems, with the goals order and difference.

    Attributes
    ----------
    a, b : str
        The systems.
    difference : float or None
        Mean of a less mean of b, on the items on which both were judged.
    n_items : int
        Of these, the items on which they differ.
    verdict : {"a", "b", "equivalent", "undecided"}
        Which is better, or that they are at most the margin apart.
    """

    a: str
    b: str
    difference: float | None
    n_items: int
    verdict: Literal["a", "b", "equivalent", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Raced:
    """Where the race under one prompt stands.

    Attributes
    ----------
    prompt : str
        The prompt.
    goal : {"best", "order", "difference"}
        What is to be decided.
    margin : float or None
        Differences up to this do not matter.
    metrics : tuple of str
        Metrics that foretell differences.
    method : {"betting", "asymptotic"}
        Kind of race.
    guarantee : {"exact", "asymptotic"}
        Whether the level holds exactly.
    level : float
        Probability with which nothing that is ever said is wrong.
    target : {"census"}
        What it is about: the outputs of the pool, each judged by this very process.
    n_items, pool_size : int
        Items that entered, and items in the pool.
    decided : bool
        Whether the goal is reached.
    stop : bool
        Whether collection may stop: it is reached, or everything is judged.
    winner : str or None
        With the goal best, the system that is best, or at most the margin below.
    answer, claim : str
        What is known, and what is claimed by that, in words.
    judgments : int
        Judgments that entered.
    ledger : Ledger
        Judgments of all systems on all these items, those that entered, and what was saved by letting
        systems go.
    expected_more : int or None
        Judgments that are still expected; None before the first item.
    expected_cost : float or None
        Their price, if one was given.
    systems : tuple of Racer
        Best mean first, those that are in before those that are out.
    pairs : tuple of RacingPair
        With the goals order and difference.
    notes : tuple of str
        What a reader must know.
    """

    prompt: str
    goal: RaceGoal
    margin: float | None
    metrics: tuple[str, ...]
    method: RaceMethod
    guarantee: Literal["exact", "asymptotic"]
    level: float
    target: Literal["census"]
    n_items: int
    pool_size: int
    decided: bool
    stop: bool
    winner: str | None
    answer: str
    claim: str
    judgments: int
    ledger: Ledger
    expected_more: int | None
    expected_cost: float | None
    systems: tuple[Racer, ...]
    pairs: tuple[RacingPair, ...]
    notes: tuple[str, ...]

    @property
    def inside(self) -> tuple[str, ...]:
        """The systems that still get judgments."""
        return tuple(one.system for one in self.systems if one.state == "in")

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return asdict(self) | {
            "metrics": list(self.metrics),
            "systems": [asdict(one) for one in self.systems],
            "pairs": [asdict(one) for one in self.pairs],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"<Raced, prompt {self.prompt}: {self.answer}>"


class Races(ResultTable[Raced]):
    """A list of races, one for each prompt; its table has a row for each system."""

    def __init__(self, found: Iterable[Raced] = (), *, columns: Sequence[str] = _COLUMNS) -> None:
        super().__init__(found, columns=columns)

    def _named(self, key: str | tuple[str, str]) -> Raced:
        for one in self:
            if one.prompt == key:
                return one
        known = ", ".join(one.prompt for one in self)
        raise UnknownNameError(f"no race has prompt {key!r}; there are: {known or 'none'}")

    def _extent(self) -> str:
        return f": {listed('prompt', (one.prompt for one in self))}" if self else ""

    def _rows(self) -> list[dict[str, Any]]:
        return [{"prompt": one.prompt, **asdict(system)} for one in self for system in one.systems]

    def _below(self) -> tuple[str, ...]:
        return tuple(f"{one.prompt}: {one.answer}" for one in self)


def raced(
    race: Race,
    *,
    prompt: str,
    names: Sequence[str],
    metrics: Sequence[str],
    after: Floats,
    each: int,
    price: float | None,
    balanced: bool,
    notes: Sequence[str],
) -> Raced:
    """Say where a race of one campaign stands.

    Parameters
    ----------
    race : Race
        The race.
    prompt, names, metrics
        The prompt, the systems, and the metrics of the race's control.
    after : (K,) array
        Items after which each system is expected to be let go.
    each : int
        Judgments of an output.
    price : float or None
        Of a judgment.
    balanced : bool
        Whether the judged outputs look like the pool.
    notes : sequence of str
        What a reader must know.
    """
    decided = bool(race.decided_at[0]) and balanced
    systems = _racers(race, names, after, each)
    more = sum(one.expected_more for one in systems) if race.items else None
    judgments, of_all = sum(one.n_items for one in systems) * each, race.items * len(names) * each
    return Raced(
        prompt=prompt,
        goal=race.options.goal,
        margin=race.options.margin,
        metrics=tuple(metrics),
        method=race.options.method,
        guarantee="exact" if race.options.method == "betting" else "asymptotic",
        level=race.options.level,
        target="census",
        n_items=race.items,
        pool_size=race.pool_size,
        decided=decided,
        stop=decided or race.items == race.pool_size,
        winner=systems[0].system if decided and race.options.goal == "best" else None,
        answer=answer(race, names, decided=decided),
        claim=claim(race),
        judgments=judgments,
        ledger=Ledger(float(of_all), float(judgments), {"race": float(of_all - judgments)}),
        expected_more=more,
        expected_cost=None if price is None or more is None else more * price,
        systems=systems,
        pairs=() if race.options.goal == "best" else tuple(_pairs(race, names)),
        notes=(*notes, *standing_notes(race)),
    )


def _racers(race: Race, names: Sequence[str], after: Floats, each: int) -> tuple[Racer, ...]:
    out_at, inside = race.out_at[0], race.inside[0]
    counts = np.where(out_at > 0, out_at, race.items)
    means = race.total[0] * race.options.scale / np.maximum(counts, 1)
    low, high = _ranks(race)
    lead = _leader(race, low)
    behind = race.mean_differences[0, :, lead]
    found = [
        Racer(
            system=name,
            state="in"
            if inside[place] and not race.decided_at[0]
            else "out"
            if out_at[place]
            else "in",
            n_items=int(counts[place]),
            estimate=float(means[place]) if counts[place] else None,
            behind=float(behind[place]) if counts[place] else None,
            rank_low=int(low[place]),
            rank_high=int(high[place]),
            out_at=int(out_at[place]) or None,
            out_by=names[race.out_by[0, place]] if race.out_by[0, place] >= 0 else None,
            expected_more=round(float(after[place]) - counts[place]) * each,
        )
        for place, name in enumerate(names)
    ]
    if race.options.goal != "best":
        return tuple(sorted(found, key=lambda one: (one.rank_low, one.rank_high, one.behind or 0)))
    return tuple(
        sorted(found, key=lambda one: (one.system != names[lead], -one.n_items, one.behind or 0))
    )


def _leader(race: Race, low: NDArray[np.int64]) -> int:
    """Return the leader of the race, or with other goals than the best the one of those that nobody is above."""
    if race.options.goal == "best":
        return int(race.winner[0])
    counts = np.where(race.out_at[0] > 0, race.out_at[0], race.items)
    means = race.total[0] / np.maximum(counts, 1)
    return int(np.where(low == low.min(), means, -np.inf).argmax())


def _ranks(race: Race) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the best and the worst place that each may have."""
    size = race.systems
    if race.options.goal == "best":
        inside = race.inside[0]
        alike = race.alike[np.ix_(inside, inside)].all()
        count = inside.sum()
        return np.where(inside, 1, 1 + count * alike + (not alike)), np.where(
            inside & alike, count, size
        )
    above = race.above[0]
    return 1 + above.sum(axis=1), size - above.sum(axis=0)


def _pairs(race: Race, names: Sequence[str]) -> Iterable[RacingPair]:
    above, settled = race.above[0], race.settled[0]
    for a in range(race.systems):
        for b in range(a + 1, race.systems):
            n = int(race.accounts.count[0, a, b])
            verdict: Literal["a", "b", "equivalent", "undecided"] = "undecided"
            if above[b, a] != above[a, b]:
                verdict = "a" if above[b, a] else "b"
            elif settled[a, b] and not above[a, b]:
                verdict = "equivalent"
            yield RacingPair(
                a=names[a],
                b=names[b],
                difference=float(race.mean_differences[0, b, a]) if race.items else None,
                n_items=n,
                verdict=verdict,
            )
