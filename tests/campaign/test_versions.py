"""Earlier versions: what they lend, and when they lend nothing."""

import re

import numpy as np
import polars as pl
import pytest

from steelyard.campaign.versions import campaign_files, joined, with_anchors
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import VERSION
from steelyard.study import Study
from steelyard.tables import read_judgments, read_outputs


def tables(system, items, scores, *, rater="r"):
    items = [str(item) for item in items]
    outputs = pl.DataFrame(
        {"item": items, "system": system, "output": [f"{system}{i}" for i in items]}
    )
    judgments = pl.DataFrame(
        {"item": items, "system": system, "rater": rater, "prompt": "p", "score": scores},
        schema_overrides={"score": pl.Float64},
    )
    return outputs, judgments


def read(outputs, judgments):
    return read_outputs(outputs), read_judgments(judgments)


OLD = tables("v1", range(8), [1, 2, 3, 4, 1, 2, 3, 4])


def test_tables_are_joined_and_a_name_that_is_taken_gets_another():
    new = read(*tables("v1", range(4), [2, 3, 4, 5]))
    both = joined(*new, [("october", *read(*OLD))])
    assert both.today == ("v1",)
    assert both.outputs["system"].unique(maintain_order=True).to_list() == ["v1", "v1@october"]
    assert (both.outputs.height, both.judgments.height, both.notes) == (12, 12, ())
    assert both.judgments[VERSION].to_list() == [""] * 4 + ["october"] * 8


def test_judgments_of_an_output_then_and_now_differ_in_their_version():
    outputs, judgments = tables("v2", range(4), [2, 3, 4, 5])
    again = tables("v1", range(4), [2, 3, 4, 5])[1]
    both = joined(*read(outputs, pl.concat([judgments, again])), [("october", *read(*OLD))])
    assert both.judgments[VERSION].to_list() == [""] * 4 + ["october"] * 8 + [""] * 4
    assert read_judgments(both.judgments).frame.height == 16


def campaign(rng, *, shift=0.0, anchors=0, same_items=True):
    """Two old systems with 80 judgments each and a new one with 20; most of what varies is items."""
    old_item, noise = rng.standard_normal(80), rng.standard_normal((2, 80))
    new_item = old_item if same_items else rng.standard_normal(80)
    old = tables("v1", range(80), old_item + 0.5 * noise[0] + shift)
    outputs, judgments = tables("v2", range(80), new_item + 0.5 * noise[1])
    again = tables("v1", range(anchors), (old[1]["score"] - shift)[:anchors])[1]
    again = again.with_columns(pl.col("score") + 0.3 * rng.standard_normal(anchors))
    more = tables("v0", range(80), old_item + 0.5 * rng.standard_normal(80) + shift)
    old = [pl.concat(both) for both in zip(old, more, strict=True)]
    study = Study.read(outputs, pl.concat([judgments[:20], again]), earlier=[("october", *old)])
    return study, judgments["score"].mean(), old[1]["score"][:80].mean() - shift


def test_a_shift_since_then_is_said_and_taken_off_differences():
    rng = np.random.default_rng(5)
    study, new, old = campaign(rng, shift=1.0, anchors=30)
    found = study.estimate()
    (note,) = [one for one in found.notes if "no longer hold" in one]
    size = re.search(
        r"judgments of october .* count less: they are (.*) higher than today's of", note
    )
    assert float(size[1]) == pytest.approx(1.0, abs=0.2)
    pair = study.compare(pair=("v2", "v1"))["p"].pairs[0]
    assert pair.low < new - old < pair.high
    assert not any("no longer hold" in one for one in campaign(rng, anchors=30)[0].estimate().notes)


def test_a_plan_counts_further_judgments_as_todays():
    plan = campaign(np.random.default_rng(5), anchors=10)[0].plan(half_width=0.2, systems=["v2"])
    further = re.search(r": (\d+) judgments with 80% assurance", repr(plan))
    assert 0 < int(further[1]) < 60


def test_old_judgments_lend_less_where_other_items_are_hard():
    widths = []
    for same_items in (True, False):
        rng = np.random.default_rng(7)
        found = campaign(rng, same_items=same_items)[0].estimate()
        widths.append(found["v2"].high - found["v2"].low)
        said = [
            one for one in found.notes if "of what makes items easy or hard is not the same" in one
        ]
        assert len(said) == (not same_items)
    assert widths[0] < 0.8 * widths[1]


def test_scores_on_another_scale_are_not_used():
    outputs, judgments = tables("v2", range(20), np.tile([20, 40, 60, 80], 5))
    old = read(*tables("v1", range(20), np.tile([1, 2, 3, 4], 5)))
    (note,) = joined(*read(outputs, judgments), [("october", *old)]).notes
    assert "scores vary 20 times as much today, as on another scale" in note


def test_earlier_versions_narrow_the_interval_and_say_so(tmp_path):
    rng = np.random.default_rng(3)
    item = rng.standard_normal(60)
    old = tables("v1", range(60), item + 0.3 * rng.standard_normal(60))
    outputs, judgments = tables("v2", range(60), item + 0.3 * rng.standard_normal(60))
    now = outputs, judgments[:12]
    alone = Study.read(*now).estimate()
    found = Study.read(*now, earlier=[old]).estimate()
    assert [one.system for one in found] == ["v2"]
    width = found["v2"].high - found["v2"].low
    assert width < 0.6 * (alone["v2"].high - alone["v2"].low)
    assert found["v2"].low <= judgments["score"].mean() <= found["v2"].high
    (note,) = [one for one in found.notes if "earlier versions save about" in one]
    share = 1 - (width / (alone["v2"].high - alone["v2"].low)) ** 2
    assert f"save about {share:.0%} of the judgments" in note
    # the same from a folder
    folder = tmp_path / "october"
    folder.mkdir()
    old[0].write_ndjson(folder / "outputs.jsonl")
    old[1].write_csv(folder / "judgments.csv")
    again = Study.read(*now, earlier=tmp_path).estimate()
    assert again["v2"].estimate == pytest.approx(found["v2"].estimate)
    pairs = Study.read(*now, earlier=folder).compare()["p"].pairs
    assert {(one.a, one.b) for one in pairs} == {("v2", "v1")}


def test_files_belong_together_by_their_names(tmp_path):
    names = (
        "2026-11-05-outputs.jsonl",
        "2026-11-05-judgments.csv",
        "2026-11-12-outputs.jsonl",
        "a/outputs-b.parquet",
        "a/judgments-b.jsonl.gz",
    )
    (tmp_path / "a").mkdir()
    for name in names:
        (tmp_path / name).write_text("")
    found = [(name, one.name, two.name) for name, one, two in campaign_files(tmp_path)]
    assert found == [
        ("2026-11-05", "2026-11-05-outputs.jsonl", "2026-11-05-judgments.csv"),
        ("a/b", "outputs-b.parquet", "judgments-b.jsonl.gz"),
    ]
    with pytest.raises(InvalidDataError, match="holds no pair of files such as"):
        campaign_files(tmp_path / "none")


def test_anchors_stand_between_the_outputs_to_judge_and_bring_their_draw():
    outputs, _ = tables("v2", range(40), [0.0] * 40)
    old = tables("v1", range(40), [1.0, 2.0] * 20)
    drawn = Study.read(old[0]).sample(20, seed=1).frame
    before = drawn.join(old[1], on=["item", "system"], how="left")
    known = [("october", read_outputs(old[0]), read_judgments(before))]
    sample = with_anchors(Study.read(outputs).sample(10, seed=2).frame, known, 5, seed=3)
    again = sample.filter(pl.col("system") == "v1")
    assert (sample.height, again.height, sample["system"][-5:].n_unique()) == (15, 5, 2)
    assert again["item"].is_in(before["item"].to_list()).all()
    scores = sample.with_columns(rater=pl.lit("s"), prompt=pl.lit("p"), score=pl.lit(1.0))
    scores = scores.with_columns(score=pl.Series(np.arange(15) % 3 + 1.0))
    both = joined(read_outputs(outputs), read_judgments(scores), known).judgments
    # 10 of today, 20 of then, and 5 anchors with the chances of then
    assert both.height == 35
    assert both.filter(pl.col("system") == "v1")["probability"].to_list() == [0.5] * 25
    with pytest.raises(InvalidArgumentError, match=r"`--anchors` must be from 1 to 20, .* got 30"):
        with_anchors(sample.filter(pl.col("system") == "v2"), known, 30, seed=3)


def test_odd_files_and_choices_are_read_for_all_versions(tmp_path):
    old, new = (tables(name, range(12), [1.0, 2.0, 3.0] * 4, rater=name) for name in ("v1", "v2"))
    for place, (outputs, judgments) in (("old", old), (".", new)):
        (tmp_path / place).mkdir(exist_ok=True)
        length = pl.Series([1.5, 2.5, 4.25, 8.5] * 3)
        frame = outputs.rename({"item": "doc"}).with_columns(x=length, y=length * 2, z=length + 1)
        frame.write_csv(tmp_path / place / "outputs.csv", separator=";", decimal_comma=True)
        judgments.rename({"item": "doc"}).write_csv(
            tmp_path / place / "judgments.csv", separator=";", decimal_comma=True
        )
    study = Study.read(
        tmp_path / "outputs.csv",
        tmp_path / "judgments.csv",
        columns={"item": "doc"},
        exclude_metrics=["y", "z"],
        earlier=tmp_path / "old",
    )
    assert (study.metrics, study.systems) == (("x",), ("v2", "v1"))
    assert study.estimate()["v2"].estimate == pytest.approx(2.0, abs=0.2)


def test_an_anchor_of_a_system_of_the_same_name_is_of_then():
    old, new = (
        tables("v1", range(20), [1.0, 2.0] * 10),
        tables("v1", range(20, 40), [1.0, 3.0] * 10),
    )
    again = tables("v1", range(6), [1.0, 2.0] * 3, rater="s")[1]
    study = Study.read(new[0], pl.concat([new[1], again]), earlier=[old])
    assert (len(study.judgments), len(study.today.judgments)) == (46, 20)
    assert [one.system for one in study.estimate()] == ["v1"]
