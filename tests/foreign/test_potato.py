import json

import pytest

from steelyard.errors import InvalidDataError

VERDICTS = {"scale": {"bad": 0.0, "good": 1.0}}


@pytest.mark.parametrize("names", [("potato/ann", "potato/bob"), ("potato/export.csv",)])
def test_states_and_export_hold_the_same_judgments(convert, names):
    found = convert(*names, "potato/data.jsonl", **VERDICTS)
    assert found.format == "potato"
    assert found.scores == {
        ("q1", "alpha", "ann", "fluency"): 4.0,
        ("q1", "alpha", "ann", "verdict"): 1.0,
        ("q1", "alpha", "ann", "sure"): 0.8,
        ("q1", "beta", "ann", "fluency"): 2.0,
        ("q1", "beta", "ann", "verdict"): 0.0,
        ("q1", "alpha", "bob", "fluency"): 5.0,
        ("q1", "alpha", "bob", "verdict"): 1.0,
    }
    assert set(found.outputs) == {("q1", "alpha"), ("q1", "beta"), ("q2", "alpha")}


def test_without_the_data_file_there_are_judgments_only(convert):
    found = convert("potato/ann", system="alpha", only={"prompt": "fluency"})
    assert not found.outputs
    assert found.scores["u1", "alpha", "ann", "fluency"] == 4.0
    assert "Potato's data file" in found.remarks


def test_a_label_is_its_place_on_the_scale_whatever_value_was_stored(convert, tmp_path):
    # before a fix in Potato, the tenth of ten places was stored as 0
    state = {
        "user_id": "u",
        "instance_id_to_label_to_value": {"i": [[{"schema": "q", "name": "10"}, "0"]]},
    }
    path = tmp_path / "user_state.json"
    path.write_text(json.dumps(state))
    assert convert(path, system="s").scores == {("i", "s", "u", "q"): 10.0}


def test_machines_are_left_out(convert, tmp_path):
    state = {"user_id": "u", "instance_id_to_label_to_value": {}, "origin": {"kind": "llm"}}
    path = tmp_path / "user_state.json"
    path.write_text(json.dumps(state))
    with pytest.raises(InvalidDataError, match="left out: 1 annotators that are machines"):
        convert(path, system="s")


def test_the_final_answer_counts_where_several_labels_were_stored(convert, tmp_path):
    path = tmp_path / "export.csv"
    path.write_text("instance_id,user_id,q.1,q.3,q\ni,u,1,3,3\nj,u,1,,\n")
    assert convert(path, system="s").scores == {
        ("i", "s", "u", "q"): 3.0,
        ("j", "s", "u", "q"): 1.0,
    }
