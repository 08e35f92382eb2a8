import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from steelyard.arrays import judged_outputs
from steelyard.design import ConfidenceSequence
from steelyard.study import Study
from steelyard.study.finished import FinishedCampaign
from steelyard.study.simulation import simulate

SIZE = 300


def campaign(judgments, seed=3):
    """All outputs judged so often; item variance 1/4 and rater variance 3/4."""
    rng = np.random.default_rng(seed)
    score = 0.5 * rng.normal(size=SIZE)
    items = np.repeat(np.arange(SIZE), judgments)
    human = np.clip(score[items] + np.sqrt(0.75) * rng.normal(size=len(items)), -5, 5)
    return score, items, human


def test_a_replay_is_held_against_a_truth_that_is_not_known_exactly():
    # 25 outputs each with judgments (0, 1) and (4, 5): rater variance 1/2, and so the mean of all is
    # off from the mean human score by a variance of 1/2 * mean(1/2) / 50 = 1/200
    items = np.repeat(np.arange(50), 2)
    sample = judged_outputs([0.0, 1.0, 4.0, 5.0] * 25, items % 7, items)
    made = FinishedCampaign.of(sample, 50, half_width=0.4, bounds=(0, 5), level=0.95, look=10)
    assert made.rater_variance == pytest.approx(0.5)
    outcomes = made.outcomes("plan", with_metric=False, strata=1, runs=400, seed=0)
    # n of 50: between outputs 4 * 50/49 * (1/n - 1/50); 1/4 / n from the judgments drawn, which vary
    # by 1/4 about their means; 1/200 from those means
    n = outcomes[0].judgments
    variance = 4 * 50 / 49 * (1 / n - 1 / 50) + 1 / 4 / n + 1 / 200
    errors = np.array([one.error for one in outcomes])
    assert np.mean(errors**2) == pytest.approx(variance, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("judgments", [2, 5])
def test_replays_are_neither_better_nor_worse_than_campaigns(judgments):
    score, items, human = campaign(judgments)
    rng = np.random.default_rng(0)
    metric = score + 0.5 * rng.normal(size=SIZE)
    raters = [f"r{j}" for _ in range(SIZE) for j in range(judgments)]
    study = Study.read(
        pl.DataFrame({"item": range(SIZE), "system": "s", "metric": metric}),
        pl.DataFrame(
            {"item": items, "system": "s", "rater": raters, "prompt": "p", "score": human}
        ),
    )
    found = simulate(
        study,
        ["metric"],
        prompt="p",
        half_width=0.12,
        bounds=(-5, 5),
        rules=("plan",),
        runs=600,
    )
    *_, plain = found
    n = int(plain.judgments)
    # a new campaign of n judgments: variance 1/4 (1/n - 1/N) + 3/4 / n
    error = np.sqrt(score.var(ddof=1) * (1 / n - 1 / SIZE) + 0.75 / n)
    assert plain.error == pytest.approx(error, rel=0.1)
    assert plain.half_width == pytest.approx(1.97 * error, rel=0.1)
    assert binomtest(round(600 * plain.coverage), 600, 0.95).pvalue > 0.01


def judged_in_part(size, judged, *, seed):
    """A pool of true scores, and a study in which so many of its outputs are judged twice."""
    rng = np.random.default_rng(seed)
    score = np.clip(0.5 * rng.normal(size=size), -2, 2)
    items = np.repeat(rng.permutation(size)[:judged], 2)
    rows = {"item": items, "system": "s", "rater": np.tile(["r0", "r1"], judged), "prompt": "p"}
    human = np.clip(score[items] + 0.5 * rng.normal(size=len(items)), -4, 4)
    outputs = pl.DataFrame({"item": range(size), "system": "s", "metric": rng.normal(size=size)})
    return score, Study.read(outputs, pl.DataFrame(rows | {"score": human}))


def test_a_plan_is_replayed_on_a_pool_of_the_real_size():
    score, study = judged_in_part(999, 300, seed=1)
    options = {"half_width": 0.09, "bounds": (-4, 4), "rules": ("plan",)}
    *_, plain = study.simulate(["metric"], runs=300, **options)
    n = int(plain.judgments)
    assert plain.pool_size == 999
    assert n > 150
    error = np.sqrt(score.var() * (1 / n - 1 / 999) + 0.25 / n)
    assert plain.error == pytest.approx(error, rel=0.12)
    assert plain.half_width == pytest.approx(1.97 * error, rel=0.08)


def test_a_plan_is_that_of_plan_and_its_estimate_that_of_estimate():
    # All outputs judged twice; the other way draws from the whole pool and asks `Study.estimate`.
    score, items, human = campaign(2)
    rng = np.random.default_rng(5)
    outputs = pl.DataFrame(
        {"item": range(SIZE), "system": "s", "metric": score + 0.2 * rng.normal(size=SIZE)}
    )
    judged = pl.DataFrame({"item": items, "system": "s", "prompt": "p", "score": human})
    judged = judged.with_columns(rater=pl.Series(["a", "b"] * SIZE))
    study = Study.read(outputs, judged)
    options = {"half_width": 0.12, "bounds": (-5, 5), "rules": ("plan",)}
    with_metric, plain = study.simulate(["metric"], runs=40, **options)
    for found, metrics in ((with_metric, ["metric"]), (plain, [])):
        made = study.plan(
            metrics, half_width=0.12, judgments_per_output=1, pass_rater_variance=True
        )
        assert found.judgments == made.assured.outputs
    assert with_metric.judgments < 0.95 * plain.judgments
    n, rater = int(with_metric.judgments), made.assumptions.rater_variance.value
    widths = []
    for run in range(12):
        rng = np.random.default_rng([3, run])
        rows = 2 * rng.permutation(SIZE)[:n] + rng.integers(0, 2, size=n)
        [one] = Study.read(outputs, judged[rows]).estimate(["metric"], rater_variance=rater)
        widths.append(one.half_width)
    assert with_metric.half_width == pytest.approx(np.mean(widths), rel=0.05)


def test_a_sequence_stops_as_in_campaigns_of_the_whole_pool():
    score, study = judged_in_part(600, 300, seed=2)
    options = {"half_width": 0.2, "bounds": (-4, 4), "rules": ("asymptotic",)}
    *_, replayed = study.simulate(["metric"], runs=30, **options)
    stopped = []
    for run in range(30):
        rng = np.random.default_rng([9, run])
        judged = np.clip(score + 0.5 * rng.normal(size=600), -4, 4)[rng.permutation(600)]
        sequence = ConfidenceSequence(
            None, bounds=(-4, 4), method="asymptotic", pool_size=600, goal=0.2
        )
        for start in range(0, 600, 10):
            sequence.update(judged[start : start + 10])
            if sequence.half_width <= 0.2:
                break
        stopped.append(sequence.n)
    assert replayed.judgments == pytest.approx(np.mean(stopped), rel=0.1)
