"""What ``diagnose`` prints."""

from steelyard.questions.diagnosis import Diagnosis
from steelyard.schemas.shape import Number, Shape

__all__ = ["DiagnoseForm"]


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
