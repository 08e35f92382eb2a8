import json

import pytest


def test_json_has_the_documented_keys(run, campaign):
    code, out, err = run("diagnose", *campaign, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [row["system"] for row in found] == ["alpha", "beta", "*"]
    for row in found:
        for key in ("item_variance", "rater_variance", "noise_ratio"):
            assert set(row[key]) == {"value", "low", "high"}
            assert row[key]["low"] <= row[key]["value"] <= row[key]["high"]
        assert set(row["metrics"]) == {"length", "noise"}
        for metric in row["metrics"].values():
            assert set(metric) == {"correlation", "data_efficiency"}
        assert set(row["limits"]) == {"perfect_metric", "noiseless_raters"}
        assert row["verdict"].endswith(".")


def test_the_better_metric_comes_first(run, campaign):
    _, out, _ = run("diagnose", *campaign, "--json")
    assert next(iter(json.loads(out)[-1]["metrics"])) == "length"


def test_tables_end_with_a_verdict_on_each_system(run, campaign):
    code, out, _ = run("diagnose", *campaign)
    assert code == 0
    assert "Verdict, overall, alpha: length saves" in out
    assert "Verdict, overall, beta: length saves" in out
    assert "perfect metric would save" in " ".join(out.split())


def test_all_systems_at_once_are_looked_at_within_systems(run, campaign):
    _, out, _ = run("diagnose", *campaign)
    assert "Verdict, overall, *: length saves" in out
    assert "note: *, overall: within systems" in out


def test_one_system_has_one_verdict(run, campaign):
    _, out, _ = run("diagnose", *campaign, "--system", "alpha")
    assert "Verdict, overall: length saves" in out
    assert out.count("Verdict") == 1


def test_raters_who_always_differ_alike_are_no_obstacle(run, campaign, tmp_path):
    judgments = tmp_path / "flat.jsonl"
    rows = [
        {"item": f"i{item}", "system": "alpha", "rater": rater, "prompt": "overall", "score": score}
        for item in range(40)
        for rater, score in (("a", 0), ("b", 1))
    ]
    judgments.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, err = run("diagnose", campaign[0], judgments, "--json")
    assert (code, err) == (0, "")
    [found] = json.loads(out)
    assert found["agreement"]["icc_average"] is None
    assert "no metric can save anything" in found["verdict"]


def test_one_judgment_an_output_is_refused_with_the_way_out(run, campaign, tmp_path):
    outputs, judgments = campaign
    seen, kept = set(), []
    for line in judgments.read_text().splitlines():
        row = json.loads(line)
        if (row["item"], row["system"]) not in seen:
            seen.add((row["item"], row["system"]))
            kept.append(line)
    single = tmp_path / "single.jsonl"
    single.write_text("\n".join(kept) + "\n")
    code, out, err = run("diagnose", outputs, single)
    assert (code, out) == (2, "")
    assert "two judgments" in err
    assert err.count("\n") == 1


def test_a_system_with_single_judgments_is_a_row_and_a_note(run, campaign, tmp_path):
    outputs, judgments = campaign
    seen, kept = set(), []
    for line in judgments.read_text().splitlines():
        row = json.loads(line)
        if row["system"] == "alpha" or row["item"] not in seen:
            seen.add(row["item"] if row["system"] == "beta" else None)
            kept.append(line)
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text("\n".join(kept) + "\n")
    code, out, err = run("diagnose", outputs, mixed)
    assert (code, err) == (0, "")
    assert "Verdict, overall, alpha: length saves" in out
    assert "Verdict, overall, beta" not in out
    assert "note: beta, overall: no diagnosis: at least one output with two judgments" in out
    code, out, _ = run("diagnose", outputs, mixed, "--json")
    assert code == 0
    assert json.loads(out)[1]["noise_ratio"] == {"value": None, "low": None, "high": None}


@pytest.mark.parametrize("option", [["--level", "2"], ["--resamples", "1"]])
def test_bad_options_are_refused(run, campaign, option):
    code, _, err = run("diagnose", *campaign, *option)
    assert code == 2
    assert err.count("\n") == 1


def test_a_constant_metric_is_said_and_left_out(run, campaign):
    outputs, judgments = campaign
    lines = [json.loads(line) | {"noise": 3.0} for line in outputs.read_text().splitlines()]
    outputs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, _ = run("diagnose", outputs, judgments, "--json")
    assert code == 0
    found = json.loads(out)[0]
    assert set(found["metrics"]) == {"length"}
    assert any("noise is constant" in note for note in found["notes"])
