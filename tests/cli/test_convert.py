import json

import pytest

from steelyard.data import read_judgments, read_outputs


@pytest.fixture
def released(tmp_path):
    """Twelve outputs of one system in the released form of the paper's data."""
    path = tmp_path / "summaries.jsonl"
    rows = [
        {
            "annotators": ["w1", "w2"],
            "id": f"{item:06}",
            "system": "pointer",
            "prompts": {"overall": {"human": [item % 3, 1], "gold": 0.5, "bleu": 0.1 * item}},
        }
        for item in range(12)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_files_in_our_form_are_written_and_named(run, released, tmp_path):
    folder = tmp_path / "new" / "folder"
    code, out, err = run("convert", "--from", "price-of-debiasing", released, "--output", folder)
    assert code == 0
    assert read_outputs(folder / "summaries-outputs.jsonl").sizes == {"pointer": 12}
    assert len(read_judgments(folder / "summaries-judgments.jsonl")) == 24
    assert "summaries-outputs.jsonl: 12 outputs" in out
    assert "identical outputs are not recognised" in err


def test_converted_files_are_what_other_commands_take(run, released, tmp_path):
    run("convert", "--from", "price-of-debiasing", released, "-o", tmp_path)
    outputs, judgments = (tmp_path / f"summaries-{kind}.jsonl" for kind in ("outputs", "judgments"))
    code, out, _ = run("estimate", outputs, judgments, "--metric", "bleu", "--json")
    assert code == 0
    assert json.loads(out)[0]["n_judgments"] == 24


def test_the_format_must_be_a_known_one(run, released, tmp_path):
    code, _, err = run("convert", "--from", "unknown", released, "-o", tmp_path)
    assert code == 2
    assert "`--from` must be one of auto, argilla, arena" in err
    assert "got 'unknown'" in err
    assert err.count("\n") == 1


def test_a_file_that_is_not_there_is_one_clear_line(run, tmp_path):
    code, _, err = run(
        "convert", "--from", "price-of-debiasing", tmp_path / "nowhere.jsonl", "-o", tmp_path
    )
    assert code == 2
    assert "nowhere.jsonl: no such file" in err
    assert err.count("\n") == 1
