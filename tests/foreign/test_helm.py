import json
import shutil
from pathlib import Path

import pytest

from steelyard.errors import InvalidDataError

RUN = Path(__file__).parent / "files" / "helm" / "run"


def test_one_trial_of_inputs_as_they_are_is_taken(convert):
    found = convert("helm/run")
    assert found.outputs["id1", "tiny/alpha"] == {
        "item": "id1",
        "system": "tiny/alpha",
        "output": "4",
        "input": "Question id1",
        "reference": ["4"],
        "exact_match": 1.0,
        "split": "test",
    }
    assert found.outputs["id2", "tiny/alpha"]["exact_match"] == 0.0
    assert "left out: 1 requests on perturbed inputs" in found.remarks
    assert "left out: 1 requests of other trials than 0" in found.remarks


def test_another_trial_can_be_chosen(convert):
    found = convert("helm/run/scenario_state.json", only={"trial": "1"})
    assert found.outputs["id1", "tiny/alpha"]["output"] == "5"
    assert found.outputs["id1", "tiny/alpha"]["exact_match"] == 0.0


def test_runs_below_a_folder_are_found_and_scenarios_told_apart(convert, tmp_path):
    for scenario in ("sums", "words"):
        folder = tmp_path / "runs" / scenario
        shutil.copytree(RUN, folder)
        spec = json.loads((folder / "run_spec.json").read_text())
        (folder / "run_spec.json").write_text(
            json.dumps({**spec, "name": f"{scenario}:model=tiny_alpha"})
        )
    found = convert(tmp_path)
    assert {item for item, _ in found.outputs} == {"sums/id1", "sums/id2", "words/id1", "words/id2"}


def test_requests_that_weigh_answers_have_metrics_only(convert, tmp_path):
    folder = shutil.copytree(RUN, tmp_path / "run")
    state = json.loads((folder / "scenario_state.json").read_text())
    for position, one in enumerate(state["request_states"]):
        one["reference_index"] = position
    (folder / "scenario_state.json").write_text(json.dumps(state))
    found = convert(folder)
    assert "output" not in found.outputs["id1", "tiny/alpha"]
    assert found.outputs["id1", "tiny/alpha"]["exact_match"] == 1.0


def test_a_state_without_its_run_is_refused(convert, tmp_path):
    shutil.copy(RUN / "scenario_state.json", tmp_path)
    with pytest.raises(InvalidDataError, match=r"no run_spec\.json: name the whole folder"):
        convert(tmp_path)
