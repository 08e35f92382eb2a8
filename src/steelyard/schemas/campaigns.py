"""What ``plan``, ``monitor``, ``simulate`` and ``sample`` print."""

from typing import Literal

from steelyard.schemas.shape import Count, Ledger, Level, Number, Quantity, Shape, Share

__all__ = ["MonitorForm", "PlanForm", "SampleForm", "SimulateForm"]


class Case(Shape):
    """One campaign: its size, its price, and the precision to expect."""

    pairs: Count | None
    """Items judged for both systems; null unless two systems are compared."""
    outputs: Count
    judgments_per_output: Count
    second_judgments: Count
    judgments: Count
    """In all."""
    cost: float
    half_width: float


class PlanForm(Shape):
    """How much to collect, as expected and with assurance."""

    expected: Case
    """The goal is reached in about half of all campaigns."""
    assured: Case | None
    """It is reached with probability `assurance`; null if it cannot be."""
    expected_without_metric: Case | None
    """For a plain mean; null if it cannot reach the goal."""
    assured_without_metric: Case | None
    assurance: float
    best_judgments_per_output: Number
    """Before rounding; null where only outputs cost."""
    data_efficiency: Quantity
    level: Level
    notes: list[str]
    forecast: str
    """The saving in words."""


class Monitored(Shape):
    """Where the collection of one system's judgments stands."""

    system: str
    prompt: str
    metrics: list[str]
    method: Literal["betting", "empirical-bernstein", "asymptotic"]
    target: Literal["pool", "census"]
    level: Level
    n: Count
    """Judged outputs that the sequence has seen."""
    pool_size: Count
    estimate: Number
    """null before the first judgment."""
    low: Number
    """null where the mean is known exactly, and where there is no bound."""
    high: Number
    half_width: Number
    goal: float
    stop: bool
    expected_more: Count | None
    """Judgments that are still needed; null when that cannot be told, or the goal not be reached."""
    exact: bool
    balanced: bool
    notes: list[str]


class RacingSystem(Shape):
    """Where one system of a race stands."""

    system: str
    state: Literal["in", "out"]
    """Whether it still gets judgments."""
    n_items: Count
    estimate: Number
    """Its mean score on these items; null before the first."""
    behind: Number
    """How much lower it scored than the leader, on the items judged for both."""
    rank_low: Count
    """The best place that it may have, 1 the best."""
    rank_high: Count
    out_at: Count | None
    """Items after which it was let go."""
    out_by: str | None
    """With the goal best: who led the others then."""
    expected_more: Count


class RacingPair(Shape):
    """What is known of two systems."""

    a: str
    b: str
    difference: Number
    """Mean of a less mean of b, on the items judged for both."""
    n_items: Count
    """Of these, the items on which they differ."""
    verdict: Literal["a", "b", "equivalent", "undecided"]


class Raced(Shape):
    """Where the race of all systems under one prompt stands."""

    prompt: str
    goal: Literal["best", "order", "difference"]
    margin: float | None
    metrics: list[str]
    """Metrics that foretell differences; none unless they were named."""
    method: Literal["betting", "asymptotic"]
    guarantee: Literal["exact", "asymptotic"]
    """Whether the level holds exactly."""
    level: Level
    target: Literal["census"]
    n_items: Count
    """Items that entered."""
    pool_size: Count
    decided: bool
    stop: bool
    """Decided, or everything is judged."""
    winner: str | None
    """With the goal best: the best system, or one at most the margin below it."""
    answer: str
    claim: str
    judgments: Count
    ledger: Ledger
    """Judgments of all systems on all these items, those that entered, and what the race saved."""
    expected_more: Count | None
    expected_cost: Number
    systems: list[RacingSystem]
    pairs: list[RacingPair]
    """With the goals order and difference."""
    notes: list[str]


MonitorForm = list[Monitored] | list[Raced]


class Replay(Shape):
    """What one rule did over many replays of one system's campaign."""

    system: str
    prompt: str
    rule: Literal["plan", "empirical-bernstein", "betting", "asymptotic"]
    metrics: list[str]
    strata: Count
    size: str | None
    judgments: float
    most_judgments: float
    reached: Share
    half_width: Number
    error: Number
    coverage: Share
    pool_size: Count
    runs: Count


class PairReplay(Shape):
    """What one number of judgments showed of two systems, over many replays."""

    a: str
    b: str
    prompt: str
    rule: Literal["compare", "plain means"]
    n_items: Count
    judgments: Count
    difference: float
    error: float
    relative_judgments: Number
    """Judgments for the error of plain means, which need 1."""
    half_width: float
    coverage: Share
    better_a: Share
    better_b: Share
    equivalent: Share
    undecided: Share
    pool_size: Count
    identical_items: Count
    runs: Count
    ledger: Ledger | None
    """Of `compare`, the mean over every tenth replay; null for plain means."""


class MeanReplay(Shape):
    """What so many judged outputs showed of one system's mean, over many replays."""

    system: str
    """"*" for all systems together."""
    prompt: str
    rule: Literal["estimate", "plain mean"]
    design: Literal["simple", "spread"]
    metrics: list[str]
    n_outputs: Count
    judgments: float
    """A judgment that counts for several systems is shared among them."""
    estimate: float | None
    """What the whole campaign shows by this rule; null for all systems together."""
    error: float
    """About the mean of the pool, by exactly these raters."""
    relative_judgments: Number
    """Judgments for the error of plain means, which need 1."""
    half_width: float
    coverage: Share
    reached: Share | None
    """Share of intervals no wider than the goal; null without one."""
    pool_size: Count
    judged_outputs: Count
    runs: Count
    ledger: Ledger | None
    """Of `estimate`, the mean over every tenth replay; null for plain means."""


class ReplayedSystem(Shape):
    """What became of one system over many replays of a race."""

    system: str
    estimate: float
    """Its mean by all judgments of the campaign."""
    judgments: float
    out: Share
    """Share of replays in which it was let go before the end."""
    won: Share | None
    """With the goal best: share of replays in which it was named."""


class RaceReplay(Shape):
    """How many judgments a decision took, over many replays."""

    prompt: str
    goal: Literal["best", "order", "difference"]
    margin: float | None
    level: Level
    rule: Literal["race", "fixed design"]
    """The fixed design has the fewest items, the same for all systems, that decide as often."""
    metrics: list[str]
    """Metrics that foretold differences; none unless they were named, and none in the fixed design."""
    method: Literal["betting", "asymptotic", "t tests"]
    guarantee: Literal["exact", "asymptotic"]
    decided: Share
    wrong: Share | None
    """Replays in which anything false was said of their pool, at any look; null for the fixed design."""
    other_winner: Share | None
    """With the goal best: another is named than has the best mean by all judgments."""
    n_items: float
    judgments: float
    most_judgments: float
    """What one replay in ten exceeds."""
    relative_judgments: Number
    """Judgments over those of the fixed design; null where none decides as often."""
    ledger: Ledger | None
    """Judgments of all systems on all items of the race, those used, and what letting systems go saved."""
    systems: list[ReplayedSystem]
    pool_size: Count
    judged_items: Count
    runs: Count


SimulateForm = list[Replay] | list[PairReplay] | list[MeanReplay] | list[RaceReplay]


class Probability(Shape):
    """The least and greatest probability that an output is drawn."""

    least: float
    greatest: float


class Stratum(Shape):
    """What was drawn of one stratum."""

    stratum: str
    drawn: Count
    size: Count


class Drawn(Shape):
    """One draw: of one system, or of the items of several."""

    system: str
    design: Literal["simple", "spread", "stratified", "proportional-to-size", "paired"]
    n: Count
    pool_size: Count
    same_items: bool
    identical_items: Count | None
    """Items on which two systems do not differ; null unless the draw is paired."""
    share: float
    extended: Count
    """Outputs that an earlier sample held already."""
    probability: Probability
    strata: list[Stratum]
    signature: str


class SampleForm(Shape):
    """Outputs to judge, and how they were drawn."""

    output: str
    """Path of the sample."""
    outputs: Count
    draws: list[Drawn]
