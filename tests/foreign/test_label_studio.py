import pytest

from steelyard.errors import InvalidDataError

TASKS = "label-studio/tasks.json"


def test_ratings_are_judgments_and_what_is_no_score_is_counted(convert):
    found = convert(TASKS, only={"prompt": "fluency"})
    assert found.format == "label-studio"
    assert found.scores == {
        ("q1", "alpha", "3", "fluency"): 4.0,
        ("q1", "alpha", "5", "fluency"): 5.0,
        ("q1", "beta", "5", "fluency"): 2.0,
    }
    assert found.judgments[0]["seconds"] == 12.5
    assert found.outputs["q1", "alpha"]["output"] == "The cat sat."
    assert "left out: 1 annotations that were skipped" in found.remarks
    assert "left out: 1 answers of type textarea" in found.remarks
    assert "left out: 1 answers with several choices" in found.remarks


def test_words_need_a_scale_and_never_get_their_alphabetical_order(convert):
    with pytest.raises(InvalidDataError, match=r"2 scores under 'verdict' .*--scale \"good=\?\""):
        convert(TASKS)
    found = convert(TASKS, scale={"good": 1.0})
    assert found.scores["q1", "alpha", "5", "verdict"] == 1.0


def test_comparisons_become_preferences_once_both_systems_are_named(convert):
    sides = {"left": "left_system", "right": "right_system"}
    found = convert("label-studio/pairs.json", columns=sides)
    assert [(row["system"], row["score"]) for row in found.preferences] == [
        ("alpha", 1.0),
        ("beta", 0.0),
        ("alpha", 0.0),
        ("beta", 1.0),
    ]
    assert [row["submission"] for row in found.preferences] == [1, 1, 2, 2]
    with pytest.raises(InvalidDataError, match="comparisons of unnamed systems"):
        convert("label-studio/pairs.json", system="alpha")


def test_systems_must_be_named(convert):
    with pytest.raises(InvalidDataError, match=r"--column system=KEY.*left_system, right_system"):
        convert("label-studio/pairs.json")


def test_files_from_before_version_1_are_read(convert):
    assert convert("label-studio/before_1.json").scores == {("q1", "alpha", "3", "fluency"): 3.0}


@pytest.mark.parametrize("name", ["min.json", "min.csv"])
def test_small_exports_hold_one_row_per_annotation(convert, name):
    found = convert(f"label-studio/{name}", columns={"score": "verdict"}, scale={"good": 1.0})
    assert found.scores == {
        ("q1", "alpha", "ann@example.org", "fluency"): 4.0,
        ("q1", "alpha", "ann@example.org", "verdict"): 1.0,
        ("q1", "alpha", "5", "fluency"): 5.0,
        ("q1", "alpha", "5", "verdict"): 1.0,
        ("q1", "beta", "5", "fluency"): 2.0,
    }
    assert "left out: 1 answers with several choices" in found.remarks
