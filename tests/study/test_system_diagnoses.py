import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from steelyard.study import Study
from steelyard.study.system_diagnoses import system_diagnoses
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


def diagnosed(study, resamples=100):
    return system_diagnoses(
        study, prompts=study.prompts, systems=study.systems, resamples=resamples
    )


def test_components_are_those_of_crossed_outputs_and_raters():
    study = campaign(np.random.default_rng(1))
    [found] = diagnosed(study)
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
        [found] = diagnosed(study, 400)
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
    [found] = diagnosed(campaign(rng, leniency=0.0, judged=80, metrics=metrics), 200)
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
    [*each, whole] = diagnosed(Study.read(pl.DataFrame(rows), pl.DataFrame(judged)))
    assert all("nothing at all is possible" in one.verdict for one in each)
    assert whole.system == "*"
    assert any("within systems" in note for note in whole.notes)
    # as one pool the metric would have a correlation of almost 1
    assert abs(whole.metrics["m"].correlation.value) < 0.4
