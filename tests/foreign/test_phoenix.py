import pytest

from steelyard.errors import InvalidDataError

SPANS = ("phoenix/spans.csv", "phoenix/annotations.json")


def test_what_people_said_is_a_judgment_and_the_rest_a_metric(convert):
    found = convert(*SPANS, scale={"wrong": 0.0})
    assert found.format == "phoenix"
    assert found.scores == {
        ("s1", "alpha", "VXNlcjox", "correct"): 1.0,
        ("s2", "alpha", "VXNlcjox", "correct"): 0.0,
    }
    assert found.outputs["s2", "alpha"]["output"] == "7, I think"
    assert found.outputs["s2", "alpha"]["correct_llm"] == 0.2
    assert found.outputs["s2", "alpha"]["length"] is None


def test_a_label_without_a_score_needs_a_scale(convert):
    with pytest.raises(InvalidDataError, match=r"1 scores under 'correct' .* 'wrong'"):
        convert(*SPANS)


def test_one_repetition_of_an_experiment_is_chosen(convert):
    found = convert("phoenix/experiment.json", only={"repetition": "2"})
    assert found.outputs["ex1", "RXhwOjE="]["output"] == "four"
    assert found.outputs["ex1", "RXhwOjE="]["exact"] == 0.0
    assert "left out: 2 runs of other repetitions" in found.remarks
    with pytest.raises(InvalidDataError, match="--only repetition=1"):
        convert("phoenix/experiment.json")


def test_annotations_saved_as_a_data_frame_are_read_too(convert, tmp_path):
    path = tmp_path / "annotations.csv"
    header = "span_id,annotation_name,annotator_kind,result.score,result.label,user_id"
    path.write_text(f"{header}\ns1,correct,HUMAN,1.0,right,u1\ns2,correct,HUMAN,,N/A,u1\n")
    found = convert("phoenix/spans.csv", path)
    assert found.scores == {("s1", "alpha", "u1", "correct"): 1.0}
    assert "left out: 1 judgments without a score" in found.remarks
