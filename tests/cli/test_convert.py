import json

import pytest

from steelyard.tables import read_judgments, read_outputs


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


WIDE = "item,alpha,beta,ann_alpha,ann_beta\n1,x,y,good,bad\n2,z,w,,good\n"


@pytest.fixture
def wide(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(WIDE)
    return path


def test_a_wide_table_takes_one_command_to_an_estimate(run, tmp_path):
    path = tmp_path / "ratings.csv"
    rows = (f"{item},{item % 3 - 1},{item % 5}" for item in range(30))
    path.write_text("item,ann_alpha,ann_beta\n" + "\n".join(rows) + "\n")
    # without texts there are no outputs to speak of, and this is said
    code, out, err = run("convert", path, "--wide", "{rater}_{system}", "-o", tmp_path / "new")
    assert code == 0
    assert "no file of outputs" in err
    assert "Next: a file of all outputs" in out
    texts = (f"{item},a{item},b{item},{item % 3 - 1},{item % 5}" for item in range(30))
    path.write_text("item,alpha,beta,ann_alpha,ann_beta\n" + "\n".join(texts) + "\n")
    code, out, _ = run("convert", path, "--wide", "{rater}_{system}", "-o", tmp_path / "new")
    assert code == 0
    command = out.splitlines()[-1].removeprefix("Next: steelyard ").split()
    assert command[0] == "estimate"
    code, out, _ = run(*command, "--json")
    assert code == 0
    assert {one["system"] for one in json.loads(out)} == {"alpha", "beta"}


def test_what_is_left_out_goes_to_standard_error(run, wide, tmp_path):
    options = ["--wide", "{rater}_{system}", "--scale", "bad=0, Good=1"]
    code, out, err = run("convert", wide, *options, "-o", tmp_path / "new")
    assert code == 0
    assert "format: wide" in err
    assert "left out: 1 judgments without a score" in err
    assert "left out" not in out
    assert len(read_judgments(tmp_path / "new" / "judgments.jsonl")) == 3


def test_files_of_an_earlier_conversion_are_pointed_out(run, wide, tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "judgments.jsonl").write_text("{}\n")
    wide.write_text("item,alpha,alpha_bleu\n1,x,0.5\n")
    code, _, err = run("convert", wide, "--wide", "{system}_{metric}", "-o", folder)
    assert code == 0
    assert "judgments.jsonl is from an earlier conversion" in err


def test_an_input_is_never_written_over(run, wide, tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()
    inside = folder / "judgments.jsonl"
    inside.write_text(WIDE)
    options = ["--wide", "{rater}_{system}", "--scale", "bad=0,good=1", "-o", folder]
    code, _, err = run("convert", inside, *options)
    assert code == 2
    assert "is the input" in err
    assert inside.read_text() == WIDE
    assert sorted(path.name for path in folder.iterdir()) == ["judgments.jsonl"]
    (folder / "judgments.jsonl").unlink()
    (folder / "judgments.jsonl").write_text("Participant id,Status\nann,APPROVED\n")
    code, _, err = run("convert", wide, *options, "--raters-from", folder / "judgments.jsonl")
    assert code == 2
    assert "is the input" in err


def test_nothing_is_written_where_a_file_cannot_be(run, wide, tmp_path):
    folder = tmp_path / "new"
    (folder / "judgments.jsonl").mkdir(parents=True)
    options = ["--wide", "{rater}_{system}", "--scale", "bad=0,good=1", "-o", folder]
    code, _, err = run("convert", wide, *options)
    assert code == 2
    assert "`--output`" in err
    assert err.count("\n") == 2  # the format, and the error
    assert [path.name for path in folder.iterdir()] == ["judgments.jsonl"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--scale", "good"], "`--scale` must be words with numbers"),
        (["--scale", "good=x"], "got 'good=x'"),
        (["--scale", "good=1,GOOD=2"], "`--scale` gives two numbers for 'good'"),
        (["--column", "item"], "`--column` must be two names with '=' between; got 'item'"),
        (["--column", "item=a", "--column", "item=b"], "`--column` names 'item' twice"),
        (["--only", "epoch="], "`--only` must be two names"),
        (["--wide", "{x}"], "`--wide` must hold {rater}"),
        (["--raters-from", "nowhere.csv"], "nowhere.csv: no such file"),
        (["--on-duplicate", "both"], "Invalid value for '--on-duplicate'"),
    ],
)
def test_bad_options_are_one_clear_line(run, wide, tmp_path, options, says):
    code, _, err = run("convert", wide, "-o", tmp_path / "new", *options)
    assert code == 2
    assert says in err
    assert err.count("\n") == 1
    assert not (tmp_path / "new").exists()
