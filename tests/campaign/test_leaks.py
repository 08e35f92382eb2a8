"""Human scores are never metrics; honest metrics are never taken for human scores."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from simulated_leaks import HONEST, LEAKS, Kind, found
from steelyard import Study
from steelyard.errors import InvalidArgumentError

KINDS = {
    "two each": Kind(),
    "some twice": Kind(each=0),
    "once": Kind(each=1),
    "shares": Kind(scale="share"),
    "shares once": Kind(scale="share", each=1),
    "sliders": Kind(scale="slider"),
    "crossed": Kind(each=3, crossed=True),
    "crossed shares": Kind(each=3, crossed=True, scale="share"),
    "quiet": Kind(noise=0.2, each=3, crossed=True),
    "few": Kind(n=20),
}
# What no test can see: half a star is rounded away, and the votes of two are one of two shares.
UNSEEN = {"rounded", "one_rater"}


@pytest.mark.parametrize("name", KINDS)
def test_leaks_are_found_and_honest_metrics_are_kept(name):
    columns = found(KINDS[name], seed=1)
    assert not set(columns) & set(HONEST)
    assert set(LEAKS) - UNSEEN <= set(columns)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_rates_of_detection_and_of_false_alarms(name, record_property):
    runs = 200
    counts = Counter(column for seed in range(runs) for column in found(KINDS[name], seed))
    record_property("found", {column: counts[column] / runs for column in (*HONEST, *LEAKS)})
    assert sum(counts[column] for column in HONEST) <= 1
    assert min(counts[column] for column in LEAKS if column not in UNSEEN) >= 0.97 * runs


def campaign(n=60, seed=0):
    """A pool with one honest metric, and two judgments of some outputs by different people."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=300)
    outputs = pl.DataFrame(
        {"item": range(300), "system": "s", "good": human + rng.normal(size=300)}
    )
    rows = [
        {
            "item": i,
            "system": "s",
            "rater": r,
            "prompt": "p",
            "score": round(human[i] + rng.normal(), 2),
        }
        for i in range(n)
        for r in rng.choice(["ann", "bob", "eve"], 2, replace=False)
    ]
    return outputs, pl.DataFrame(rows)


def with_means(outputs, judgments):
    means = judgments.group_by("item").agg(gold=pl.col("score").mean())
    made_up = pl.Series(np.random.default_rng(1).normal(size=outputs.height))
    joined = outputs.join(means, on="item", how="left", maintain_order="left")
    return joined.with_columns(pl.col("gold").fill_null(made_up))


def test_a_leak_is_left_out_with_a_count_and_an_error_if_it_is_named():
    outputs, judgments = campaign()
    leaking = with_means(outputs, judgments)
    study = Study.read(leaking, judgments)
    assert study.metrics == ("good",)
    note = "column gold is not used as a metric: it is the mean judgment of all 60 judged outputs"
    assert study.notes[0].startswith(note)
    assert study.notes[0] in study.estimate().notes
    assert study.notes[0] in study.fits().notes
    with pytest.raises(InvalidArgumentError, match=r"`metric` \(--metric\) gold: it is the mean"):
        Study.read(leaking, judgments, metrics=["gold"])
    plain = Study.read(outputs, judgments).estimate()["s"]
    assert study.estimate()["s"].estimate == pytest.approx(plain.estimate, abs=1e-12)


def test_what_only_looks_like_a_leak_is_used_where_it_is_named():
    outputs, judgments = campaign(n=15)
    once = judgments.unique("item", keep="first", maintain_order=True)
    leaking = with_means(outputs, once)
    assert "--metric gold uses it nevertheless" in Study.read(leaking, once).notes[0]
    named = Study.read(leaking, once, metrics=["gold"])
    assert named.metrics == ("gold",)
    assert named.notes[0].endswith("used as asked")


def test_a_metric_named_like_a_column_of_judgments_keeps_its_file():
    outputs, judgments = campaign()
    ours = outputs.with_columns(
        score="good",
        rater=pl.col("good") + 1,
        prompt=pl.col("good") * 2,
        probability=pl.col("good") ** 2,
    ).drop("good")
    study = Study.read(ours, judgments)
    assert study.metrics == (
        "outputs:score",
        "outputs:rater",
        "outputs:prompt",
        "outputs:probability",
    )
    reference = Study.read(outputs, judgments, metrics=["good"]).estimate("good")["s"]
    assert study.estimate("score")["s"].estimate == reference.estimate
    named = Study.read(ours, judgments, metrics=["score"])
    assert named.estimate("score")["s"].metrics == ("outputs:score",)


def test_ids_dates_and_empty_columns_are_said_and_are_no_metrics():
    outputs, judgments = campaign()
    more = outputs.with_columns(
        doc_id=pl.int_range(pl.len()),
        week=pl.int_range(pl.len()) // 7,
        bleu=pl.lit(None, pl.Float64),
    )
    study = Study.read(more, judgments, exclude_metrics=["bleu"])
    assert study.metrics == ("good",)
    assert [note.split(" is ")[0] for note in study.notes] == [
        "column bleu",
        "column doc_id",
        "column week",
    ]
    assert Study.read(more, judgments, metrics=["week"]).metrics == ("week",)
    with pytest.raises(Exception, match="no metric `nothing`"):
        Study.read(outputs, judgments, exclude_metrics=["nothing"])
