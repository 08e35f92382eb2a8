"""The first minutes: the bare command, misspelt names, a campaign to start from."""

import re

import pytest

from steelyard.collect.config.campaign import load_campaign
from steelyard.names import known_names


def test_the_bare_command_shows_the_loop_and_what_to_run_next(run):
    code, out, err = run()
    assert code == 0
    assert not err
    for command in ("demo", "check FILES", "convert --from auto", "serve --new FOLDER"):
        assert f"steelyard {command}" in out


def test_a_misspelt_command_is_answered_with_the_one_that_was_meant(run):
    code, _, err = run("estimat", "a", "b")
    assert code == 2
    assert "'estimat'. Did you mean 'estimate'?" in err
    assert len(err.splitlines()) == 1
    code, _, err = run("xyzzy")
    assert code == 2
    assert "Did you mean" not in err


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [("Pointer ", ["seq2seq", "pointer"], "'pointer'"), ("q", ["a", "b"], None)],
)
def test_the_nearest_name_is_suggested(name, known, meant):
    found = known_names(name, known)
    assert found.startswith("there are: ")
    assert (f"did you mean {meant}?" in found) == (meant is not None)


def test_many_names_are_not_all_listed():
    found = known_names("s7x", [f"s{n}" for n in range(1000)])
    assert "and 980 more" in found
    assert len(found) < 300


@pytest.mark.parametrize(
    "task",
    [
        "language-quality",
        "answer-correctness",
        "pairwise",
        "direct-assessment",
        "esa",
        "mqm",
        "side-by-side",
    ],
)
def test_a_new_campaign_can_be_served_as_it_is(run, tmp_path, task):
    folder = tmp_path / "ours"
    code, out, _ = run("serve", "--new", folder, "--example", task)
    assert code == 0
    assert f"steelyard serve {folder / 'campaign.yaml'}" in out
    assert 20 < load_campaign(folder / "campaign.yaml").sample.n <= 60


def test_every_key_that_is_commented_out_can_be_used(run, tmp_path):
    folder = tmp_path / "ours"
    run("serve", "--new", folder)
    path = folder / "campaign.yaml"
    text = re.sub(
        r"^# (?=(metrics|goal|pay|session|quality):)", "", path.read_text(), flags=re.MULTILINE
    )
    path.write_text(text)
    assert load_campaign(path).goal.half_width == 0.1


def test_own_outputs_are_named_and_nothing_is_written_over(run, tmp_path):
    outputs = tmp_path / "mine.jsonl"
    outputs.write_text('{"item": "1", "system": "a", "output": "x"}\n')
    folder = tmp_path / "ours"
    assert run("serve", "--new", folder, outputs)[0] == 0
    assert f"outputs: {outputs}" in (folder / "campaign.yaml").read_text()
    (folder / "campaign.yaml").write_text("mine")
    code, _, err = run("serve", "--new", folder, outputs)
    assert code == 2
    assert "never written over" in err
    assert (folder / "campaign.yaml").read_text() == "mine"
    code, _, err = run("serve", "--new", tmp_path / "new", tmp_path / "nowhere.jsonl")
    assert code == 2
    assert "takes one file of outputs" in err
    assert not (tmp_path / "new").exists()
