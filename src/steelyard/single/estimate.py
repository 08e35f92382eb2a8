"""A mean human score with its interval."""

from dataclasses import asdict, dataclass
from typing import Any

from steelyard.html_table import html_table

__all__ = ["MeanEstimate"]


@dataclass(frozen=True, kw_only=True)
class MeanEstimate:
    """A mean human score with its interval, and all that is needed to reproduce it.

    Attributes
    ----------
    estimate, standard_error, low, high : float
        The point estimate, its standard error, and the ends of its interval.
    level : float
        Confidence level of the interval.
    target : str
        Whose mean is estimated: "pool" or "superpopulation".
    raters : str
        How raters are seen: "fixed" or "random".
    method : str
        Estimator and slope.
    n_outputs, n_judgments : int
        Judged outputs and judgments of them.
    n_raters, pool_size : int or None
        Distinct raters and outputs in the pool, None when not known.
    degrees_of_freedom : float
        Degrees of freedom of the standard error.
    slope : tuple of float
        Slope of each metric; empty for the plain mean.
    baseline : MeanEstimate or None
        The plain mean of the same judgments; None when this is the plain mean.
    notes : tuple of str
        What a reader must know before trusting the numbers.
    """

    estimate: float
    standard_error: float
    low: float
    high: float
    level: float
    target: str
    raters: str
    method: str
    n_outputs: int
    n_judgments: int
    n_raters: int | None
    pool_size: int | None
    degrees_of_freedom: float
    slope: tuple[float, ...] = ()
    baseline: "MeanEstimate | None" = None
    notes: tuple[str, ...] = ()

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @property
    def data_efficiency(self) -> float | None:
        """Variance of the plain mean over the variance of this estimate."""
        if self.baseline is None:
            return None
        return (self.baseline.standard_error / self.standard_error) ** 2

    @property
    def about(self) -> str:
        """What the interval is about, in words."""
        pool = "these outputs" if self.pool_size is None else f"these {self.pool_size} outputs"
        what = pool if self.target == "pool" else "new outputs like these"
        who = "exactly these raters" if self.raters == "fixed" else "raters like these"
        return f"{what}, by {who}"

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers under stable keys."""
        found = asdict(self) | {"data_efficiency": self.data_efficiency, "about": self.about}
        return found | {"slope": list(self.slope), "notes": list(self.notes)}

    def __str__(self) -> str:
        efficiency = "" if self.data_efficiency is None else f", DE {self.data_efficiency:.2f}"
        pool = "" if self.pool_size is None else f" of {self.pool_size}"
        return (
            f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}] at {self.level:.0%} "
            f"({self.method}, {self.n_judgments} judgments on {self.n_outputs}{pool} "
            f"outputs{efficiency})"
        )

    def __repr__(self) -> str:
        return f"<MeanEstimate {self}>"

    def _repr_html_(self) -> str:
        shown = [self] if self.baseline is None else [self, self.baseline]
        rows = [
            (
                *(one.method, f"{one.estimate:.4f}", f"{one.standard_error:.4f}"),
                f"[{one.low:.4f}, {one.high:.4f}]",
            )
            for one in shown
        ]
        names = ("", "estimate", "standard error", f"{self.level:.0%} interval")
        return html_table(names, rows, below=(f"about {self.about}", *self.notes))
