"""Campaigns of pairwise preferences with known truth: ties, tastes of raters, busy raters, identical outputs."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit

from steelyard.model.campaign import Campaign, Pools
from steelyard.model.fit import fit
from steelyard.questions.order_effect import order_effect
from steelyard.questions.preferred_pairs import pair_results, strengths

SIZE = 300
NODES, CHANCES = np.polynomial.hermite_e.hermegauss(21)
CHANCES = CHANCES / CHANCES.sum()


@dataclass(frozen=True)
class OneLook:
    """A fit that is looked at once."""

    fit: object

    def pair_looks(self, *_):
        return None


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
    strengths: dict
    true_strengths: np.ndarray
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


def runs(setting, *, runs, seed, raters="pool", balanced=True):
    """Yield simulated campaigns."""
    rng = np.random.default_rng(seed)
    for _ in range(runs):
        yield one_run(setting, rng, raters, balanced=balanced)


def one_run(setting, rng, raters, *, balanced=True):
    k = setting.systems
    quality = setting.spread * np.linspace(1, -1, k)[:, None] + 0.7 * rng.standard_normal((k, SIZE))
    metric = quality + rng.standard_normal((k, SIZE)) + rng.normal(0, 1, k)[:, None]
    same = np.arange(SIZE) < round(setting.identical * SIZE)
    metric[:, same] = metric[0, same]
    taste = setting.taste * rng.standard_normal((setting.raters, k))
    differing = np.flatnonzero(~same)
    shared = rng.permutation(differing)[: setting.n]
    rows, truth = [], []
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
        net = np.where(u < win, 1, np.where(u > 1 - loss, -1, 0))
        rows.append(
            np.stack([np.full(len(item), a), np.full(len(item), b), item, rater, net, first])
        )
        chance = outcome_chances(lead[differing], setting).sum(axis=1) / SIZE
        truth.append([chance[0] - chance[2], chance[0], 1 - chance[0] - chance[2], chance[2]])
    used = metric if setting.metric else None
    campaign = preferred(np.concatenate(rows, axis=1), k, same=same, metric=used)
    return read(campaign, np.array(truth), raters)


def preferred(rows, k, *, same, metric=None):
    """Return a campaign of preferences; rows are a, b, item, rater, net and first."""
    a, b, item, rater, net, first = rows
    numbers, code = np.unique(np.concatenate([item * k + a, item * k + b]), return_inverse=True)
    items, own = np.unique(numbers // k, return_inverse=True)
    values = np.zeros((k, 0, SIZE)) if metric is None else metric[:, None, :]
    share = same.mean()
    pools = Pools(
        size=np.full(k, SIZE),
        metric=values.mean(axis=2),
        covariance=values.var(axis=2)[:, :, None],
        common=np.full((k, k), float(SIZE)),
        identical=SIZE * (share + (1 - share) * np.eye(k)),
        sharing=(1 - share) * np.eye(k) + share / k,
        shared=np.full((k, 1), share),
        wrote=np.zeros((1, k), dtype=bool),
        likeness=np.eye(k),
    )
    return Campaign(
        systems=tuple("abcdefghij"[:k]),
        metrics=() if metric is None else ("metric",),
        score=net.astype(float),
        output=code[: len(a)],
        item=own,
        writers=np.eye(k)[numbers % k],
        metric=values[numbers % k, :, numbers // k],
        pools=pools,
        in_pool=np.ones((len(items), k), dtype=bool),
        rater=np.unique(rater, return_inverse=True)[1],
        other=code[len(a) :],
        first=first.astype(float),
    )


def read(campaign, truth, raters="pool"):
    """Return what the model finds, beside the truth."""
    k, found = campaign.k, fit(campaign)
    numbers = list(combinations(range(k), 2))
    scale = np.zeros(k)
    for (a, b), net in zip(numbers, truth[:, 0], strict=True):
        scale[[a, b]] += np.array([net, -net]) / k
    known, _ = strengths(found, range(k), raters, 0.95)
    return Run(
        pair_results(OneLook(found), numbers, raters, 0.95),
        truth,
        {one.system: one for one in known},
        dict(zip(campaign.systems, scale, strict=True)),
        order_effect(found, numbers, level=0.95),
    )
