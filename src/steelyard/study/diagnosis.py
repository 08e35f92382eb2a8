"""The paper's diagnosis: variance components, correlations and limits of one system, and a verdict."""

from dataclasses import dataclass

import numpy as np

from steelyard.variance import Agreement, Efficiency, Quantity

__all__ = ["Diagnosis"]


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

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.system}, prompt {self.prompt}: {self.verdict}>"


def _perfect(noise_ratio: float) -> float:
    if noise_ratio == np.inf:
        return 1.0
    return np.inf if noise_ratio == 0 else (1 + noise_ratio) / noise_ratio
