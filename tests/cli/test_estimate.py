import json

import numpy as np
import pytest

from steelyard.study import Study

KEYS = [
    "system",
    "prompt",
    "slice",
    "estimate",
    "standard_error",
    "low",
    "high",
    "level",
    "about",
    "rank_low",
    "rank_high",
    "group",
    "n_outputs",
    "n_judgments",
    "n_raters",
    "pool_size",
    "data_efficiency",
    "baseline",
    "metrics",
    "new_outputs",
    "these_raters",
    "degrees_of_freedom",
    "notes",
]


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_json_has_the_documented_keys_and_the_python_numbers(run, campaign):
    code, out, err = run("estimate", *campaign, "--metric", "length", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert all(list(row) == KEYS for row in found)
    assert found == [one.to_dict() for one in Study.read(*campaign).estimate(["length"])]
    got = found[0]
    judged = [row for row in rows(campaign[1]) if row["system"] == "alpha"]
    assert got["baseline"]["estimate"] == pytest.approx(
        np.mean([row["score"] for row in judged]), abs=0.02
    )
    assert (got["system"], got["n_outputs"], got["n_judgments"]) == ("alpha", 30, 60)
    assert (got["pool_size"], got["n_raters"], got["metrics"]) == (60, 8, ["length"])


def test_without_a_metric_all_are_used_and_raters_are_a_sample(run, campaign):
    code, out, err = run("estimate", *campaign, "--json")
    assert (code, err) == (0, "")
    for row in json.loads(out):
        assert row["metrics"] == ["length", "noise"]
        assert row["about"] == {"outputs": "these 60 outputs", "raters": "raters like these"}
        assert row["data_efficiency"] > 1.2


def test_the_answer_comes_first_and_one_table(run, campaign):
    code, out, _ = run("estimate", *campaign, "--metric", "length")
    _, compared, _ = run("compare", *campaign, "--metric", "length")
    assert code == 0
    assert out.splitlines()[0] == compared.splitlines()[0]
    assert max(len(line) for line in out.splitlines()) <= 100
    assert "data efficiency" not in out


def test_more_shows_the_estimate_beside_the_plain_mean(run, campaign):
    code, out, _ = run("estimate", *campaign, "--metric", "length", "--more")
    assert code == 0
    for word in (
        *("alpha", "beta", "rank", "plain mean", "for new outputs", "data efficiency", "30 of 60"),
        "about these 60 outputs, by raters like these",
        "metrics used: length",
    ):
        assert word in out


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (["--about", "these-raters"], ["these 60 outputs", "exactly these raters"]),
        (["--about", "new-outputs"], ["new outputs like these", "raters like these"]),
    ],
)
def test_what_intervals_are_about_is_chosen(run, campaign, options, about):
    code, out, _ = run("estimate", *campaign, *options, "--json")
    assert code == 0
    alpha, beta = json.loads(out)
    assert list(alpha["about"].values()) == list(beta["about"].values()) == about


def test_the_plain_mean_needs_no_metric(run, campaign):
    code, out, _ = run(
        "estimate", *campaign, "--metric", "none", "--about", "these-raters", "--json"
    )
    assert code == 0
    for row in json.loads(out):
        assert row["metrics"] == []
        assert row["estimate"] == pytest.approx(row["baseline"]["estimate"], abs=0.3)


def test_output_goes_to_a_file_whole(run, campaign, tmp_path):
    target = tmp_path / "found.json"
    code, out, _ = run("estimate", *campaign, "--metric", "length", "--json", "--output", target)
    assert (code, out) == (0, "")
    assert len(json.loads(target.read_text())) == 2
    plain = tmp_path / "found.txt"
    code, _, _ = run("estimate", *campaign, "--metric", "length", "--output", plain)
    assert code == 0
    assert "plain mean" in plain.read_text()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_columns_can_be_mapped(run, campaign, tmp_path):
    outputs, judgments = campaign
    renamed = tmp_path / "renamed.jsonl"
    renamed.write_text(judgments.read_text().replace('"item"', '"doc"'))
    pool = tmp_path / "pool.jsonl"
    pool.write_text(outputs.read_text().replace('"item"', '"doc"'))
    code, out, _ = run(
        "estimate", pool, renamed, "--metric", "length", "--column", "item=doc", "--json"
    )
    assert code == 0
    assert json.loads(out)[0]["n_outputs"] == 30


def edit(path, change):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in change(lines)))


def first(**values):
    def change(lines):
        return [lines[0] | values, *lines[1:]]

    return change


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--metric", "length", "--level", "1.5"], "`--level` must be between 0 and 1"),
        (["--metric", "brevity"], "no metric `brevity`"),
        (["--metric", "length", "--prompt", "fluency"], "prompt 'fluency' has no judgments"),
        (["--metric", "length", "--system", "gamma"], "system 'gamma' has no judgments"),
        (["--metric", "length", "--column", "item"], "must look like item=doc_id"),
        (["--metric", "length", "--column", "itm=doc"], "but found in neither"),
        (["--metric", "length", "--bounds", "1"], "`--bounds` must be two numbers"),
        (["--metric", "length", "--metric", "none"], "excludes other metrics"),
        (["--metric", "length", "--about", "adjusted"], "Invalid value for '--about'"),
        (["--metric", "length", "--colour", "red"], "No such option"),
        (["--metric", "length", "--output", "nowhere/x.json"], "cannot be written: no folder"),
    ],
)
def test_bad_options_get_one_line_and_exit_code_2(run, campaign, options, message):
    code, out, err = run("estimate", *campaign, *options)
    assert (code, out) == (2, "")
    assert err.startswith("steelyard: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    ("which", "change", "message"),
    [
        ("judgments", lambda _: [], "judgments.jsonl"),
        ("outputs", lambda _: [], "outputs.jsonl"),
        ("judgments", lambda lines: lines[:1], "needs at least 2 judged outputs; got 1"),
        ("judgments", first(score="good"), "line 1, column score: expected a finite number"),
        ("judgments", first(item="i999"), "line 1: the output of item 'i999'"),
        ("judgments", lambda lines: [lines[0], *lines], "--on-duplicate"),
        ("judgments", lambda _: [{"item": "a"}], "system"),
        (
            "judgments",
            lambda lines: [
                line | {"probability": 0.1 + 0.01 * (n % 7)} for n, line in enumerate(lines)
            ],
            "`probability` must be the same for all judgments of one output",
        ),
    ],
)
def test_bad_data_get_one_line_and_exit_code_2(run, campaign, which, change, message):
    outputs, judgments = campaign
    edit({"outputs": outputs, "judgments": judgments}[which], change)
    code, out, err = run("estimate", outputs, judgments, "--metric", "length")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda _: {"length": 1.0}, "metric length is the same on all outputs"),
        (lambda _: {"length": None}, "metric length is missing: this system is corrected by"),
        (
            lambda line: {"length": None} if line["item"] == "i3" else {},
            "metric length is missing on 1 of 60 outputs: each counts as the mean of the others",
        ),
    ],
)
def test_a_metric_that_fails_one_system_costs_none_its_estimate(run, campaign, change, note):
    outputs, judgments = campaign
    edit(
        outputs,
        lambda lines: [
            line | (change(line) if line["system"] == "alpha" else {}) for line in lines
        ],
    )
    code, out, err = run("estimate", outputs, judgments, "--json")
    assert (code, err) == (0, "")
    alpha, beta = json.loads(out)
    assert any(note in one for one in alpha["notes"])
    assert not any("metric length" in one for one in beta["notes"])
    assert beta["data_efficiency"] > 1


def test_a_system_with_one_judgment_is_left_out_with_a_note(run, campaign):
    outputs, judgments = campaign
    lines = [json.loads(line) for line in judgments.read_text().splitlines()]
    first_of_alpha = next(line for line in lines if line["system"] == "alpha")
    edit(judgments, lambda lines: [first_of_alpha, *(x for x in lines if x["system"] == "beta")])
    code, out, _ = run("estimate", outputs, judgments, "--metric", "length")
    assert code == 0
    assert "note: alpha, overall: left out: an interval needs at least 2" in " ".join(out.split())
    assert "note: note:" not in out
    code, out, err = run("estimate", outputs, judgments, "--metric", "length", "--json")
    assert [row["system"] for row in json.loads(out)] == ["beta"]
    assert err.startswith("note: alpha, overall: left out: ")


def test_clusters_widen_the_interval_where_their_outputs_are_alike(run, campaign):
    outputs, judgments = campaign

    def document(line):
        return int(line["item"][1:]) // 5

    edit(outputs, lambda lines: [line | {"document": f"d{document(line)}"} for line in lines])
    edit(
        judgments,
        lambda lines: [line | {"score": line["score"] + document(line) % 4} for line in lines],
    )

    def first(*options):
        about = "--metric", "none", "--about", "new-outputs", "--json"
        code, out, _ = run("estimate", outputs, judgments, *about, *options)
        assert code == 0
        return json.loads(out)[0]

    apart, together = first(), first("--column", "cluster=document")
    assert together["standard_error"] > 1.2 * apart["standard_error"]
    code, _, err = run("estimate", outputs, judgments, "--column", "cluster=page")
    assert (code, "'page' is mapped to 'cluster' but found in neither" in err) == (2, True)


def test_an_item_in_two_clusters_is_named(run, campaign):
    outputs, judgments = campaign
    edit(outputs, lambda lines: [line | {"document": line["system"]} for line in lines])
    code, _, err = run("estimate", outputs, judgments, "--column", "cluster=document")
    assert (code, "clusters are of items, the same for all systems" in err) == (2, True)


@pytest.mark.parametrize("options", [[], ["--bounds", "0,1"]])
def test_equal_judgments_give_an_interval_with_a_width(run, campaign, options):
    outputs, judgments = campaign
    edit(judgments, lambda lines: [line | {"score": 1} for line in lines])
    code, out, _ = run("estimate", outputs, judgments, "--json", *options)
    assert code == 0
    for row in json.loads(out):
        assert row["estimate"] == pytest.approx(1)
        assert row["low"] < 0.99
        assert row["high"] <= 1 or not options


def test_parquet_gives_the_same_numbers(run, campaign, tmp_path):
    import polars as pl

    outputs, judgments = campaign
    pool = tmp_path / "pool.parquet"
    pl.read_ndjson(outputs).write_parquet(pool)
    _, text, _ = run("estimate", outputs, judgments, "--metric", "length", "--json")
    _, parquet, _ = run("estimate", pool, judgments, "--metric", "length", "--json")
    for one, other in zip(json.loads(text), json.loads(parquet), strict=True):
        assert np.isclose(one["estimate"], other["estimate"], rtol=1e-12)
        assert np.isclose(one["standard_error"], other["standard_error"], rtol=1e-12)


def test_it_is_said_why_raters_cannot_be_seen_as_a_sample(run, campaign):
    outputs, judgments = campaign
    edit(
        judgments,
        lambda lines: list({(line["item"], line["system"]): line for line in lines}.values()),
    )
    edit(judgments, lambda lines: [line | {"rater": "only"} for line in lines])
    code, out, err = run("estimate", outputs, judgments, "--metric", "length", "--json")
    assert (code, err.startswith("note: only one rater is known: ")) == (0, True)
    for row in json.loads(out):
        assert row["these_raters"] is None
        assert row["about"]["raters"] == "exactly these raters"
