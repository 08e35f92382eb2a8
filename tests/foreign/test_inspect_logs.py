import json
import zipfile

import pytest

from steelyard.errors import InvalidDataError

LOG = {
    "version": 2,
    "status": "success",
    "eval": {"task": "sums", "model": "m"},
    "samples": [],
}


def log(tmp_path, *samples, name="log.json", **head):
    path = tmp_path / name
    path.write_text(json.dumps({**LOG, **head, "samples": list(samples)}))
    return path


def sample(item, **parts):
    return {"id": item, "epoch": 1, "input": "?", "target": "!", "scores": {}, **parts}


def test_samples_are_outputs_and_scorers_are_metrics(convert):
    found = convert("inspect/edited.json")
    assert found.format == "inspect"
    assert found.outputs["7", "mockllm/alpha"] == {
        "item": "7",
        "system": "mockllm/alpha",
        "output": "A penguin.",
        "input": "Which bird cannot fly?",
        "reference": ["penguin", "ostrich"],
        "match": 1.0,
        "includes": 1.0,
        "topic": "birds",
    }


def test_an_edited_score_is_a_judgment_and_the_scorers_own_value_stays_the_metric(convert):
    found = convert("inspect/edited.json")
    assert found.scores == {
        ("q3", "mockllm/alpha", "ann", "match"): 0.0,
        ("7", "mockllm/alpha", "bob", "match"): 1.0,
    }
    assert found.outputs["q3", "mockllm/alpha"]["match"] == 1.0
    assert found.judgments[0]["time"].startswith("2026-11-16T")


def test_epochs_of_a_zstandard_archive_become_items_of_one_cluster(convert):
    found = convert("inspect/epochs.eval")
    assert len(found.outputs) == 6
    assert found.outputs["q1#2", "mockllm/beta"]["cluster"] == "q1"
    assert "--only epoch=1" in found.remarks


def test_one_epoch_can_be_chosen_and_the_others_are_counted(convert):
    found = convert("inspect/epochs.eval", only={"epoch": "2"})
    assert {item for item, _ in found.outputs} == {"q1", "7", "q3"}
    assert "left out: 3 samples of other epochs" in found.remarks


def test_an_older_archive_without_zstandard_is_read_too(convert, tmp_path):
    path = tmp_path / "old.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"eval": LOG["eval"]}))
        old = sample("a", output={"choices": [{"message": {"content": [{"text": "ok"}]}}]})
        archive.writestr("samples/a_epoch_1.json", json.dumps(old))
    assert convert(path).outputs["a", "m"]["output"] == "ok"


def test_a_broken_member_of_an_archive_is_named(convert, tmp_path):
    path = tmp_path / "broken.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": LOG["eval"]}))
        archive.writestr("samples/a_epoch_1.json", "{")
    with pytest.raises(InvalidDataError, match=r"`samples/a_epoch_1\.json` .*`inspect log convert"):
        convert(path)


def test_attachments_are_put_back(convert, tmp_path):
    one = sample(
        "a",
        input=[{"role": "user", "content": "attachment://x"}],
        output={"completion": "attachment://y"},
        attachments={"x": "a long question", "y": "a long answer"},
    )
    row = convert(log(tmp_path, one)).outputs["a", "m"]
    assert (row["input"], row["output"]) == ("a long question", "a long answer")


def test_unscored_words_and_parts_of_scores(convert, tmp_path):
    scores = {"graded": {"value": float("nan")}, "parts": {"value": {"tone": "P", "fact": True}}}
    other = {"graded": {"value": "I"}, "parts": {"value": [1, 2]}}
    done = {"output": {"completion": "x"}}
    found = convert(
        log(tmp_path, sample("a", scores=scores, **done), sample("b", scores=other, **done))
    )
    row = found.outputs["a", "m"]
    assert (row["graded"], row["parts.tone"], row["parts.fact"]) == (None, 0.5, 1.0)
    assert found.outputs["b", "m"]["graded"] == 0.0
    assert "`parts` holds lists or objects" in found.remarks
    assert "metric `graded` has no number on 1 of 2 outputs" in found.remarks


def test_samples_that_failed_are_left_out_and_counted(convert, tmp_path):
    bad = sample("b", error={"message": "boom"}, output={"completion": ""})
    path = log(tmp_path, sample("a", output={"completion": "x"}), bad, status="error")
    found = convert(path)
    assert list(found.outputs) == [("a", "m")]
    assert "left out: 1 samples that ended in an error" in found.remarks
    assert "status is 'error'" in found.remarks


def test_samples_that_reached_a_limit_and_invalidated_runs_are_said(convert, tmp_path):
    cut = sample(
        "a", limit={"type": "token"}, output={"completion": "x"}, scores={"g": {"value": "Yes"}}
    )
    found = convert(log(tmp_path, cut, invalidated=True))
    assert found.outputs["a", "m"]["g"] == 1.0
    assert "some samples ended with limit" in found.remarks
    assert "the run is marked as invalidated" in found.remarks


def test_tasks_and_runs_are_told_apart(convert, tmp_path):
    done = sample("a", output={"completion": "x"})
    first = log(tmp_path, done, name="1.json")
    second = log(tmp_path, done, name="2.json", eval={"task": "other", "model": "m"})
    assert set(convert(first, second).outputs) == {("sums/a", "m"), ("other/a", "m")}
    again = log(tmp_path, done, name="3.json", eval={"task": "sums", "model": "m", "run_id": "r3"})
    with pytest.raises(InvalidDataError, match=r"1 outputs are there already .* eval\.run_id"):
        convert(first, again)


def test_a_log_without_samples_is_refused_by_name(convert, tmp_path):
    with pytest.raises(InvalidDataError, match=r"log\.json: the log has no samples"):
        convert(log(tmp_path))
