"""Slices, mixes of slices and averages over prompts cover at their level, judged by binomial tests."""

from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest, ttest_1samp

from steelyard import Study

SIZE, SYSTEMS, TOPICS = 300, 4, ("mail", "news", "web")
MIX = {"mail": 0.6, "news": 0.1, "web": 0.3}
WEIGHTS = {"fluency": 2.0, "overall": 1.0}
RUNS = 60


@cache
def world():
    """Human scores (system, prompt, item) and a metric; topics differ in level and in who is better."""
    rng = np.random.default_rng(7)
    topic = rng.choice(3, SIZE, p=[0.2, 0.5, 0.3])
    item = rng.standard_normal(SIZE)
    level = np.array([0.0, 0.8, -0.5])[topic]
    suits = rng.normal(0, 0.4, (SYSTEMS, 3))[:, topic]
    own = rng.standard_normal((SYSTEMS, SIZE))
    score = level + suits + 0.7 * (item + own)
    # The two prompts share most of what makes a text good.
    prompts = np.stack([score, 0.8 * score + 0.4 * rng.standard_normal((SYSTEMS, SIZE))], axis=1)
    metric = score + rng.standard_normal((SYSTEMS, SIZE)) + rng.normal(0, 1, SYSTEMS)[:, None]
    return topic, prompts, metric


@cache
def outputs():
    topic, _, metric = world()
    return pl.DataFrame(
        {
            "item": [f"i{one}" for one in range(SIZE)] * SYSTEMS,
            "system": np.repeat([f"s{one}" for one in range(SYSTEMS)], SIZE),
            "output": [f"{one}" for one in range(SIZE * SYSTEMS)],
            "topic": np.array(TOPICS)[np.tile(topic, SYSTEMS)],
            "rouge": metric.ravel(),
        }
    )


def study(rng, n, *, raters=10):
    """Judge the same items of all systems; each rater judges an output under both prompts."""
    _, prompts, _ = world()
    items = rng.permutation(SIZE)[:n]
    leniency = 0.4 * rng.standard_normal(raters)
    rows = []
    for system in range(SYSTEMS):
        for item in items:
            rater = rng.integers(raters)
            # One mood of the rater for both prompts.
            mood = leniency[rater] + 0.5 * rng.standard_normal()
            for number, prompt in enumerate(WEIGHTS):
                score = prompts[system, number, item] + mood + 0.4 * rng.standard_normal()
                rows.append((f"i{item}", f"s{system}", f"r{rater}", prompt, score))
    schema = ["item", "system", "rater", "prompt", "score"]
    return Study.read(outputs(), pl.DataFrame(rows, schema=schema, orient="row"))


def truth(name, system, prompt=1):
    """The mean of one system over a topic, or under the mix."""
    topic, prompts, _ = world()
    score = prompts[int(system[1:]), prompt]
    if name in TOPICS:
        return score[topic == TOPICS.index(name)].mean()
    return sum(MIX[one] * score[topic == number].mean() for number, one in enumerate(TOPICS))


def covered(hits):
    return binomtest(int(np.sum(hits)), len(hits), 0.94, alternative="less").pvalue > 0.005


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 120])
@pytest.mark.parametrize("weights", [None, MIX], ids=["slices", "mix"])
def test_estimates_by_slice_are_unbiased_and_covered(n, weights):
    rng = np.random.default_rng(n)
    hits, errors = [], []
    for _ in range(RUNS):
        found = study(rng, n).estimate(prompts="overall", by="topic", weights=weights)
        gaps = [one.estimate - truth(one.slice, one.system) for one in found]
        hits += [one.low <= truth(one.slice, one.system) <= one.high for one in found]
        errors.append(np.mean(gaps))
    assert covered(hits)
    assert ttest_1samp(errors, 0).pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, MIX], ids=["slices", "mix"])
def test_differences_by_slice_are_covered_alone_and_together(weights):
    rng = np.random.default_rng(3)
    alone, together, errors = [], [], []
    for _ in range(RUNS):
        found = study(rng, 80).compare(prompts="overall", by="topic", weights=weights)
        pairs = [
            (pair, truth(one.slice, pair.a) - truth(one.slice, pair.b))
            for one in found
            for pair in one.pairs
        ]
        alone += [pair.low <= gap <= pair.high for pair, gap in pairs]
        together.append(
            all(pair.simultaneous_low <= gap <= pair.simultaneous_high for pair, gap in pairs)
        )
        errors.append(np.mean([pair.difference - gap for pair, gap in pairs]))
    assert covered(alone)
    assert covered(together)
    assert ttest_1samp(errors, 0).pvalue > 0.001


@pytest.mark.slow
def test_averages_over_prompts_are_covered():
    rng = np.random.default_rng(5)
    _, prompts, _ = world()
    composite = (2 * prompts[:, 0] + prompts[:, 1]).mean(axis=1) / 3
    hits, differences = [], []
    for _ in range(RUNS):
        one = study(rng, 40)
        for found in one.estimate(average=WEIGHTS):
            hits.append(found.low <= composite[int(found.system[1:])] <= found.high)
        [compared] = one.compare(average=WEIGHTS)
        for pair in compared.pairs:
            gap = composite[int(pair.a[1:])] - composite[int(pair.b[1:])]
            differences.append(pair.low <= gap <= pair.high)
    assert covered(hits)
    assert covered(differences)
