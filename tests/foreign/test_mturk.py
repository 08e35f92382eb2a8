import pytest

from steelyard.errors import InvalidDataError

BATCH = "mturk/batch.csv"


def test_answers_are_read_from_buttons_fields_and_task_answers(convert):
    found = convert(BATCH)
    assert found.format == "mturk"
    assert found.scores == {
        ("q1", "alpha", "A1", "fluency"): 3.0,
        ("q1", "alpha", "A1", "meaning"): 5.0,
        ("q1", "alpha", "A2", "fluency"): 2.0,
        ("q1", "alpha", "A2", "meaning"): 4.0,
        ("q1", "beta", "A3", "adequacy"): 2.0,
        ("q1", "beta", "A3", "sure"): 3.0,
        ("q1", "beta", "A3", "fluency"): 1.0,
    }
    assert found.judgments[0]["seconds"] == 42.0
    assert found.outputs["q1", "alpha"]["output"] == 'He said "hi".'
    assert "left out: 1 assignments that were rejected" in found.remarks
    assert "left out: 1 judgments without a score" in found.remarks


def test_without_an_item_the_hit_is_the_item(convert, tmp_path):
    path = tmp_path / "batch.csv"
    path.write_text("HITId,WorkerId,AssignmentStatus,Answer.q\nH,W,Approved,2\n")
    assert convert(path, system="s").scores == {("H", "s", "W", "q"): 2.0}
    with pytest.raises(InvalidDataError, match="judgments without a system"):
        convert(path)
