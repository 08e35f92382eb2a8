"""How often all pairs of a comparison hold together on counts of errors, whose tails are long.

    python -m benchmarks.long_tails

Systems share items, but for the settings named "own". A count is the rounded exponential of a normal score; one judgment of each output,
no metric, raters fixed. "Own" is each pair's own variance, as a paired t test has it; "lent" is
`compare` as it is. Other scores show what that costs where tails are short.
"""

from itertools import combinations
from unittest.mock import patch

import numpy as np
from scipy.stats import norm

from steelyard.arrays import judged_outputs, simple_draw
from steelyard.estimate import Options
from steelyard.estimate.compared_judgments import Shared
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.differences import campaign_differences
from steelyard.estimate.pair_tails import PairTails

SIZE, NOISE = 200, 0.76
# systems, items, campaigns, whether on the same items
SETTINGS = (
    (10, 20, 80, True),
    (10, 60, 40, True),
    (15, 10, 40, True),
    (5, 40, 80, True),
    (10, 20, 80, False),
)
SHAPES = {
    "counts": lambda z: -np.round(np.expm1(np.clip(1.1 * (0.3 - z), 0, None))),
    "ordinal": lambda z: np.clip(np.round(3.8 + 1.1 * z), 1, 5),
    "normal": lambda z: z,
    "binary": lambda z: (z > -0.8).astype(float),
}


def campaign(shape, k, n, rng, *, same=True):
    """Return the judged systems, and their true means over raters' noise."""
    latent = rng.normal(0, 0.3, k) + 0.8 * rng.normal(size=(SIZE, 1))
    latent = latent + 0.6 * rng.normal(size=(SIZE, k))
    noise = NOISE * norm.ppf((np.arange(60) + 0.5) / 60)
    truth = np.mean([shape(latent + one) for one in noise], axis=0).mean(axis=0)
    items = np.sort(rng.choice(SIZE, n, replace=False))
    systems = []
    for every in latent.T:
        if not same:
            items = np.sort(rng.choice(SIZE, n, replace=False))
        own = every[items]
        sample = judged_outputs(shape(own + NOISE * rng.normal(size=n)), None, items)
        draw = simple_draw(sample, SIZE)
        systems.append(JudgedSystem(sample, draw, np.empty((n, 0)), items, None, None))
    return systems, truth


def compared(systems, truth):
    """Return whether all simultaneous intervals hold, and their half-lengths."""
    pairs = list(combinations(range(len(systems)), 2))
    every = np.ones(systems[0].sample.n_outputs, dtype=bool)
    shared = [Shared(SIZE, 0, (every, every)) for _ in pairs]
    found = campaign_differences(systems, pairs, shared, options=Options(raters_as="fixed"))
    held = all(
        one.simultaneous_low <= truth[one.a] - truth[one.b] <= one.simultaneous_high
        for one in found
    )
    return held, [one.simultaneous_high - one.difference for one in found]


def main():
    print(f"{'':32}own: held   lent: held   median length over own's")
    for name, shape in SHAPES.items():
        for k, n, runs, same in SETTINGS:
            own, lent, ratios = [], [], []
            for run in range(runs):
                made = campaign(shape, k, n, np.random.default_rng([9, run]), same=same)
                with patch.object(PairTails, "of", return_value=None):
                    alone, short = compared(*made)
                together, long = compared(*made)
                own.append(alone)
                lent.append(together)
                ratios += list(np.array(long) / np.array(short))
            print(
                f"{name:8} {k:2} systems, {n:2} {'' if same else 'own '}items {runs:4} {np.mean(own):9.3f} "
                f"{np.mean(lent):12.3f} {np.median(ratios):12.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
