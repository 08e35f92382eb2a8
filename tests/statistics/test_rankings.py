"""Orders of several outputs by one rater: what they say about pairs is covered, alone and together.

A rater who puts k outputs in order gives k(k-1)/2 preferences at once, which depend on one another. Pairs share
the item and the rater.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest, norm, ttest_1samp
from simulated_preferences import SIZE, preferred, read

# Rankings of every item by other raters, which the truth is taken from: its error is below 0.004.
TRUE_RATERS = 200


@dataclass(frozen=True)
class Setting:
    """One kind of campaign: `ties` is the width of what raters do not tell apart, 0 for no ties."""

    systems: int
    n: int
    judgments: int = 1
    raters: int = 12
    taste: float = 0.5
    busy: bool = False
    ties: float = 0.8
    spread: float = 0.5


KINDS = [
    Setting(3, 20),
    Setting(3, 40, judgments=2),
    Setting(3, 60, ties=0.0, spread=0.0),
    Setting(5, 40),
    Setting(5, 40, busy=True),
    Setting(6, 30, judgments=3, raters=8),
]


def nets(quality, taste, rng, ties):
    """Return 1, 0 or -1 for every pair of systems (rows), as one order of each column says."""
    found = quality + taste + rng.standard_normal(quality.shape)
    # what lies in one step of the scale has one place: ties that are orders, too
    found = np.floor((found + rng.random(found.shape[1]) * ties) / ties) if ties else found
    return np.stack([np.sign(found[a] - found[b]) for a, b in combinations(range(len(found)), 2)])


def one_run(setting, rng):
    """Return what the model finds of one campaign, beside the truth."""
    k = setting.systems
    quality = setting.spread * np.linspace(1, -1, k)[:, None] + 0.7 * rng.standard_normal((k, SIZE))
    # quantiles in random order: their mean is exactly that of all raters
    quantiles = norm.ppf((np.arange(TRUE_RATERS) + 0.5) / TRUE_RATERS)
    everyone = setting.taste * np.stack([rng.permutation(quantiles) for _ in range(k)])
    truth = np.mean(
        [nets(quality, one[:, None], rng, setting.ties).mean(axis=1) for one in everyone.T], axis=0
    )
    taste = setting.taste * rng.standard_normal((k, setting.raters))
    item = np.repeat(rng.permutation(SIZE)[: setting.n], setting.judgments)
    who = [rng.permutation(setting.raters)[: setting.judgments] for _ in range(setting.n)]
    rater = np.concatenate(who)
    if setting.busy:
        rater[rng.random(len(rater)) < 0.5] = 0
    orders = nets(quality[:, item], taste[:, rater], rng, setting.ties)
    numbers = list(combinations(range(k), 2))
    rows = [
        np.stack([np.full(len(item), a), np.full(len(item), b), item, rater, net, 0 * item])
        for (a, b), net in zip(numbers, orders, strict=True)
    ]
    campaign = preferred(
        np.concatenate(rows, axis=1).astype(int), k, same=np.zeros(SIZE, dtype=bool)
    )
    return read(campaign, truth[:, None])


def below(hits, level):
    """Whether the share of hits is below `level` beyond chance."""
    return binomtest(int(np.sum(hits)), len(hits), level, alternative="less").pvalue < 0.005


@pytest.mark.slow
@pytest.mark.parametrize("setting", KINDS, ids=str)
def test_pairs_of_orders_are_covered_alone_and_together(setting):
    rng = np.random.default_rng(setting.n + setting.systems)
    alone, together, strong, errors = [], [], [], []
    for _ in range(150):
        run = one_run(setting, rng)
        own = [
            one.low <= value <= one.high
            for one, value in zip(run.pairs, run.truth[:, 0], strict=True)
        ]
        alone.append(own[0])
        together.append(
            all(
                one.simultaneous_low <= value <= one.simultaneous_high
                for one, value in zip(run.pairs, run.truth[:, 0], strict=True)
            )
        )
        errors.append(run.pairs[0].net - run.truth[0, 0])
        strong.append(
            all(
                one.low <= run.true_strengths[name] <= one.high
                for name, one in run.strengths.items()
            )
        )
    assert not below(alone, 0.95)
    assert not below(together, 0.94)
    assert not below(strong, 0.94)
    assert ttest_1samp(errors, 0).pvalue > 0.001
