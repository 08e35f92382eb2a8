import json
import os

import pytest

GOALS = ["--half-width", "0.1", "--bounds", "-9,9"]
COMMANDS = {
    "report": [],
    "estimate": ["--metric", "length"],
    "diagnose": ["--metric", "length"],
    "monitor": GOALS,
    "replay": ["-n", "5", "--runs", "1"],
    "plan": ["--half-width", "0.1"],
}
FROM_OUTPUTS = {
    "sample": ["-n", "5", "--seed", "1"],
    "score": ["--metric", "edit"],
    "judge": ["--endpoint", "http://127.0.0.1:9", "--model", "m", "--rubric", "fluency"],
}


def refused(result, before):
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "is the input" in err
    assert "name another file" in err
    for path, content in before.items():
        assert path.read_bytes() == content


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("victim", [0, 1])
def test_no_command_on_a_study_writes_over_its_inputs(run, campaign, command, victim):
    before = {path: path.read_bytes() for path in campaign}
    result = run(command, *campaign, *COMMANDS[command], "-o", campaign[victim])
    refused(result, before)
    assert "`--output`" in result[2]
    refused(run(command, "-o", campaign[victim], *campaign, *COMMANDS[command]), before)


@pytest.mark.parametrize("command", FROM_OUTPUTS)
def test_no_command_on_outputs_writes_over_them(run, campaign, command):
    outputs, _ = campaign
    before = {outputs: outputs.read_bytes()}
    refused(run(command, outputs, *FROM_OUTPUTS[command], "-o", outputs), before)


@pytest.mark.parametrize("kind", ["symlink", "symlink to a symlink", "hard link", "spelling"])
def test_no_link_or_spelling_leads_round_the_check(run, campaign, tmp_path, kind):
    outputs, judgments = campaign
    before = {judgments: judgments.read_bytes()}
    target = tmp_path / "target.jsonl"
    if kind == "hard link":
        target.hardlink_to(judgments)
    elif kind == "spelling":
        (tmp_path / "folder").mkdir()
        target = tmp_path / "folder" / ".." / judgments.name
    else:
        target.symlink_to(judgments)
        if kind == "symlink to a symlink":
            second = tmp_path / "second.jsonl"
            second.symlink_to(target)
            target = second
    refused(run("report", outputs, judgments, "-o", target), before)
    refused(run("report", outputs, target, "-o", judgments), before)


def test_a_relative_name_is_the_same_file(run, campaign, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in campaign}
    refused(run("estimate", *campaign, "--metric", "length", "-o", "judgments.jsonl"), before)


def test_the_sample_that_an_estimate_reads_stays(run, campaign, tmp_path):
    sample = tmp_path / "sample.jsonl"
    run("sample", campaign[0], "-n", 40, "--seed", 1, "-o", sample)
    before = {sample: sample.read_bytes()}
    options = ["--metric", "length", "--sample", sample, "-o", sample]
    refused(run("estimate", *campaign, *options), before)
    extended = ["-n", 50, "--seed", 2, "--extend", sample, "-o", sample]
    refused(run("sample", campaign[0], *extended), before)


def test_the_cache_of_a_judge_is_not_its_outputs(run, campaign, tmp_path):
    outputs, _ = campaign
    before = {outputs: outputs.read_bytes()}
    target = tmp_path / "judged.jsonl"
    refused(run("judge", outputs, *FROM_OUTPUTS["judge"], "-o", target, "--cache", outputs), before)


def test_a_folder_that_is_converted_to_keeps_the_file_that_is_converted(run, tmp_path):
    path = tmp_path / "c-outputs.jsonl"
    row = {
        "annotators": ["w1", "w2"],
        "id": "1",
        "system": "s",
        "prompts": {"overall": {"human": [0, 1], "gold": 0.5, "bleu": 0.1}},
    }
    path.write_text(json.dumps(row) + "\n")
    os.link(path, tmp_path / "c.jsonl")
    before = {path: path.read_bytes()}
    command = ["convert", "--from", "price-of-debiasing", tmp_path / "c.jsonl", "-o", tmp_path]
    refused(run(*command), before)
    assert not (tmp_path / "c-judgments.jsonl").exists()


def test_a_file_of_a_folder_of_outputs_is_not_written_over(run, tmp_path):
    folder = tmp_path / "pool"
    folder.mkdir()
    (folder / "a.parquet").write_bytes(b"PAR1")
    code, _, err = run("score", folder, "--metric", "edit", "-o", folder / "a.parquet")
    assert code == 2
    assert "a.parquet lies in the input" in err
    assert (folder / "a.parquet").read_bytes() == b"PAR1"


def test_a_file_that_is_no_input_is_replaced_as_ever(run, campaign, tmp_path):
    target = tmp_path / "estimates.txt"
    target.write_text("old")
    code, _, err = run("estimate", *campaign, "--metric", "length", "-o", target)
    assert (code, err) == (0, "")
    assert "alpha" in target.read_text()
