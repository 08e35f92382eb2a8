import json

import numpy as np
import pytest

from steelyard import control_variates
from steelyard.study import Study

KEYS = [
    "system",
    "prompt",
    "slice",
    "metrics",
    "method",
    "n_outputs",
    "n_judgments",
    "n_raters",
    "pool_size",
    "level",
    "target",
    "raters",
    "estimate",
    "standard_error",
    "low",
    "high",
    "baseline",
    "data_efficiency",
    "slope",
    "shares",
    "about",
    "new_outputs",
    "fixed_raters",
    "ledger",
    "notes",
    "random_raters",
]


APART = "--slope", "least-squares", "--raters", "fixed"


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_json_has_the_documented_keys_and_the_python_numbers(run, campaign):
    outputs, judgments = campaign
    code, out, err = run("estimate", outputs, judgments, "--metric", "length", "--json", *APART)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [row["system"] for row in found] == ["alpha", "beta"]
    assert all(list(row) == KEYS for row in found)
    pool = {row["item"]: row["length"] for row in rows(outputs) if row["system"] == "alpha"}
    judged = [row for row in rows(judgments) if row["system"] == "alpha"]
    want = control_variates(
        [row["score"] for row in judged],
        [pool[row["item"]] for row in judged],
        list(pool.values()),
        items=[row["item"] for row in judged],
    )
    got = found[0]
    assert got["estimate"] == pytest.approx(want.estimate)
    assert (got["low"], got["high"]) == pytest.approx((want.low, want.high))
    assert got["baseline"]["estimate"] == pytest.approx(want.baseline.estimate)
    assert (got["n_outputs"], got["n_judgments"], got["pool_size"]) == (30, 60, 60)


def test_without_a_metric_all_are_used_and_raters_are_a_sample(run, campaign):
    code, out, err = run("estimate", *campaign, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert all(list(row) == KEYS for row in found)
    want = Study.read(*campaign).estimate()
    for row, one in zip(found, want, strict=True):
        assert row["metrics"] == ["length", "noise"]
        assert sum(row["shares"]) == pytest.approx(1)
        assert row["shares"][0] > row["shares"][1]
        assert row["about"] == "these 60 outputs, by raters like these"
        assert (row["estimate"], row["low"]) == (one.estimate, one.low)
        assert row["fixed_raters"]["low"] >= row["low"]
        assert row["new_outputs"]["low"] < row["low"]


def test_table_shows_the_estimate_beside_the_plain_mean(run, campaign):
    code, out, _ = run("estimate", *campaign, "--metric", "length")
    assert code == 0
    for word in (
        *("alpha", "beta", "plain mean", "for new outputs", "data efficiency", "30 of 60"),
        "about these 60 outputs, by raters like these",
        "control learned from length 100%",
    ):
        assert word in out


def test_several_metrics_are_used_together(run, campaign):
    code, out, _ = run("estimate", *campaign, "--metric", "length", "--metric", "noise", "--json")
    assert code == 0
    assert len(json.loads(out)[0]["slope"]) == 2


@pytest.mark.parametrize("slope", ["plug-in", "cross-fit", "shrunk", "pooled", "0.5"])
def test_every_slope_can_be_asked_for(run, campaign, slope):
    code, out, _ = run("estimate", *campaign, "--metric", "length", "--slope", slope, "--json")
    assert code == 0
    kind = "given" if slope == "0.5" else slope
    assert json.loads(out)[0]["method"] == f"control-variates/{kind}/student"


@pytest.mark.parametrize("raters", ["random", "adjusted"])
def test_raters_can_be_seen_as_a_sample(run, campaign, raters):
    code, out, _ = run("estimate", *campaign, "--metric", "length", "--raters", raters, "--json")
    assert code == 0
    found = json.loads(out)[0]
    assert found["raters"] == raters
    assert found["random_raters"]["low"] == found["low"]


def test_the_plain_mean_needs_no_metric(run, campaign):
    code, out, _ = run("estimate", *campaign, "--no-metric", "--raters", "fixed", "--json")
    assert code == 0
    got = json.loads(out)[0]
    assert got["method"] == "sample-mean/student"
    assert got["baseline"] is None
    _, out, _ = run("estimate", *campaign, "--no-metric", "--json")
    adjusted = json.loads(out)[0]
    assert adjusted["raters"] == "adjusted"
    assert adjusted["baseline"]["estimate"] == pytest.approx(got["estimate"])


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


def test_one_judgment_an_output_borrows_the_rater_variance_of_the_others(run, campaign, tmp_path):
    outputs, judgments = campaign
    seen, kept = set(), []
    for row in rows(judgments):
        if row["system"] == "alpha" and row["item"] in seen:
            continue
        if row["system"] == "alpha":
            seen.add(row["item"])
        kept.append(row)
    single = tmp_path / "single.jsonl"
    single.write_text("".join(json.dumps(row) + "\n" for row in kept))
    _, out, _ = run("estimate", outputs, single, "--metric", "length", "--json", *APART)
    alpha, beta = json.loads(out)
    assert any("all systems together" in note for note in alpha["notes"])
    assert not any("all systems together" in note for note in beta["notes"])


def test_pooled_slope_leaves_out_texts_that_this_system_produced_too(run, campaign, tmp_path):
    # beta repeats alpha's text everywhere: nothing is left to take a slope from
    outputs, judgments = campaign
    same = tmp_path / "same.jsonl"
    same.write_text(outputs.read_text().replace(" of alpha", "").replace(" of beta", ""))
    code, _, err = run("estimate", same, judgments, "--metric", "length", "--slope", "pooled")
    assert code == 2
    assert "`others` are needed" in err


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
        (["--metric", "length", "--level", "1.5"], "`--level` must lie strictly between 0 and 1"),
        (["--metric", "brevity"], "no metric `brevity`"),
        (["--metric", "length", "--prompt", "fluency"], "prompt 'fluency' has no judgments"),
        (["--metric", "length", "--system", "gamma"], "system 'gamma' has no judgments"),
        (["--metric", "length", "--column", "item"], "must look like item=doc_id"),
        (["--metric", "length", "--column", "itm=doc"], "but found in neither"),
        (["--metric", "length", "--slope", "steep"], "`--slope` must be numbers or one of"),
        (["--metric", "length", "--bounds", "1"], "`--bounds` must be two numbers"),
        (["--metric", "length", "--interval", "betting", *APART], "`--bounds` are needed"),
        (["--interval", "betting"], '`--interval` must be "student" with slope "learned"'),
        (["--metric", "length", "--no-metric"], "exclude each other"),
        (["--metric", "length", "--interval", "wide"], "Invalid value for '--interval'"),
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
        ("judgments", first(score=None), "line 1, column score"),
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
        (
            "judgments",
            lambda lines: [line | {"score": 1} for line in lines],
            "pass `--bounds`",
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
        (
            lambda _: {"length": 1.0},
            "note: alpha, overall: plain mean only: the metric is constant",
        ),
        (
            lambda line: {"length": None} if line["item"] == "i3" else {},
            "note: alpha, overall: metric length is missing on 1 of 60 outputs",
        ),
    ],
)
def test_the_trouble_of_one_system_is_its_own(run, campaign, change, note):
    outputs, judgments = campaign
    code, out, _ = run("estimate", outputs, judgments, "--metric", "length", "--json", *APART)
    untouched = json.loads(out)
    edit(
        outputs,
        lambda lines: [
            line | (change(line) if line["system"] == "alpha" else {}) for line in lines
        ],
    )
    code, out, err = run("estimate", outputs, judgments, "--metric", "length", "--json", *APART)
    assert (code, err) == (0, "")
    alpha, beta = json.loads(out)
    assert (alpha["metrics"], alpha["baseline"]) == ([], None)
    assert alpha["estimate"] == pytest.approx(untouched[0]["baseline"]["estimate"])
    assert beta == untouched[1]
    _, out, _ = run("estimate", outputs, judgments, "--metric", "length", *APART)
    assert note in " ".join(out.split())


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda _: {"length": 1.0}, "metric length is the same on all outputs"),
        (lambda _: {"length": None}, "metric length is missing: this system is corrected by"),
        (
            lambda line: {"length": None} if line["item"] == "i3" else {},
            "metric length is missing on 1 of 60 outputs: they are corrected by the others",
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
    code, out, err = run("estimate", outputs, judgments, "--metric", "length", "--json")
    assert [row["system"] for row in json.loads(out)] == ["beta"]
    assert err.startswith("note: alpha, overall: left out: ")


def test_clusters_widen_the_interval_where_their_outputs_are_alike(run, campaign):
    outputs, judgments = campaign
    # outputs that score alike share a document
    score = {}
    for line in map(json.loads, judgments.read_text().splitlines()):
        score.setdefault((line["item"], line["system"]), line["score"])
    edit(
        outputs,
        lambda lines: [
            line | {"document": f"d{round(2 * score.get((line['item'], line['system']), 0))}"}
            for line in lines
        ],
    )

    def first(*options):
        code, out, _ = run("estimate", outputs, judgments, "--no-metric", "--json", *options)
        assert code == 0
        return json.loads(out)[0]

    apart, together = first(), first("--cluster-by", "document")
    assert together["estimate"] == pytest.approx(apart["estimate"])
    assert together["standard_error"] > 1.2 * apart["standard_error"]
    assert first("--cluster-by", "document", *APART)["method"] == "clustered-mean/student"
    code, _, err = run("estimate", outputs, judgments, "--no-metric", "--cluster-by", "page")
    assert (code, "`--cluster-by` must be a column" in err) == (2, True)
    code, _, err = run(
        "estimate",
        outputs,
        judgments,
        "--no-metric",
        "--cluster-by",
        "document",
        "--interval",
        "bca",
    )
    assert (code, '`--interval` must be "student"' in err) == (2, True)


def test_nan_in_a_file_is_named(run, campaign):
    outputs, judgments = campaign
    text = judgments.read_text().splitlines()
    text[4] = text[4][: text[4].rindex(":")] + ": NaN}"
    judgments.write_text("\n".join(text) + "\n")
    code, _, err = run("estimate", outputs, judgments, "--metric", "length")
    assert code == 2
    assert "line 5" in err


def test_a_missing_file_is_named(run, campaign):
    code, _, err = run("estimate", "nowhere.jsonl", campaign[1], "--metric", "length")
    assert code == 2
    assert "nowhere.jsonl" in err


@pytest.mark.parametrize(
    ("options", "method"), [(APART, "/betting"), ((), "learned-control/student")]
)
def test_equal_judgments_with_bounds_give_an_interval(run, campaign, options, method):
    outputs, judgments = campaign
    edit(judgments, lambda lines: [line | {"score": 1} for line in lines])
    asked = ["--metric", "length", "--bounds", "0,1", "--json", *options]
    code, out, _ = run("estimate", outputs, judgments, *asked)
    assert code == 0
    got = json.loads(out)[0]
    assert got["low"] < 1 <= got["high"]
    assert got["method"].endswith(method)


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
    code, out, _ = run("estimate", outputs, judgments, "--metric", "length", "--json")
    assert code == 0
    for row in json.loads(out):
        assert row["random_raters"] is None
        assert row["about"].endswith("by exactly these raters")
        assert any("only one rater is known" in note for note in row["notes"])


def test_it_is_said_when_raters_are_too_few_to_be_a_sample(run, campaign):
    judgments = campaign[1]
    rows = [json.loads(line) for line in judgments.read_text().splitlines()]
    for number, row in enumerate(rows):
        row["rater"] = "abc"[number % 3]
    judgments.write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, out, _ = run("estimate", *campaign, "--metric", "length")
    assert "only 3 raters are known: the interval is about exactly" in " ".join(out.split())
    _, out, _ = run("estimate", *campaign, "--metric", "length", "--json")
    assert any("only 3 raters are known" in note for note in json.loads(out)[0]["notes"])
