import json

import pytest

from steelyard.errors import InvalidArgumentError, InvalidDataError

FILES = ("langfuse/traces.jsonl", "langfuse/scores.json")
NAMED = {"columns": {"system": "release", "item": "metadata.question"}}


def test_annotations_are_judgments_and_other_scores_are_metrics(convert):
    found = convert(*FILES, only={"prompt": "helpful"}, **NAMED)
    assert found.format == "langfuse"
    assert found.scores == {
        ("q1", "alpha", "ann", "helpful"): 4.0,
        ("q1", "alpha", "bob", "helpful"): 5.0,
        ("q2", "alpha", "ann", "helpful"): 1.0,
    }
    assert found.outputs["q2", "alpha"]["output"] == '{"answer": 7}'
    assert found.outputs["q1", "alpha"]["relevance"] == 0.9
    assert found.outputs["q1", "beta"]["relevance"] is None
    assert found.outputs["q1", "beta"]["thumbs"] == 1.0
    assert "scores of source API are metrics here" in found.remarks
    assert "left out: 1 automatic scores of traces that are not in these files" in found.remarks
    assert "left out: 1 scores that are texts or corrections" in found.remarks


def test_categories_need_a_scale(convert):
    with pytest.raises(InvalidDataError, match="under 'tone' are no numbers but 'polite'"):
        convert(*FILES, **NAMED)


def test_runs_of_a_dataset_name_item_and_system(convert):
    found = convert(*FILES, "langfuse/run_items.jsonl", only={"prompt": "helpful"})
    assert ("d1", "run-beta") in found.outputs
    assert found.scores["d1", "run-alpha", "ann", "helpful"] == 4.0


def test_scores_of_the_newer_interface_name_their_subject(convert, tmp_path):
    path = tmp_path / "scores.jsonl"
    base = {"name": "helpful", "dataType": "BOOLEAN", "source": "ANNOTATION", "authorUserId": "ann"}
    subjects = [
        {"kind": "trace", "id": "t1"},
        {"kind": "observation", "id": "o1", "traceId": "t2"},
        {"kind": "session", "id": "s1"},
    ]
    rows = [{**base, "value": True, "subject": subject} for subject in subjects]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = convert("langfuse/traces.jsonl", path, **NAMED)
    assert found.scores == {
        ("q1", "alpha", "ann", "helpful"): 1.0,
        ("q2", "alpha", "ann", "helpful"): 1.0,
    }
    assert "left out: 1 scores of whole sessions or experiments" in found.remarks


def test_files_that_belong_together_are_not_a_system_each(convert):
    with pytest.raises(InvalidArgumentError, match="files of langfuse belong together"):
        convert(*FILES, system="{file}")
