"""Coverage where systems share texts that are judged once, by lenient and strict raters."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from steelyard import Study

RUNS, SIZE, ITEMS, RATERS = 60, 200, 40, 12


def world(rng, systems, share):
    """Outputs of systems, any two of which have `share` of their texts in common."""
    item, error = rng.standard_normal((2, SIZE))
    common, blurred = item + 0.7 * error, rng.standard_normal(SIZE)
    parts = []
    for system in range(systems):
        same = rng.random(SIZE) < np.sqrt(share)
        own = item + 0.7 * rng.standard_normal(SIZE) - 0.4 + 0.2 * system
        true = np.where(same, common, own)
        noise = np.where(same, blurred, rng.standard_normal(SIZE))
        parts.append(
            pl.DataFrame(
                {
                    "item": [f"i{one:03}" for one in range(SIZE)],
                    "system": f"s{system}",
                    "output": [f"{i}" if same[i] else f"{i} {system}" for i in range(SIZE)],
                    "metric": true + 1.2 * noise,
                    "true": true,
                }
            )
        )
    return pl.concat(parts)


def judged(frame, rng):
    """One judgment of each text of some items."""
    drawn = Study.read(frame).sample(ITEMS, seed=int(rng.integers(2**31))).frame
    leniency = 0.5 * rng.standard_normal(RATERS)
    rater = rng.integers(0, RATERS, drawn.height)
    noise = leniency[rater] + 0.7 * rng.standard_normal(drawn.height)
    return drawn.with_columns(
        score=pl.col("true") + pl.Series(noise),
        rater=pl.Series([f"r{one:02}" for one in rater]),
        prompt=pl.lit("p"),
    ).drop("output", "metric", "true")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.7])
@pytest.mark.parametrize("systems", [2, 5])
def test_means_and_differences_cover_where_texts_are_shared(systems, share):
    rng = np.random.default_rng(1)
    means, pairs, together = [], [], []
    for _ in range(RUNS):
        frame = world(rng, systems, share)
        truth = dict(frame.group_by("system").agg(pl.mean("true")).iter_rows())
        study = Study.read(frame.drop("true"), judged(frame, rng))
        found = study.estimate()
        means.append([one.low <= truth[one.system] <= one.high for one in found])
        assert [one.n_outputs for one in found] == [ITEMS] * systems
        compared = study.compare()[0].pairs
        assert len(compared) == len(list(combinations(truth, 2)))
        errors = [(one, truth[one.a] - truth[one.b]) for one in compared]
        pairs.append([one.low <= want <= one.high for one, want in errors])
        together.append(
            all(one.simultaneous_low <= want <= one.simultaneous_high for one, want in errors)
        )
    # Systems of one campaign err together: each campaign counts by its share of hits.
    for hits in (np.mean(means, axis=1), np.mean(pairs, axis=1), np.array(together)):
        held = round(float(hits.sum()))
        assert binomtest(held, RUNS, 0.95, alternative="less").pvalue > 1e-3
