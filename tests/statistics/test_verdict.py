"""How often the verdict of a diagnosis says firmly what is wrong."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from steelyard.study import Study

RATERS, METRIC = "Rater noise holds you back", "The metric holds you back"


def verdict(rng, shape, *, noise_ratio, correlation, judged, twice):
    """Return the verdict on one campaign of ten raters and three metrics, one of them of use."""
    score = {
        "normal": lambda: rng.normal(size=judged),
        "skewed": lambda: rng.exponential(size=judged) - 1,
    }[shape]()
    useful = correlation * score + np.sqrt(1 - correlation**2) * rng.normal(size=judged)
    outputs = pl.DataFrame({"item": range(judged), "system": "s", "m": useful}).with_columns(
        a=rng.normal(size=judged), b=rng.normal(size=judged)
    )
    item = np.append(np.arange(judged), np.arange(twice))
    rater = rng.integers(0, 10, size=len(item))
    rater[judged:] = (rater[:twice] + rng.integers(1, 10, size=twice)) % 10
    # A fifth of the rater variance is leniency.
    leniency = np.sqrt(0.2 * noise_ratio) * rng.normal(size=10)
    noise = np.sqrt(0.8 * noise_ratio) * rng.normal(size=len(item))
    judgments = pl.DataFrame(
        {"item": item, "system": "s", "rater": rater, "prompt": "p"}
    ).with_columns(score=score[item] + leniency[rater] + noise)
    [found] = Study.read(outputs, judgments).diagnose(resamples=300)
    return found.verdict


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["normal", "skewed"])
@pytest.mark.parametrize("sizes", [{"judged": 100, "twice": 20}, {"judged": 60, "twice": 60}])
@pytest.mark.parametrize(
    ("truth", "wrong"),
    # Raters hold back where the noise ratio and the squared correlation are more than 1 together.
    [
        ({"noise_ratio": 0.3, "correlation": 0.5}, RATERS),
        ({"noise_ratio": 0.7, "correlation": 0.4}, RATERS),
        ({"noise_ratio": 0.9, "correlation": 0.5}, METRIC),
        ({"noise_ratio": 2.0, "correlation": 0.6}, METRIC),
    ],
)
def test_a_firm_verdict_is_seldom_wrong(shape, sizes, truth, wrong):
    rngs = [np.random.default_rng([seed, sizes["judged"]]) for seed in range(60)]
    misled = sum(wrong in verdict(rng, shape, **sizes, **truth) for rng in rngs)
    assert binomtest(misled, len(rngs), 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.slow
def test_enough_judgments_make_the_verdict_firm():
    truth = {"noise_ratio": 2.0, "correlation": 0.6, "judged": 200, "twice": 200}
    said = [verdict(np.random.default_rng(seed), "normal", **truth) for seed in range(20)]
    assert sum(RATERS in one for one in said) >= 15
