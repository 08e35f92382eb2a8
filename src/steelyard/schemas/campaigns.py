"""What ``plan`` and ``sample`` print."""

from typing import Literal

from steelyard.questions.plans import Plan
from steelyard.schemas.shape import Count, Shape

__all__ = ["NextForm", "PlanForm", "SampleForm"]

PlanForm = Plan


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
    design: Literal["simple", "stratified", "proportional-to-size", "clusters", "paired"]
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


class NextForm(Shape):
    """Outputs to judge next, after others."""

    output: str
    """Path of the sample."""
    outputs: Count
    systems: dict[str, int]
    """Outputs of each system."""
    rules: list[str]
    """Why these."""
