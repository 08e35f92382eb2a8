import json

import pytest

from steelyard.errors import InvalidDataError

SUMS = "lm-eval/dummy/samples_tiny_sums_2026-11-16T10-58-45.658861.jsonl"


def test_the_model_comes_from_the_results_beside_the_samples(convert):
    found = convert(SUMS, only={"filter": "flexible"})
    assert found.outputs["tiny_sums/0", "dummy"] == {
        "item": "tiny_sums/0",
        "system": "dummy",
        "output": "lol",
        "input": "Question: 2+2?\nAnswer:",
        "reference": ["4"],
        "exact_match": 0.0,
    }
    assert "left out: 2 rows of other filters" in found.remarks


def test_several_filters_must_be_chosen_from(convert):
    with pytest.raises(
        InvalidDataError, match=r"strict-match, flexible.* --only filter=strict-match"
    ):
        convert(SUMS)


def test_a_folder_is_read_and_choices_among_answers_have_metrics_only(convert):
    found = convert("lm-eval/dummy", only={"filter": "flexible"})
    assert "left out: 2 outputs without a text" in found.remarks
    choice = convert("lm-eval/dummy/samples_tiny_choice_2026-11-16T10-58-45.658861.jsonl")
    assert "output" not in choice.outputs["tiny_choice/0", "dummy"]
    assert choice.outputs["tiny_choice/0", "dummy"]["acc"] == 1.0


def test_the_raw_answer_can_be_taken(convert):
    found = convert(SUMS, only={"filter": "strict-match"}, columns={"output": "resps.0.0"})
    assert found.outputs["tiny_sums/0", "dummy"]["output"] == "lol"


def older(folder, **parts):
    path = folder / "samples_old.jsonl"
    row = {"doc_id": 3, "doc": {}, "target": 6, "arguments": [["Q", {}]], "resps": [["a", "b"]]}
    path.write_text(json.dumps({**row, "filtered_resps": ["a"], "bleu": [1, 2], "f1": 1, **parts}))
    return path


def test_older_files_name_neither_metrics_nor_filters(convert, tmp_path):
    found = convert(older(tmp_path), system="m")
    row = found.outputs["old/3", "m"]
    assert (row["output"], row["input"], row["reference"], row["f1"]) == ("a", "Q", ["6"], 1.0)
    assert "`bleu` holds lists or objects" in found.remarks


def test_repeats_of_an_answer_are_counted(convert, tmp_path):
    found = convert(older(tmp_path, filtered_resps=[["a", "b", "c"]]), system="m")
    assert found.outputs["old/3", "m"]["output"] == "a"
    assert "left out: 2 repeats of an answer" in found.remarks


def test_without_results_the_folder_names_the_system_and_this_is_said(convert, tmp_path):
    found = convert(older(tmp_path))
    assert {system for _, system in found.outputs} == {tmp_path.name}
    assert "the system of samples_old.jsonl is the name of its folder" in found.remarks
