import json

import numpy as np
import pytest


@pytest.fixture
def released(tmp_path):
    """Two systems of MS MARCO in the released form, small enough for a quick reproduction."""
    rng = np.random.default_rng(0)
    rows = []
    for item in range(40):
        for system in ("fastqa", "snet.single", "reference"):
            score = rng.normal()
            metrics = {
                name: 1.0 if system == "reference" else float(score + rng.normal())
                for name in ("rouge-l", "sim")
            }
            prompts = {
                prompt: {"human": human, "gold": float(np.mean(human)), **metrics}
                for prompt in ("AnyCorrect",)
                if (human := [float(v > 0) for v in score + 0.7 * rng.normal(size=2)])
            }
            rows.append(
                {"annotators": ["w1", "w2"], "id": item, "system": system, "prompts": prompts}
            )
    (tmp_path / "msmarco.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_without_an_argument_the_scores_in_the_package_are_read(run, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "steelyard.cli.paper.read_release", lambda found: asked.append(found) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        run("paper", "--output", tmp_path / "out")
    assert asked == [None]


def test_page_figures_and_tables_are_written(run, released):
    output = released / "deep" / "out"
    code, out, err = run("paper", released, "--output", output, "--draws", 100)
    assert code == 0
    assert (output / "paper.html").exists()
    assert len(list((output / "figures").glob("*.pdf"))) > 5
    assert (output / "tables" / "claims.csv").exists()
    assert "cnndm.jsonl is not there" in out
    assert str(output / "paper.html") in out.replace("\n", "")
    # No bar in a pipe.
    assert err == ""


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--draws", "10"], "`--draws` must be at least 100; got 10"),
    ],
)
def test_options_out_of_range_are_one_clear_line(run, released, options, says):
    code, _, err = run("paper", released, *options)
    assert code == 2
    assert says in err
    assert err.count("\n") == 1


def test_a_wrong_directory_is_one_clear_line(run, tmp_path):
    for directory, says in ((tmp_path / "no", "no such directory"), (tmp_path, "found neither")):
        code, _, err = run("paper", directory)
        assert code == 2
        assert says in err
        assert err.count("\n") == 1
