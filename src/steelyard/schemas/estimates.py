"""What ``estimate`` and ``demo`` print."""

from typing import Literal

from steelyard.schemas.shape import Count, Ledger, Level, Number, Shape

__all__ = ["DemoForm", "EstimateForm"]


class Ends(Shape):
    """A standard error and the ends of an interval."""

    standard_error: Number
    low: Number
    high: Number


class Baseline(Ends):
    """The plain mean of the same judgments."""

    estimate: float


class Estimated(Shape):
    """The mean human score of one system under one prompt."""

    system: str
    prompt: str
    slice: str | None
    """The slice of the pool, or the weights of a mix of slices; null for the whole pool."""
    metrics: list[str]
    """Metrics that correct the mean; none for the plain mean."""
    method: str
    """Estimator, slope and interval."""
    n_outputs: Count
    n_judgments: Count
    n_raters: Count | None
    pool_size: Count | None
    level: Level
    target: Literal["pool", "census", "superpopulation"]
    raters: Literal["fixed", "random", "adjusted"]
    """Whether raters are exactly these (fixed), or a sample (random, adjusted for leniency)."""
    estimate: float
    standard_error: Number
    low: Number
    high: Number
    baseline: Baseline | None
    """null where the estimate is a plain mean itself."""
    data_efficiency: Number
    """Variance of the plain mean over that of the estimate."""
    slope: list[float]
    shares: list[float]
    """Share of each metric in a learned control."""
    about: str
    """What the interval is about, in words."""
    new_outputs: Ends | None
    """For new outputs like these, where that interval is more than a tenth wider."""
    fixed_raters: Ends | None
    """About exactly these raters, where `low` and `high` are about raters like these."""
    ledger: Ledger | None
    """null for draws that are not simple, and where each system is estimated apart."""
    notes: list[str]


class PrintedEstimate(Estimated):
    """An estimate, with the interval about raters like these."""

    random_raters: Ends | None
    """null where raters are fixed; otherwise the same as `low` and `high`."""


EstimateForm = list[PrintedEstimate]


class DemoEstimate(Estimated):
    """An estimate beside the truth, which only a simulation knows."""

    truth: float


class DemoForm(Shape):
    """The estimates of the built-in campaign."""

    notice: str
    report: str
    """Path of the report."""
    estimates: list[DemoEstimate]
