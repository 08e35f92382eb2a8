"""Gates in a pipeline: comments, summaries of jobs, and the action with its steps."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from steelyard.questions.least import least_answer
from steelyard.study import Study

ACTION = Path(__file__).parents[2] / "action.yml"


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        {"item": item, "system": system, "output": f"{item} {system}", "score": mean + rng.normal()}
        for system, mean in {"new": 2.0, "old": 0.0}.items()
        for item in range(40)
    ]
    frame = pl.DataFrame(rows)
    frame.drop("score").write_csv(tmp_path / "outputs.csv")
    judgments = frame.drop("output").with_columns(rater=pl.lit("r"), prompt=pl.lit("p"))
    judgments.write_csv(tmp_path / "judgments.csv")
    return tmp_path / "outputs.csv", tmp_path / "judgments.csv"


@pytest.fixture
def summary(tmp_path, monkeypatch):
    path = tmp_path / "summary.md"
    path.write_text("Before.\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


@pytest.mark.parametrize(
    "case",
    [
        (-1, 0, "gate at least -1 holds for new, old"),
        (1, 3, "gate at least 1 fails: prompt p: old "),
        (0.1, 4, "gate at least 0.1 is undecided: prompt p: old "),
    ],
)
def test_means_have_a_gate_with_a_comment_and_a_summary(run, files, summary, case):
    least, code, said = case
    comment = summary.with_name("gate.md")
    found, out, _ = run("estimate", *files, "--at-least", least, "-o", comment)
    assert found == code
    assert out.startswith(said)
    first = comment.read_text().splitlines()[0]
    assert said.rstrip() in first.replace("\\", "")
    assert "| new" in comment.read_text()
    assert summary.read_text() == f"Before.\n{comment.read_text()}\n"


def test_a_lower_mean_is_better_where_that_is_said(files):
    study = Study.read(*files, lower_is_better=["p"])
    lower = study.judgments.lower_is_better
    found = study.estimate()
    assert least_answer(found, 3.0, lower_is_better=lower)[0] == "holds"
    assert least_answer(found, 1.0, lower_is_better=lower)[0] == "fails"


@pytest.mark.parametrize(
    ("inputs", "code", "answer"),
    [
        ({"gate": "--pair new old --gate better"}, 0, "holds"),
        ({"gate": "--pair old new --gate better", "options": "--prompt p"}, 3, "fails"),
        ({"gate": "--at-least 0.1"}, 4, "undecided"),
        ({"gate": "--at-least 0.1", "undecided": "pass"}, 0, "undecided"),
        ({"gate": "--at-least much"}, 2, None),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="the steps are for bash")
def test_the_action_answers_by_its_steps(files, tmp_path, inputs, code, answer):
    action = yaml.safe_load(ACTION.read_text())
    (step,) = [one for one in action["runs"]["steps"] if one.get("id") == "gate"]
    given = {name: str(one.get("default", "")) for name, one in action["inputs"].items()}
    given |= {"outputs": files[0], "judgments": files[1], "python": sys.executable} | inputs
    output = tmp_path / "output"
    environment = {
        name: str(given[text.split("inputs.")[1].split(" ")[0]])
        for name, text in step["env"].items()
    }
    found = subprocess.run(
        ["/bin/bash", "-eo", "pipefail", "-c", step["run"]],
        env=os.environ | environment | {"GITHUB_OUTPUT": str(output)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == code, found.stderr
    assert (output.read_text() if output.exists() else None) == (
        None if answer is None else f"answer={answer}\n"
    )
    assert (tmp_path / "gate.md").exists() == (answer is not None)
