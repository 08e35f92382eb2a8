"""Seeded populations that the statistical tests draw campaigns from."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from scipy.stats import binomtest

KINDS = ("normal", "binary", "three-level", "skewed", "tied", "ceiling")
BOUNDS = {"binary": (0, 1), "three-level": (-1, 1), "tied": (1, 5), "ceiling": (-1, 1)}
_CUTS = {
    "binary": [0.3],
    "three-level": [-0.6, 0.5],
    "tied": [-1.5, -0.9, -0.2, 0.5],
    "ceiling": [-1.6, -0.9],
}


@dataclass(frozen=True)
class Population:
    """A pool: latent quality and metric of each output, and how judgments arise from them."""

    kind: str
    latent: np.ndarray
    metric: np.ndarray
    noise: float

    @property
    def score(self):
        """Human score of each output: the expected judgment."""
        if self.kind == "normal":
            return self.latent
        if self.kind == "skewed":
            return np.exp(self.latent + self.noise**2 / 2)
        least, _ = BOUNDS[self.kind]
        cuts = np.array(_CUTS[self.kind])
        return least + ndtr((self.latent[:, None] - cuts) / self.noise).sum(axis=1)

    @property
    def mean(self):
        return self.score.mean()

    def judge(self, items, rng, leniency=0.0):
        felt = self.latent[items] + leniency + self.noise * rng.normal(size=len(items))
        if self.kind == "normal":
            return felt
        if self.kind == "skewed":
            return np.exp(felt)
        least, _ = BOUNDS[self.kind]
        return least + (felt[:, None] > np.array(_CUTS[self.kind])).sum(axis=1).astype(float)


def population(kind, rng, *, size, correlation, noise_ratio=1.0):
    """Draw a pool of `size` outputs whose latent quality correlates with the metric."""
    metric = rng.normal(size=size)
    rest = np.sqrt(1 - correlation**2) * rng.normal(size=size)
    scale = np.sqrt(1 / (1 + noise_ratio))
    latent = scale * (correlation * metric + rest)
    return Population(kind, latent, metric, np.sqrt(noise_ratio / (1 + noise_ratio)))


def judged_items(rng, *, size, n, judgments):
    """Draw outputs without replacement; `judgments` is a number each, or "unequal"."""
    chosen = rng.choice(size, n, replace=False)
    counts = rng.integers(1, 4, size=n) if judgments == "unequal" else judgments
    return np.repeat(chosen, counts)


def covers_at_least(hits, level, *, doubt=0.001):
    """Whether the hits are compatible with coverage of at least `level`."""
    return binomtest(int(np.sum(hits)), len(hits), level, alternative="less").pvalue > doubt


def covers_exactly(hits, level, *, doubt=0.001):
    """Whether the hits are compatible with coverage of exactly `level`."""
    return binomtest(int(np.sum(hits)), len(hits), level).pvalue > doubt
