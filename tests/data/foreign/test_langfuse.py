import pytest

from steelyard.errors import InvalidDataError

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
