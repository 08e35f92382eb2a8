"""Campaigns of pairwise preferences with known truth: ties, tastes of raters, busy raters, identical outputs."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit

from steelyard.estimate import Options
from steelyard.estimate.bradley_terry import bradley_terry
from steelyard.estimate.order_effect import order_effect
from steelyard.estimate.preference_strengths import strengths
from steelyard.estimate.preferences import JudgedPair, preferences

SIZE = 300
NODES, CHANCES = np.polynomial.hermite_e.hermegauss(21)
CHANCES = CHANCES / CHANCES.sum()


@dataclass(frozen=True)
class Setting:
    """One kind of campaign: `n` items of every pair, `busy` if one rater gives half of the judgments."""

    systems: int = 2
    n: int = 40
    judgments: int = 1
    raters: int = 12
    taste: float = 0.5
    busy: bool = False
    tie: float = 0.7
    order: float = 0.0
    spread: float = 0.7
    identical: float = 0.0
    metric: bool = True
    same_items: bool = True


@dataclass(frozen=True, eq=False)
class Run:
    """What one simulated campaign found, and the truth about net, win, tie, loss and strengths."""

    pairs: list
    truth: np.ndarray
    strengths: object
    true_strengths: object
    order: object


def outcome_chances(lead, setting):
    """Return P(win), P(tie), P(loss) given the lead of a, over raters and both orders."""
    found = np.zeros((3, *lead.shape))
    for order in (-setting.order, setting.order):
        for node, chance in zip(NODES, CHANCES, strict=True):
            here = lead + order + node * setting.taste * np.sqrt(2)
            win, loss = expit(here - setting.tie), expit(-here - setting.tie)
            found += chance / 2 * np.stack([win, 1 - win - loss, loss])
    return found


def runs(setting, *, runs, seed, raters_as="random", level=0.95, balanced=True):
    """Yield simulated campaigns."""
    rng = np.random.default_rng(seed)
    for number in range(runs):
        yield one_run(setting, rng, raters_as, level, number, balanced=balanced)


def one_run(setting, rng, raters_as, level, seed, *, balanced=True):
    k = setting.systems
    mean = setting.spread * np.linspace(1, -1, k) if k > 1 else np.zeros(1)
    quality = mean[:, None] + 0.7 * rng.standard_normal((k, SIZE))
    metric = quality + rng.standard_normal((k, SIZE)) + rng.normal(0, 1, k)[:, None]
    same = np.zeros(SIZE, dtype=bool)
    same[: round(setting.identical * SIZE)] = True
    taste = setting.taste * rng.standard_normal((setting.raters, k))
    differing = np.flatnonzero(~same)
    shared = rng.permutation(differing)[: setting.n]
    pairs, truth, firsts = [], [], []
    for a, b in combinations(range(k), 2):
        chosen = shared if setting.same_items else rng.permutation(differing)[: setting.n]
        item = np.repeat(chosen, setting.judgments)
        rater = rng.integers(setting.raters, size=len(item))
        if setting.busy:
            rater[rng.random(len(item)) < 0.5] = 0
        first = np.where(rng.random(len(item)) < (0.5 if balanced else 0.8), 1, -1)
        lead = quality[a] - quality[b]
        z = lead[item] + taste[rater, a] - taste[rater, b] + setting.order * first
        u = rng.random(len(z))
        win, loss = expit(z - setting.tie), expit(-z - setting.tie)
        net = np.where(u < win, 1.0, np.where(u > 1 - loss, -1.0, 0.0))
        gap = (metric[a] - metric[b])[differing, None]
        gap = gap if setting.metric else gap[:, :0]
        place = np.searchsorted(differing, np.unique(item))
        pairs.append(JudgedPair(a, b, net, item, rater, SIZE, int(same.sum()), gap, place))
        chance = outcome_chances(lead[differing], setting).sum(axis=1) / SIZE
        truth.append([chance[0] - chance[2], chance[0], 1 - chance[0] - chance[2], chance[2]])
        firsts.append(first)
    found, gathered = preferences(
        pairs, options=Options(raters_as=raters_as, level=level), seed=seed
    )
    truth = np.array(truth)
    shares = (1 + truth[:, 0]) / 2
    numbers = [(one.a, one.b) for one in pairs]
    order = order_effect(
        np.concatenate([one.net for one in pairs]),
        np.concatenate(firsts),
        np.repeat(np.arange(len(pairs)), [len(one.net) for one in pairs]),
        item=np.concatenate([one.item for one in pairs]),
        rater=np.concatenate([one.rater for one in pairs]),
        raters=raters_as != "fixed",
        level=level,
    )
    return Run(
        found,
        truth,
        strengths(gathered, range(k), level=level, seed=seed),
        bradley_terry(numbers, shares, gathered.weights, systems=k).values,
        order,
    )
