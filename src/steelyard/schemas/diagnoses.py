"""What ``diagnose`` and ``trajectory`` print."""

from steelyard.questions.diagnosis import Diagnosis
from steelyard.schemas.shape import Count, Level, Number, Shape

__all__ = ["DiagnoseForm", "TrajectoryForm"]


class Disagreement(Shape):
    """An output on which judge and people, or people with one another, differ; ``--disagreements``."""

    prompt: str
    who: str
    """A metric, or `people`."""
    item: str
    system: str
    human: float
    """Mean judgment."""
    metric_says: Number
    """On the human scale; null between people."""
    difference: float
    """Beyond raters' noise; between people, how far their scores are apart."""
    scores: str
    """Each rater's score."""
    input: str | None
    reference: str | None
    output: str | None


DiagnoseForm = list[Diagnosis] | list[Disagreement]


class Replayed(Shape):
    """A data efficiency with its Monte Carlo error."""

    value: Number
    error: Number


class Efficiencies(Shape):
    """Data efficiency with the metric, and at the two limits."""

    corrected: Replayed
    noiseless_raters: Replayed
    perfect_metric: Replayed


class Lengths(Shape):
    """Interval length at each number of judgments."""

    plain: list[Number]
    corrected: list[Number]
    noiseless_raters: list[Number]
    perfect_metric: list[Number]


class Trajectory(Shape):
    """The interval of one system as judgments come in."""

    system: str
    prompt: str
    metrics: list[str]
    level: Level
    draws: Count
    data_efficiency: Efficiencies
    judgments: list[Count]
    length: Lengths


TrajectoryForm = list[Trajectory]
