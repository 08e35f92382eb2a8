"""Whether the ledger keeps its promise: plain means of as many judgments as it names have intervals as long.

    python -m benchmarks.ledger [CAMPAIGNS]

Campaigns of four systems with a good metric and fixed raters, each of a world of its own. For every mean, and for every difference on
the same items, as many fresh judgments as the ledger names are drawn with replacement, 40 times. Printed are their half-width over ours: the ratio of the means of
both over all campaigns, the mean of the ratios, and their geometric mean, each with its standard error.
"""

import sys

import numpy as np
from scipy.special import stdtrit

from benchmarks.device_worlds import Kind
from steelyard.errors import NotEstimableError
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.differences import Shared, campaign_differences
from steelyard.estimate.options import Options

OPTIONS = Options(raters_as="fixed", ledger=True)
FRESH = 40
CELLS = (
    *(
        (shape, n, 1)
        for shape in ("normal", "binary", "a little skewed", "skewed")
        for n in (20, 50, 150)
    ),
    ("normal", 50, 2),
)
PAIRS = ((0, 1), (2, 3))


def plain_half_width(scores):
    """Student's half-width of each row."""
    n = scores.shape[1]
    return stdtrit(n - 1, 0.975) * scores.std(axis=1, ddof=1) / np.sqrt(n)


def welch_half_width(a, b):
    parts = [(one.var(axis=1, ddof=1) / one.shape[1], one.shape[1] - 1) for one in (a, b)]
    total = sum(value for value, _ in parts)
    freedom = total**2 / sum(value**2 / count for value, count in parts)
    return stdtrit(freedom, 0.975) * np.sqrt(total)


def half_widths(campaign, rng):
    """Our half-width and that of fresh plain means, of each mean and of each difference; whether all ledgers add up."""
    means, pairs, sums = [], [], []
    for number, one in enumerate(campaign_means(campaign.systems, options=OPTIONS)):
        m = max(round(one.ledger.plain), 2)
        means.append(
            (
                (one.high - one.low) / 2,
                plain_half_width(campaign.fresh(number, (FRESH, m), rng)).mean(),
            )
        )
        sums.append(one.ledger)
    every = np.ones(campaign.systems[0].sample.n_outputs, dtype=bool)
    shared = [Shared(campaign.systems[0].draw.pool_size, 0, (every, every))] * len(PAIRS)
    for one in campaign_differences(campaign.systems, PAIRS, shared, options=OPTIONS):
        m = max(round(one.ledger.plain / 2), 2)
        fresh = (campaign.fresh(number, (FRESH, m), rng) for number in (one.a, one.b))
        pairs.append(((one.high - one.low) / 2, welch_half_width(*fresh).mean()))
        sums.append(one.ledger)
    add_up = all(np.isclose(one.plain - one.used, sum(one.saved.values())) for one in sums)
    return means, pairs, add_up


def told(found):
    """The three ratios of half-widths (campaigns, rows, 2), with standard errors over campaigns."""
    ours, fresh = found[..., 0], found[..., 1]
    ratio = fresh.mean() / ours.mean()
    each, log = (fresh / ours).mean(axis=1), np.log(fresh / ours).mean(axis=1)
    root = np.sqrt(len(found))
    left = (fresh - ratio * ours).mean(axis=1).std(ddof=1) / root / ours.mean()
    geometric = np.exp(log.mean())
    return (
        f"{ratio:.3f} ± {left:.3f} | {each.mean():.3f} ± {each.std(ddof=1) / root:.3f} | "
        f"{geometric:.3f} ± {geometric * log.std(ddof=1) / root:.3f}"
    )


def main(campaigns=100):
    print(f"{campaigns} campaigns: fresh plain half-width over ours")
    three = "{0}: ratio of means | mean of ratios | geometric mean"
    print(
        f"| scores | judged outputs | judgments of each | {three.format('means')} | {three.format('pairs')} |"
    )
    print("|---" * 9 + "|")
    for shape, n, each in CELLS:
        found, together = ([], []), True
        for run in range(campaigns):
            rng = np.random.default_rng([n, run])
            try:
                *both, add_up = half_widths(Kind(4, n, shape, "good", each=each).made(rng), rng)
            except (NotEstimableError, AttributeError):
                continue
            together &= add_up
            for own, one in zip(found, both, strict=True):
                own.append(one)
        cells = " | ".join(told(np.array(own)) for own in found)
        print(
            f"| {shape} | {n} | {each} | {cells} |{'' if together else ' DO NOT ADD UP'}",
            flush=True,
        )


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
