"""What ``diagnose`` prints."""

from steelyard.schemas.shape import Count, Level, Number, Quantity, Shape

__all__ = ["DiagnoseForm"]


class Usefulness(Shape):
    """What one metric, or all together, are worth."""

    correlation: Quantity
    """With the human score, corrected for rater noise."""
    data_efficiency: Quantity


class Limits(Shape):
    """Data efficiency if one of the two bottlenecks were gone."""

    perfect_metric: Quantity
    noiseless_raters: Quantity | None
    """With the best metric; null where there is none."""


class Agreement(Shape):
    """Agreement of raters; null where judgments do not show it."""

    alpha_nominal: Number
    alpha_ordinal: Number
    alpha_interval: Number
    equal_pairs: Number
    icc: Number
    icc_average: Number
    judgments_per_output: Number
    icc_agreement: Number
    icc_consistency: Number
    n_outputs: Count
    n_single: Count
    n_judgments: Count


class Diagnosis(Shape):
    """What the judgments of one system say about raters and metrics."""

    system: str
    """`*` is all systems at once, within each."""
    prompt: str
    item_variance: Quantity
    rater_variance: Quantity
    noise_ratio: Quantity
    metrics: dict[str, Usefulness]
    """The most useful first."""
    together: Usefulness | None
    """All metrics at once; null with fewer than two, or where a note says why."""
    limits: Limits
    agreement: Agreement
    n_outputs: Count
    n_judgments: Count
    n_raters: Count
    level: Level
    verdict: str
    notes: list[str]


DiagnoseForm = list[Diagnosis]
