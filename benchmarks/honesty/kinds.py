"""Kinds of generated campaigns whose truth is known.

A judgment is a shape of the output's quality plus what is the rater's: noise, and leniency where
raters are known. The human score of an output is its mean over raters' noise and leniency, worked
out from quantiles, so the truth has no error of simulation.
"""

from dataclasses import dataclass
from zlib import crc32

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from benchmarks.honesty.systems import System

POOL = 1000
SIZES = (10, 20, 30, 50, 100, 200)
_NOISE, _LENIENCY = 0.7, 0.5
_QUANTILES = ndtri((np.arange(60) + 0.5) / 60)
# The shape of a judgment, and the ends of its scale where it has any.
SHAPES = {
    "normal": (lambda z: z, None),
    "skewed": (lambda z: np.exp(0.7 * z), None),
    "ceiling": (lambda z: np.clip(np.round(4.6 + 1.2 * z), 1, 5), (1.0, 5.0)),
    "binary": (lambda z: (z > -0.4).astype(float), (0.0, 1.0)),
    "three-level": (lambda z: 0.5 * ((z > -0.7) + (z > 0.5)), (0.0, 1.0)),
    "curved": (lambda z: (z + 1) ** 2, None),
    "ties": (lambda z: np.clip(np.round(2 * (z - 1)), 0, 4), (0.0, 4.0)),
}


@dataclass(frozen=True)
class Kind:
    """One kind of campaign. `own_items`: each system is judged on its own draw of items."""

    name: str
    shape: str = "normal"
    metrics: str = "one of 0.6"
    systems: int = 4
    raters: str = "unknown"
    own_items: bool = False

    @property
    def bounds(self):
        return SHAPES[self.shape][1]

    def campaign(self, rng):
        """A fresh campaign of this kind."""
        return campaign(self, rng)

    def rng(self, *numbers, seed=0):
        """The random numbers of one replay: they depend on the kind's name and these numbers only."""
        return np.random.default_rng([seed, crc32(self.name.encode()), *numbers])


KINDS = (
    Kind("normal"),
    Kind("skewed", "skewed"),
    Kind("ceiling", "ceiling"),
    Kind("binary", "binary"),
    Kind("three levels", "three-level"),
    Kind("curved", "curved"),
    Kind("heavy ties", "ties"),
    Kind("good judge", metrics="one of 0.9"),
    Kind("useless metrics", metrics="10 useless"),
    Kind("many weak metrics", metrics="40 weak"),
    Kind("adversarial metrics", metrics="adversarial"),
    Kind("own items", own_items=True),
    Kind("one system", systems=1),
    Kind("one system, binary", "binary", systems=1),
    Kind("two systems", systems=2),
    Kind("twelve systems", "three-level", systems=12),
    Kind("ten raters", raters="ten"),
    Kind("one busy rater", raters="one busy"),
)
# Where what the intervals assume does not hold, by kind, and what that is.
BROKEN = {"one busy rater": "one of ten raters gives six tenths of the judgments"}


def campaign(kind, rng, shifts=None):
    """The systems of one campaign, with the panel that judges them; better or worse by `shifts`."""
    item = rng.standard_normal(POOL)
    panel = _panel(kind, rng)
    return [
        _system(kind, item, panel, rng, None if shifts is None else shifts[number])
        for number in range(kind.systems)
    ]


def equal_campaign(kind, rng):
    """The same, with the true means of all systems equal."""
    item = rng.standard_normal(POOL)
    panel = _panel(kind, rng)
    first = _system(kind, item, panel, rng, 0.0)
    return [first] + [
        _system(kind, item, panel, rng, 0.0, truth=first.truth) for _ in range(kind.systems - 1)
    ]


def _panel(kind, rng):
    """Leniency of each rater, and the share of judgments that each gives; None if nobody knows."""
    if kind.raters == "unknown":
        return None
    share = np.full(10, 0.1)
    if kind.raters == "one busy":
        share = np.array([0.6] + [0.4 / 9] * 9)
    return _LENIENCY * rng.standard_normal(10), share


def _system(kind, item, panel, rng, shift=None, *, truth=None):
    shape, _ = SHAPES[kind.shape]
    quality = np.sqrt(0.5) * (item + rng.standard_normal(POOL))
    level = (0.5 * rng.standard_normal() if shift is None else shift) + quality
    noise = np.hypot(_NOISE, 0.0 if panel is None else _LENIENCY)

    def scores(more=0.0):
        return shape(level[:, None] + more + noise * _QUANTILES).mean(axis=1)

    if truth is not None:
        level = level + brentq(lambda more: scores(more).mean() - truth, -2, 2, xtol=1e-6)
    human = scores()

    def judge(rng, chosen):
        error = _NOISE * rng.standard_normal(len(chosen))
        if panel is None:
            return shape(level[chosen] + error), None
        leniency, share = panel
        raters = rng.choice(len(share), len(chosen), p=share)
        return shape(level[chosen] + error + leniency[raters]), raters

    values = _metrics(kind, quality, rng)
    # Judges and metrics on the scale of the scores, a third of a deviation too kind.
    values = human.mean() + human.std() * (values + 0.3)
    return System(human, values, np.arange(POOL), judge)


def _metrics(kind, quality, rng):
    """Metrics of mean 0 and variance 1, but for the Cauchy errors of one."""

    def of(loading):
        loading = np.asarray(loading)
        error = rng.standard_normal((POOL, len(loading)))
        return quality[:, None] * loading + np.sqrt(1 - loading**2) * error

    if kind.metrics == "10 useless":
        return of(np.zeros(10))
    if kind.metrics == "40 weak":
        return of(np.abs(rng.normal(0.25, 0.1, 40)))
    if kind.metrics == "adversarial":
        # its sign depends on the system; then a copy of it; then one with outliers; a shift of all
        first = of([0.6 * rng.choice([-1, 1])])
        copy = first + 1e-6 * rng.standard_normal((POOL, 1))
        wild = 0.3 * quality[:, None] + rng.standard_cauchy((POOL, 1))
        return np.hstack([first, copy, wild]) + rng.normal(0, 2)
    return of([float(kind.metrics.rsplit(" ", 1)[1])])
