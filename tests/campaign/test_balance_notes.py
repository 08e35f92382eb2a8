import numpy as np
import polars as pl
import pytest

from steelyard.campaign.balance import balance_notes
from steelyard.report import write_report
from steelyard.study import Study

SYSTEMS = ("a", "b", "c")


def imbalances(study):
    return balance_notes(study.outputs, study.judgments)


def campaign(chosen=(), *, seed=0, n=80, pool=160, metrics=3, each=1):
    """Three systems with skewed metrics; of those in `chosen` the best half by one was judged."""
    rng = np.random.default_rng(seed)
    outputs, judgments = [], []
    for system in SYSTEMS:
        values = rng.exponential(size=(pool, metrics))
        human = rng.uniform(size=pool) < 1 - np.exp(-values[:, 0])
        order = np.argsort(-values[:, 0]) if system in chosen else rng.permutation(pool)
        outputs += [
            {"item": str(i), "system": system} | {f"m{k}": v for k, v in enumerate(row)}
            for i, row in enumerate(values.tolist())
        ]
        judgments += [
            {
                "item": str(item),
                "system": system,
                "rater": f"r{rater}",
                "prompt": "p",
                "score": float(human[item]),
                "time": str(draw),
            }
            for draw, item in enumerate(order[:n])
            for rater in range(each)
        ]
    return pl.DataFrame(outputs), pl.DataFrame(judgments)


def test_honest_campaigns_are_not_accused():
    accused = 0
    for seed in range(150):
        study = Study.read(*campaign(seed=seed, n=8 if seed % 2 else 40, metrics=6))
        accused += bool(imbalances(study))
    assert accused == 0


def test_the_report_says_it_before_any_number(tmp_path):
    study = Study.read(*campaign(chosen="c", each=2))
    page = write_report(study, tmp_path / "r.html", metrics=["m0"]).read_text(encoding="utf-8")
    assert page.count("are not a random sample of the pool") == 1
    assert page.index("are not a random sample of the pool") < page.index("Mean human score</h3>")


def test_a_metric_with_gaps_is_left_out():
    outputs, judgments = campaign(chosen="b")
    gap = outputs.with_columns(
        m0=pl.when(pl.int_range(pl.len()) == 400).then(None).otherwise(pl.col("m0"))
    )
    study = Study.read(gap, judgments)
    assert not imbalances(study)
    assert len(study.estimate("m1")) == 3
    assert imbalances(study) == {}


def test_scores_of_people_with_a_constant_put_in_elsewhere_accuse_no_draw():
    outputs, judgments = campaign()
    scores = judgments.select("item", "system", copied="score")
    filled = outputs.join(scores, on=["item", "system"], how="left").with_columns(
        pl.col("copied").fill_null(0.0)
    )
    study = Study.read(filled, judgments)
    assert not imbalances(study)
    assert study.notes[0].startswith("column copied is not used as a metric: it is the same on all")
    assert study.metrics == ("m0", "m1", "m2")
    assert study.notes[0] in study.estimate().notes


def test_recorded_unequal_draws_are_not_meant_to_look_like_the_pool():
    outputs, judgments = campaign(chosen="b")
    drawn = judgments.with_columns(
        probability=pl.when(pl.col("time").cast(pl.Int64) < 40).then(0.6).otherwise(0.4)
    )
    assert imbalances(Study.read(outputs, drawn)) == {}


def test_a_pool_that_is_judged_whole_is_balanced():
    study = Study.read(*campaign(chosen="abc", n=160))
    assert imbalances(study) == {}


@pytest.mark.parametrize("metrics", [1, 40])
def test_the_number_of_metrics_is_allowed_for(metrics):
    # the top 16 of 36 by one metric: enough among one metric, not among forty
    outputs, judgments = campaign(chosen="b", n=16, pool=36, metrics=metrics, seed=4)
    assert bool(imbalances(Study.read(outputs, judgments))) == (metrics == 1)
