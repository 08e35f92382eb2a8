"""What ``plan`` and ``sample`` print."""

from typing import Literal

from steelyard.schemas.shape import Count, Level, Number, Quantity, Shape

__all__ = ["PlanForm", "SampleForm"]


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
