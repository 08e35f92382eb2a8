import csv
import json

import pytest

KEYS = (
    *("prompt", "sentence", "holds_back", "judges", "agreement", "noise_share", "raters"),
    *("variances", "n_outputs", "n_judgments", "n_repeats", "level", "notes"),
)


def test_json_has_the_documented_keys(run, campaign):
    code, out, err = run("diagnose", *campaign, "--json")
    assert (code, err) == (0, "")
    [found] = json.loads(out)
    assert tuple(found) == KEYS
    assert {one["metric"] for one in found["judges"]} == {"length", "noise"}
    for judge in found["judges"]:
        for key in ("correlation", "worth", "perfect", "noiseless"):
            assert judge[key]["low"] <= judge[key]["value"] <= judge[key]["high"]
    offsets = {
        one["metric"]: [each["system"] for each in one["offsets"]] for one in found["judges"]
    }
    # noise does not go with the human scores, and so is not put on their scale
    assert offsets == {"length": ["alpha", "beta"], "noise": []}


def test_the_better_metric_comes_first_and_its_sentence_is_the_answer(run, campaign):
    _, out, _ = run("diagnose", *campaign, "--json")
    [found] = json.loads(out)
    assert found["judges"][0]["metric"] == "length"
    assert found["sentence"] == found["judges"][0]["sentence"]
    assert found["sentence"].startswith("`length` ")


def test_tables_begin_with_a_sentence_for_each_metric(run, campaign):
    code, out, _ = run("diagnose", *campaign)
    assert code == 0
    assert out.startswith("Prompt overall: `length` ")
    words = " ".join(out.split())
    assert "a perfect metric would save" in words
    assert "Whom length favours, on the human scale" in words
    assert "people agree with one another: alpha 0." in words


def test_one_metric_may_be_looked_at(run, campaign):
    _, out, _ = run("diagnose", *campaign, "--metric", "noise", "--json")
    [found] = json.loads(out)
    assert [one["metric"] for one in found["judges"]] == ["noise"]
    assert "do not gate on it alone" in found["sentence"]


def test_other_columns_and_the_family_are_looked_at_when_named(run, campaign):
    options = ("--metric", "length", "--against", "noise", "--own", "alpha", "--json")
    _, out, _ = run("diagnose", *campaign, *options)
    [judge] = json.loads(out)[0]["judges"]
    assert [one["column"] for one in judge["biases"]] == ["noise"]
    assert set(judge["self_preference"]) == {"value", "low", "high"}


def test_the_gate_exits_by_its_answer(run, campaign):
    only = (*campaign, "--metric", "length")
    code, out, _ = run("diagnose", *only, "--worth", "0.01")
    assert code == 0
    assert out.rstrip().endswith("gate holds for length")
    code, out, err = run("diagnose", *only, "--worth", "0.99", "--json")
    assert code == 3
    assert json.loads(out)
    assert err.startswith("gate fails: prompt overall, length: its worth is ")
    code, out, _ = run("diagnose", *only, "--offset", "0.2")
    assert code == 4
    assert "gate is undecided: prompt overall, length: it favours" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--gate", "trust"], "--worth X or --offset X"),
        (["--against", "nowhere"], "`--against` must be columns of"),
    ],
)
def test_bad_options_are_refused_in_one_line(run, campaign, options, words):
    code, _, err = run("diagnose", *campaign, *options)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1


def test_single_judgments_are_enough_for_a_diagnosis_without_noise(run, campaign, tmp_path):
    outputs, judgments = campaign
    seen = {}
    for line in judgments.read_text().splitlines():
        row = json.loads(line)
        seen.setdefault((row["item"], row["system"]), line)
    single = tmp_path / "single.jsonl"
    single.write_text("\n".join(seen.values()) + "\n")
    code, out, err = run("diagnose", outputs, single, "--json")
    assert (code, err) == (0, "")
    [found] = json.loads(out)
    assert found["agreement"] == {"value": None, "low": None, "high": None}
    assert "second rater" in found["holds_back"]


def test_disagreements_are_written_with_texts(run, campaign, tmp_path):
    path = tmp_path / "list.csv"
    options = ("--metric", "length", "--disagreements", "4", "-o", path)
    code, out, _ = run("diagnose", *campaign, *options)
    assert (code, out) == (0, "")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["who"] for row in rows] == ["length"] * 4 + ["people"] * 4
    assert all(row["output"].startswith("text ") for row in rows)
    _, out, _ = run("diagnose", *campaign, *options[:4])
    assert "Where judge and people, or people, differ most" in out
    _, out, _ = run("diagnose", *campaign, *options[:4], "--json")
    assert len(json.loads(out)) == 8
