"""Diagnosis: what judgments tell about raters and metrics, and a verdict."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.html_table import html_table
from steelyard.results import Results
from steelyard.variance import Agreement, Efficiency, Quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Diagnoses", "Diagnosis"]

_COLUMNS = (
    *("system", "prompt", "item_variance.value", "rater_variance.value", "noise_ratio.value"),
    *("n_outputs", "n_judgments", "n_raters", "verdict"),
)

_UNKNOWN = Quantity(np.nan, np.nan, np.nan)


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What one system's judgments under one prompt tell about raters and metrics.

    Attributes
    ----------
    system, prompt : str
        Whose judgments; system ``*`` is all systems at once, but within each: differences between
        systems do not count.
    item_variance, rater_variance, noise_ratio : Quantity
        Variance components, crossed: outputs and raters each have their own. NaN where there is a
        `refusal`.
    metrics : dict of str to Efficiency
        Each metric alone, the most useful first.
    together : Efficiency or None
        All metrics at once, when there are several; None also where a note says why not.
    agreement : Agreement
        Inter-rater agreement, within systems for ``*``.
    level : float
        Level of all intervals.
    verdict : str
        What it comes to, in plain words.
    notes : tuple of str
        What a reader must know.
    refusal : str or None
        Why there is no diagnosis, where the judgments do not allow one.
    """

    system: str
    prompt: str
    item_variance: Quantity
    rater_variance: Quantity
    noise_ratio: Quantity
    metrics: dict[str, Efficiency]
    together: Efficiency | None
    agreement: Agreement
    n_outputs: int
    n_judgments: int
    n_raters: int
    level: float
    verdict: str
    notes: tuple[str, ...]
    refusal: str | None = None

    @classmethod
    def refused(
        cls, system: str, prompt: str, reason: str, *, sizes: tuple[int, int, int], level: float
    ) -> Self:
        """Return the row of a system whose judgments do not allow a diagnosis.

        `sizes` are outputs, judgments and raters.
        """
        n_outputs, n_judgments, n_raters = sizes
        return cls(
            system=system,
            prompt=prompt,
            item_variance=_UNKNOWN,
            rater_variance=_UNKNOWN,
            noise_ratio=_UNKNOWN,
            metrics={},
            together=None,
            agreement=_no_agreement(n_outputs, n_judgments),
            n_outputs=n_outputs,
            n_judgments=n_judgments,
            n_raters=n_raters,
            level=level,
            verdict=f"No diagnosis: {reason}.",
            notes=(f"no diagnosis: {reason}",),
            refusal=reason,
        )

    @property
    def best(self) -> str | None:
        """Name of the metric with the greatest data efficiency."""
        return next(iter(self.metrics), None)

    @property
    def perfect_metric(self) -> Quantity:
        """Data efficiency of a metric that is the human score itself."""
        ratio = self.noise_ratio
        return Quantity(*(_perfect(value) for value in (ratio.value, ratio.high, ratio.low)))

    @property
    def noiseless_raters(self) -> Quantity | None:
        """Data efficiency of the best metric if raters always agreed."""
        return None if self.best is None else self.metrics[self.best].noiseless_raters

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        noiseless = self.noiseless_raters
        return {
            "system": self.system,
            "prompt": self.prompt,
            "item_variance": self.item_variance.to_dict(),
            "rater_variance": self.rater_variance.to_dict(),
            "noise_ratio": self.noise_ratio.to_dict(),
            "metrics": {name: _usefulness(found) for name, found in self.metrics.items()},
            "together": None if self.together is None else _usefulness(self.together),
            "limits": {
                "perfect_metric": self.perfect_metric.to_dict(),
                "noiseless_raters": None if noiseless is None else noiseless.to_dict(),
            },
            "agreement": {
                key: value for key, value in asdict(self.agreement).items() if key != "notes"
            },
            "n_outputs": self.n_outputs,
            "n_judgments": self.n_judgments,
            "n_raters": self.n_raters,
            "level": self.level,
            "verdict": self.verdict,
            "notes": list(self.notes),
        }

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the data efficiency of each metric, the most useful on top.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # matplotlib is slow to load
        from steelyard.study.result_plots import plot_metrics  # noqa: PLC0415

        return plot_metrics(self, ax)

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.system}, prompt {self.prompt}: {self.verdict}>"

    def _repr_html_(self) -> str:
        rows = [
            (name, str(found.correlation), str(found.data_efficiency))
            for name, found in self.metrics.items()
        ]
        names = ("metric", "correlation", "data efficiency")
        below = (
            f"{self.system}, prompt {self.prompt}: {self.verdict}",
            f"noise ratio {self.noise_ratio}, {self.level:.0%} intervals",
            *self.notes,
        )
        return html_table(names, rows, below=below)


class Diagnoses(Results[Diagnosis]):
    """A list of diagnoses, one for each prompt and system."""

    def __init__(
        self, found: Iterable[Diagnosis] = (), *, columns: Sequence[str] = _COLUMNS
    ) -> None:
        super().__init__(found, columns=columns)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw what the best metric of each system is worth, and the two limits.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # matplotlib is slow to load
        from steelyard.study.result_plots import plot_diagnoses  # noqa: PLC0415

        return plot_diagnoses(self, ax)


def _usefulness(found: Efficiency) -> dict[str, dict[str, float]]:
    return {
        "correlation": found.correlation.to_dict(),
        "data_efficiency": found.data_efficiency.to_dict(),
    }


def _perfect(noise_ratio: float) -> float:
    if noise_ratio == np.inf:
        return 1.0
    return np.inf if noise_ratio == 0 else (1 + noise_ratio) / noise_ratio


def _no_agreement(n_outputs: int, n_judgments: int) -> Agreement:
    return Agreement(
        alpha_nominal=np.nan,
        alpha_ordinal=np.nan,
        alpha_interval=np.nan,
        equal_pairs=np.nan,
        icc=np.nan,
        icc_average=np.nan,
        judgments_per_output=np.nan,
        icc_agreement=None,
        icc_consistency=None,
        n_outputs=n_outputs,
        n_single=0,
        n_judgments=n_judgments,
        notes=(),
    )
