"""Campaigns of many kinds, each of a world of its own, for `benchmarks.devices`.

An output has a latent quality, half of its variance the item's. A judgment is a function of quality, the rater's leniency and
noise: as it is ("normal"), its exponential ("skewed"), cut off at the top ("ceiling"), yes or no ("binary"), a scale of three ("ties"), or
exponentials of which systems spread by 0.2 to 1.2 ("unequal"); "nothing by item" is normal without the item's share. The truth is known by quadrature.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtri

from benchmarks.replays import released
from steelyard.arrays import PoolMoments, judged_outputs, simple_draw
from steelyard.estimate.controlled import JudgedSystem

SIZE, LENIENCY, NOISE = 400, 0.5, 0.7
SHAPES = ("normal", "skewed", "ceiling", "binary", "ties", "unequal")
METRICS = {"none": 0, "useless": 5, "good": 1, "many": 30, "difficulty": 1}
RATERS = ("40 even", "ten", "one busy", "a few busy", "nested", "alike")
# Midpoints of equal chances of a normal error: shapes have steps, which quadrature by nodes would miss.
_MIDDLES = ndtri((np.arange(200) + 0.5) / 200)


@dataclass(frozen=True)
class Kind:
    """How many systems and judged items, what judgments look like, what metrics and raters there are."""

    k: int
    n: int
    shape: str = "normal"
    metrics: str = "useless"
    raters: str = "unknown"
    each: int = 1

    @property
    def differs(self):
        """Whether systems are unlike one another, so that each is of interest."""
        return self.shape == "unequal"

    def __str__(self):
        return f"{self.k} | {self.n} | {self.shape} | {self.metrics} | {self.raters}"

    def made(self, rng, *, same=True):
        """A world of this kind and a campaign of it, on the same items for all systems or on each its own."""
        return _made(self, rng, same=same)


@dataclass(frozen=True)
class Paper:
    """The paper's campaign of a prompt, of which n items are judged again by one of their judgments."""

    task: str
    prompt: str
    n: int
    reference: bool = False
    differs = True

    def __str__(self):
        count = "4 and the reference" if self.reference else "4"
        return f"{count} | {self.n} | {self.prompt} | seven | the paper's"

    def made(self, rng, *, same=True):
        """Draw from the full campaign, whose means are the truth."""
        return _paper(self.task, self.prompt, self.reference)(self.n, rng, same=same)


@dataclass(frozen=True, eq=False)
class Campaign:
    """Judged systems, their true means by raters at large and by these raters, and their spread.

    `human` are the scores of all outputs (k, N), `noise` the mean variance of a judgment of an output (k,). `fresh` gives
    judgments of a system's outputs drawn with replacement: (system, shape, rng) -> array.
    """

    systems: list
    truth: np.ndarray
    by_these: np.ndarray
    scale: np.ndarray
    human: np.ndarray
    noise: np.ndarray
    fresh: Callable | None = None


def _made(kind, rng, *, same):
    k, n = kind.k, kind.n
    item = rng.standard_normal(SIZE)
    common = 0.0 if kind.shape == "nothing by item" else 0.5
    quality = np.sqrt(common) * item + np.sqrt(1 - common) * rng.standard_normal((k, SIZE))
    metrics = _metrics(kind, quality, item, rng)
    level = rng.normal(0, 0.5, k)
    lenient, share = _raters(kind.raters, k, rng)
    chosen = [rng.choice(SIZE, n, replace=False) for _ in range(k)]
    if same:
        chosen = [chosen[0]] * k
    work = share.mean(axis=0)

    def judged(one, items, rater, rng):
        felt = level[one] + quality[one][items] + lenient[rater]
        return _shape(kind.shape, one / max(k - 1, 1))(
            felt + NOISE * rng.standard_normal(felt.shape)
        )

    systems, truth, by_these, scale, human, noise = [], [], [], [], [], []
    for one in range(k):
        looks = kind.shape, one / max(k - 1, 1)
        latent = level[one] + quality[one]
        spread = LENIENCY * (kind.raters not in ("alike", "unknown"))
        truth.append(_expected(*looks, np.hypot(spread, NOISE))(latent).mean())
        by_one = _expected(*looks, NOISE)
        by_these.append(work @ by_one(latent + lenient[:, np.newaxis]).mean(axis=1))
        human.append(by_one(latent))
        scale.append(human[-1].std())
        noise.append(_noise(*looks)(latent).mean())
        items = np.sort(chosen[one])
        items = np.repeat(items, kind.each)
        rater = rng.choice(len(lenient), len(items), p=share[one])
        score = judged(one, items, rater, rng)
        known_raters = None if kind.raters == "unknown" else rater
        sample = judged_outputs(score, None, items, raters=known_raters)
        pool, each = PoolMoments.of(metrics[one]), items[:: kind.each]
        draw = simple_draw(sample, SIZE)
        systems.append(JudgedSystem(sample, draw, metrics[one][each], each, known_raters, pool))

    def fresh(one, size, rng):
        rater = rng.choice(len(lenient), size, p=share[one])
        return judged(one, rng.integers(SIZE, size=size), rater, rng)

    known = (np.array(one) for one in (truth, by_these, scale, human, noise))
    return Campaign(systems, *known, fresh)


def _metrics(kind, quality, item, rng):
    """Metrics of each system (k, N, p)."""
    p = METRICS[kind.metrics]
    loading = {"good": 0.7, "many": 0.25, "difficulty": 0.9}.get(kind.metrics, 0.0)
    known = np.broadcast_to(item, quality.shape) if kind.metrics == "difficulty" else quality
    noise = rng.standard_normal((*quality.shape, p))
    return loading * known[:, :, np.newaxis] + np.sqrt(1 - loading**2) * noise


def _shape(name, place):
    return {
        "normal": lambda z: z,
        "nothing by item": lambda z: z,
        "skewed": np.exp,
        "a little skewed": lambda z: np.exp(0.5 * z),
        "ceiling": lambda z: np.minimum(z, 0.3),
        "binary": lambda z: (z > 0).astype(float),
        "ties": lambda z: np.clip(np.round(1.2 + z), 0, 2),
        "unequal": lambda z: np.exp((0.2 + place) * z),
    }[name]


@cache
def _expected(name, place, spread):
    """The mean judgment as a function of the latent value, over normal noise."""
    grid = np.linspace(-7, 7, 701)
    known = _shape(name, place)(grid[:, np.newaxis] + spread * _MIDDLES).mean(axis=1)
    return lambda latent: np.interp(latent, grid, known)


@cache
def _noise(name, place):
    """The variance of a judgment as a function of the latent value, by raters who are alike."""
    grid = np.linspace(-7, 7, 701)
    known = _shape(name, place)(grid[:, np.newaxis] + NOISE * _MIDDLES).var(axis=1)
    return lambda latent: np.interp(latent, grid, known)


def _raters(kind, k, rng):
    """Leniency of each rater (R,), and the share of each system's judgments that are theirs (k, R)."""
    count = {"ten": 10, "one busy": 20, "a few busy": 54, "nested": 5 * k}.get(kind, 40)
    lenient = LENIENCY * rng.standard_normal(count)
    if kind in ("alike", "unknown"):
        lenient = np.zeros(count)
    work = np.ones(count)
    if kind == "one busy":
        work[0] = count - 1
    if kind == "a few busy":
        # As in the paper's campaigns: ten of 54 give about 0.7 of all judgments.
        work = 1 / np.arange(1, count + 1) ** 1.2
    share = np.tile(work / work.sum(), (k, 1))
    if kind == "nested":
        share = np.kron(np.eye(k), np.ones((1, 5))) / 5
    return lenient, share


@cache
def _paper(task, prompt, reference):
    """Return a function that draws n items of the paper's campaign."""
    every, _ = released(task, prompt, reference=reference)
    common = every[0].items
    for one in every[1:]:
        common = np.intersect1d(common, one.items)
    inside = [np.flatnonzero(np.isin(one.items, common)) for one in every]
    truth = np.array([one.human[where].mean() for one, where in zip(every, inside, strict=True)])
    scale = np.array([one.human[where].std() for one, where in zip(every, inside, strict=True)])
    human = np.array([one.human[where] for one, where in zip(every, inside, strict=True)])
    noise = [
        np.mean([one.judgments[output].var() for output in where])
        for one, where in zip(every, inside, strict=True)
    ]
    pools = [PoolMoments.of(one.metrics[where]) for one, where in zip(every, inside, strict=True)]

    def drawn(n, rng, *, same=True):
        systems = []
        items = np.sort(rng.choice(len(common), n, replace=False))
        for one, where, pool in zip(every, inside, pools, strict=True):
            if not same:
                items = np.sort(rng.choice(len(common), n, replace=False))
            chosen = where[items]
            score, rater = one.judge(rng, chosen)
            sample = judged_outputs(score, None, items, raters=rater)
            draw = simple_draw(sample, len(common))
            systems.append(JudgedSystem(sample, draw, one.metrics[chosen], items, rater, pool))
        return Campaign(systems, truth, truth, scale, human, np.array(noise))

    return drawn
