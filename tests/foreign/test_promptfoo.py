import json

import pytest

from steelyard.errors import InvalidDataError


def results(tmp_path, *records):
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": {"version": 3, "results": list(records)}}))
    return path


def record(**parts):
    base = {"testIdx": 0, "promptIdx": 0, "provider": {"id": "p"}, "vars": {"q": "?"}}
    return {**base, "response": {"output": "x"}, "score": 1, "success": True, **parts}


def test_a_system_is_a_provider_with_a_prompt(convert):
    found = convert("promptfoo/results.jsonl")
    assert found.format == "promptfoo"
    assert {system for _, system in found.outputs} == {"parrot / plain", "parrot / brief"}
    assert found.outputs["0", "parrot / brief"] == {
        "item": "0",
        "system": "parrot / brief",
        "output": "Briefly: 2+2?",
        "input": '{"id": "q1", "question": "2+2?"}',
        "reference": ["Answer 2+2?"],
        "promptfoo.score": 0.5,
        "success": 0.0,
        "same": 0.0,
    }


def test_a_thumb_is_a_judgment_and_the_automatic_score_is_recovered_from_its_parts(convert):
    found = convert("promptfoo/results.json", columns={"item": "vars.id"})
    assert found.scores == {("q1", "parrot / plain", "promptfoo-user", "human"): 1.0}
    row = found.outputs["q1", "parrot / plain"]
    assert (row["promptfoo.score"], row["success"], row["same"]) == (1.0, 1.0, 1.0)


def test_the_recovered_score_is_the_weighted_mean_of_the_automatic_parts(convert, tmp_path):
    parts = [
        {"pass": True, "score": 0.8, "assertion": {"type": "similar", "weight": 3}},
        {"pass": False, "score": 0.0, "assertion": {"type": "contains"}},
        {"pass": True, "score": 1, "assertion": {"type": "human", "metric": "thumb"}},
    ]
    graded = record(gradingResult={"componentResults": parts}, namedScores={"thumb": 1})
    found = convert(results(tmp_path, graded, record(testIdx=1)))
    row = found.outputs["0", "p"]
    assert (row["promptfoo.score"], row["success"]) == (pytest.approx(0.6), 0.0)
    assert "thumb" not in row


def test_files_of_version_1_do_not_name_the_provider(convert):
    found = convert("promptfoo/version1.json", system="m")
    assert found.outputs["1", "m"]["output"] == "7"
    assert "items are numbered by their variables" in found.remarks
    with pytest.raises(InvalidDataError, match="2 outputs without a system"):
        convert("promptfoo/version1.json")


def test_errors_are_left_out_but_failed_assertions_are_not(convert, tmp_path):
    failed = record(error="not equal", failureReason=1, success=False)
    broken = record(testIdx=1, error="timeout", failureReason=2, response=None)
    found = convert(results(tmp_path, failed, broken))
    assert list(found.outputs) == [("0", "p")]
    assert "left out: 1 outputs that ended in an error" in found.remarks


def test_an_output_that_is_an_object_becomes_json(convert, tmp_path):
    found = convert(results(tmp_path, record(response={"output": {"a": 1}})))
    assert found.outputs["0", "p"]["output"] == '{"a": 1}'
    assert "objects are written as JSON text" in found.remarks


def test_stripped_outputs_and_repeats_are_refused_by_name(convert, tmp_path):
    with pytest.raises(InvalidDataError, match="PROMPTFOO_STRIP_RESPONSE_OUTPUT"):
        convert(results(tmp_path, record(response={"output": "[output stripped]"})))
    with pytest.raises(
        InvalidDataError, match=r"1 outputs are there already.*--on-duplicate first"
    ):
        convert(results(tmp_path, record(), record()))
