import json

import pytest

from steelyard.errors import InvalidDataError


@pytest.mark.parametrize("name", ["latest_run_full.json", "latest_test_run.json"])
def test_a_run_names_its_system_and_metrics(convert, name):
    found = convert(f"deepeval/{name}")
    assert found.format == "deepeval"
    assert found.outputs["test_case_0", "tiny-1"] == {
        "item": "test_case_0",
        "system": "tiny-1",
        "output": "4",
        "input": "2+2?",
        "reference": ["4"],
        "Exact": 1.0,
    }
    assert found.outputs["test_case_2", "tiny-1"]["Exact"] is None
    assert "left out: 1 scores of metrics that ended in an error" in found.remarks


def test_runs_join_on_their_inputs(convert):
    found = convert("deepeval/latest_run_full.json", columns={"item": "input"}, system="{file}")
    assert ("2+2?", "latest_run_full") in found.outputs


def test_a_run_in_the_cloud_has_nothing_to_convert(convert, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testRunLink": "somewhere"}))
    with pytest.raises(InvalidDataError, match=r"no test cases.*\.latest_run_full\.json"):
        convert(path)


def test_a_run_without_a_system_asks_for_it(convert, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testCases": [{"name": "a", "actualOutput": "x"}]}))
    with pytest.raises(InvalidDataError, match=r"1 outputs without a system .*--system NAME"):
        convert(path)
    assert ("a", "s") in convert(path, system="s").outputs
