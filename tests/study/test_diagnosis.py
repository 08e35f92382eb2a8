import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from steelyard.study import Study
from steelyard.variance import crossed_components


def campaign(rng, *, raters=2, leniency=1.0, judged=100, metrics=None):
    """All judged outputs by the same raters; metric m has correlation 0.6 with the human score."""
    score = rng.normal(size=400)
    columns = {"m": 0.6 * score + 0.8 * rng.normal(size=400)} if metrics is None else metrics
    item = np.repeat(rng.permutation(400)[:judged], raters)
    rater = np.tile(np.arange(raters), judged)
    own = leniency * rng.normal(size=raters)
    human = score[item] + own[rater] + 0.7 * rng.normal(size=len(item))
    judgments = pl.DataFrame(
        {"item": item, "system": "s", "rater": [f"r{r}" for r in rater], "prompt": "p"}
    ).with_columns(score=human)
    return Study.read(pl.DataFrame({"item": range(400), "system": "s", **columns}), judgments)


def test_components_are_those_of_crossed_outputs_and_raters():
    study = campaign(np.random.default_rng(1))
    [found] = study.diagnose(resamples=100)
    frame = study.judgments.frame
    crossed = crossed_components(frame["score"], frame["item"], frame["rater"])
    assert found.item_variance.value == pytest.approx(crossed.item)
    assert found.rater_variance.value == pytest.approx(crossed.leniency + crossed.residual)
    assert any("only 2 raters" in note for note in found.notes)


@pytest.mark.slow
@pytest.mark.parametrize("raters", [2, 3])
def test_few_raters_who_judge_everything_do_not_mislead(raters):
    # Item variance 1, rater variance 1 + 0.49, DE = 2.49 / (2.49 - 0.36). From the one-way analysis
    # the item variance is too small by 1 / raters, and the noise ratio's intervals hold the truth in
    # a third to a half of campaigns.
    truth = {"noise_ratio": 1.49, "correlation": 0.6, "data_efficiency": 2.49 / 2.13}
    reps, items, hits = 200, [], dict.fromkeys(truth, 0)
    for seed in range(reps):
        study = campaign(np.random.default_rng([seed, raters]), raters=raters)
        [found] = study.diagnose(resamples=400)
        items.append(found.item_variance.value)
        for name, value in truth.items():
            one = found.noise_ratio if name == "noise_ratio" else getattr(found.metrics["m"], name)
            hits[name] += one.low <= value <= one.high
    assert abs(np.mean(items) - 1) < 4 * np.std(items) / np.sqrt(reps)
    for name, hit in hits.items():
        assert binomtest(int(hit), reps, 0.93, alternative="less").pvalue > 0.001, (name, hit)


def worthless(seed):
    """Ten metrics that tell nothing."""
    rng = np.random.default_rng(seed)
    metrics = {f"m{k}": rng.normal(size=400) for k in range(10)}
    [found] = campaign(rng, leniency=0.0, judged=80, metrics=metrics).diagnose(resamples=200)
    return found


def test_the_verdict_allows_for_the_choice_of_the_best_metric():
    found = worthless(1)
    assert found.metrics[found.best].data_efficiency.low > 1
    assert "though nothing at all is possible too for the best of 10 metrics" in found.verdict


@pytest.mark.slow
def test_the_best_of_many_worthless_metrics_is_seldom_said_to_save():
    # At its own level the best of ten is in half of all campaigns.
    claims = sum("nothing at all is possible" not in worthless(k).verdict for k in range(300))
    assert binomtest(claims, 300, 0.05, alternative="greater").pvalue > 0.001


def test_metrics_that_repeat_each_other_are_told_of_one_by_one():
    rng = np.random.default_rng(3)
    metric = rng.normal(size=400)
    study = campaign(rng, metrics={"a": metric, "b": 2 * metric + 1})
    [found] = study.diagnose(resamples=100)
    assert set(found.metrics) == {"a", "b"}
    assert found.together is None
    assert any("all metrics together are left out" in note for note in found.notes)
    assert any("collinear" in note for note in found.notes)


def test_more_metrics_than_outputs_are_told_of_one_by_one():
    rng = np.random.default_rng(3)
    metrics = {f"m{k}": rng.normal(size=400) for k in range(8)}
    [found] = campaign(rng, judged=10, metrics=metrics).diagnose(resamples=100)
    assert len(found.metrics) == 8
    assert found.together is None
    assert any("needs more than 10 judged outputs; got 10" in note for note in found.notes)


def test_outputs_of_equal_means_are_diagnosed_too():
    outputs = pl.DataFrame({"item": range(60), "system": "s", "m": np.arange(60) % 7})
    judgments = pl.DataFrame(
        {"item": np.repeat(range(40), 2), "system": "s", "rater": ["a", "b"] * 40, "prompt": "p"}
    ).with_columns(score=pl.Series([0.0, 1.0] * 40))
    [found] = Study.read(outputs, judgments).diagnose(resamples=100)
    assert found.agreement.icc_average == -np.inf
    assert found.item_variance.value == 0
    assert "no metric can save anything" in found.verdict


def test_what_sets_systems_apart_is_no_saving():
    rng = np.random.default_rng(4)
    rows, judged = [], []
    for level, system in enumerate("ab"):
        metric, score = rng.normal(size=(2, 50)) + 5 * level
        rows += [{"item": i, "system": system, "m": metric[i]} for i in range(50)]
        judged += [
            {"item": i, "system": system, "rater": r, "prompt": "p", "score": score[i] + noise}
            for i in range(50)
            for r, noise in zip("uv", rng.normal(size=2), strict=True)
        ]
    [*each, whole] = Study.read(pl.DataFrame(rows), pl.DataFrame(judged)).diagnose(resamples=100)
    assert all("nothing at all is possible" in one.verdict for one in each)
    assert whole.system == "*"
    assert any("within systems" in note for note in whole.notes)
    # as one pool the metric would have a correlation of almost 1
    assert abs(whole.metrics["m"].correlation.value) < 0.4


def several(rng, systems="abc", *, judged=20, each=2, metrics=2):
    """Systems of 40 outputs with metrics m0, m1, ..., some of them judged."""
    rows, judgments = [], []
    for level, system in enumerate(systems):
        score = rng.normal(size=40)
        for i in range(40):
            own = {f"m{k}": float(score[i] + rng.normal()) for k in range(metrics)}
            rows.append({"item": i, "system": system, **own})
        judgments += [
            {"item": i, "system": system, "rater": r, "prompt": "p", "score": value}
            for i in range(judged)
            for r, value in zip("uvw", score[i] + 3 * level + rng.normal(size=each), strict=False)
        ]
    return pl.DataFrame(rows), pl.DataFrame(judgments)


def shown(found):
    return {one.system: one for one in found}


def test_a_system_with_too_few_judgments_does_not_end_the_table():
    outputs, judgments = several(np.random.default_rng(1))
    once = (pl.col("system") == "b") & (pl.col("rater") == "v")
    found = shown(Study.read(outputs, judgments.filter(~once)).diagnose(resamples=100))
    assert list(found) == ["a", "b", "c", "*"]
    assert "at least one output with two judgments is needed" in found["b"].refusal
    assert found["b"].notes == (f"no diagnosis: {found['b'].refusal}",)
    assert np.isnan(found["b"].noise_ratio.value)
    assert (found["b"].n_outputs, found["b"].n_judgments) == (20, 20)
    assert found["a"].metrics
    assert found["*"].metrics


def test_a_metric_that_is_constant_in_one_system_is_missed_there_alone():
    outputs, judgments = several(np.random.default_rng(2))
    flat = outputs.with_columns(
        pl.when(pl.col("system") == "b").then(1.0).otherwise("m0").alias("m0")
    )
    found = shown(Study.read(flat, judgments).diagnose(resamples=100))
    assert set(found["b"].metrics) == {"m1"}
    assert "m0 is constant on the judged outputs and can save nothing" in found["b"].notes
    assert set(found["a"].metrics) == set(found["*"].metrics) == {"m0", "m1"}


@pytest.mark.parametrize("item", [3, 35])
def test_a_gap_in_a_metric_is_the_trouble_of_that_system(item):
    # judged or not
    outputs, judgments = several(np.random.default_rng(3))
    gap = (pl.col("system") == "b") & (pl.col("item") == item)
    holed = outputs.with_columns(pl.when(gap).then(None).otherwise("m0").alias("m0"))
    found = shown(Study.read(holed, judgments).diagnose(resamples=100))
    whole = shown(Study.read(outputs, judgments).diagnose(resamples=100))
    assert set(found["b"].metrics) == {"m1"}
    assert "m0 is left out: 1 outputs have no value of it" in found["b"].notes
    assert found["a"].to_dict() == whole["a"].to_dict()
    assert found["*"].noise_ratio == whole["*"].noise_ratio
    # over the two systems that have it
    pair = outputs["system"].is_in(["a", "c"]), judgments["system"].is_in(["a", "c"])
    two = Study.read(outputs.filter(pair[0]), judgments.filter(pair[1])).diagnose(resamples=100)[-1]
    expected = two.metrics["m0"].correlation.value
    assert found["*"].metrics["m0"].correlation.value == pytest.approx(expected)
    assert any("m0 is looked at without 1 systems" in note for note in found["*"].notes)


def test_three_judged_outputs_have_components_without_metrics():
    outputs, judgments = several(np.random.default_rng(4), "a", judged=3)
    [found] = Study.read(outputs, judgments).diagnose(resamples=100)
    assert found.refusal is None
    assert not found.metrics
    assert any("metrics are left out: the correlation of 1 metric(s)" in one for one in found.notes)


def test_agreement_of_all_systems_is_within_systems():
    outputs, judgments = several(np.random.default_rng(5))
    far = judgments.with_columns(
        pl.when(pl.col("system") == "b")
        .then(pl.col("score") + 100)
        .otherwise("score")
        .alias("score")
    )
    here, there = (Study.read(outputs, one).diagnose(resamples=100)[-1] for one in (judgments, far))
    assert there.agreement.alpha_interval == pytest.approx(here.agreement.alpha_interval)
    assert there.agreement.icc == pytest.approx(here.agreement.icc)
    assert there.agreement.icc_agreement == pytest.approx(here.agreement.icc_agreement, rel=1e-4)


def test_progress_is_told_for_every_row():
    outputs, judgments = several(np.random.default_rng(6))
    told = []
    Study.read(outputs, judgments).diagnose(
        resamples=100, progress=lambda done, total: told.append((done, total))
    )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
