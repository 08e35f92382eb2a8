import pytest

from steelyard.errors import InvalidDataError


def test_items_are_numbered_by_their_question_and_gaps_stay_gaps(convert):
    found = convert("ragas/result.csv", system="alpha")
    assert found.format == "ragas"
    assert found.outputs["2", "alpha"] == {
        "item": "2",
        "system": "alpha",
        "output": "7",
        "input": "3+3?",
        "reference": ["6"],
        "faithfulness": None,
        "answer_relevancy": 0.5,
    }
    assert "metric `faithfulness` has no number on 1 of 2 outputs" in found.remarks


def test_two_results_join_on_the_question(convert, tmp_path):
    for name, answers in (("one", "42"), ("two", "24")):
        rows = "".join(
            f"{question}?,{answer}\n" for question, answer in zip("ab", answers, strict=True)
        )
        (tmp_path / f"{name}.csv").write_text("user_input,response\n" + rows)
    (tmp_path / "two.csv").write_text("user_input,response\nb?,4\na?,2\n")
    found = convert(tmp_path / "one.csv", tmp_path / "two.csv", system="{file}")
    assert found.outputs["1", "two"]["output"] == "2"
    assert found.outputs["1", "one"]["output"] == "4"


def test_columns_of_an_experiment_are_named_by_the_user(convert):
    options = {"columns": {"input": "question", "output": "answer"}, "system": "alpha"}
    found = convert("ragas/experiment.jsonl", source="ragas", **options)
    assert found.outputs["1", "alpha"]["exact"] == 1.0
    with pytest.raises(InvalidDataError, match="no file of ragas, which has columns `user_input`"):
        convert("ragas/experiment.jsonl", source="ragas")
