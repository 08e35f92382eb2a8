import json

import polars as pl
import pytest


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_writes_the_drawn_rows_and_prints_what_was_drawn(run, campaign, tmp_path):
    outputs, _ = campaign
    path = tmp_path / "sample.jsonl"
    code, out, err = run("sample", outputs, "-n", 20, "--seed", 7, "-o", path)
    assert (code, err) == (0, "")
    assert "the same items for all systems" in out
    assert "simple|n=20|N=60|systems=2|seed=7|" in out
    found = rows(path)
    assert len(found) == 40
    pool = {(row["item"], row["system"]): row for row in rows(outputs)}
    for row in found:
        assert pool[row["item"], row["system"]].items() <= row.items()
        assert row["probability"] == pytest.approx(1 / 3)
    again = tmp_path / "again.jsonl"
    run("sample", outputs, "-n", 20, "--seed", 7, "-o", again)
    assert again.read_text() == path.read_text()


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_sample_is_extended_from_its_file(run, campaign, tmp_path, suffix):
    small, large = tmp_path / f"small.{suffix}", tmp_path / "large.jsonl"
    run("sample", campaign[0], "-n", 20, "--seed", 7, "-o", small, "--system", "beta")
    code, _, err = run(
        "sample",
        campaign[0],
        *("-n", 30, "--seed", 8, "--extend", small, "--system", "beta", "-o", large),
    )
    assert (code, err) == (0, "")
    first = {"jsonl": pl.read_ndjson, "csv": pl.read_csv, "parquet": pl.read_parquet}[suffix](small)
    assert [row["item"] for row in rows(large)][:20] == first["item"].to_list()


def test_pairs_and_shared_items(run, campaign, tmp_path):
    path = tmp_path / "sample.jsonl"
    pair = ("--pair", "alpha", "beta")
    code, out, _ = run("sample", campaign[0], "-n", 10, *pair, "--seed", 1, "-o", path)
    assert code == 0
    assert "alpha, beta" in out
    assert "0 of 60 items have identical outputs and need no judgment" in out
    assert len(rows(path)) == 20
    run("sample", campaign[0], "-n", 10, "--seed", 1, "-o", path)
    assert len({row["item"] for row in rows(path)}) == 10
    _, out, _ = run("sample", campaign[0], "-n", 10, "--independent", "--seed", 1, "-o", path)
    assert "each system is drawn on its own" in out
    assert len({row["item"] for row in rows(path)}) > 10


def test_columns_may_have_other_names(run, campaign, tmp_path):
    theirs = tmp_path / "theirs.jsonl"
    theirs.write_text(campaign[0].read_text().replace('"item"', '"doc"'))
    path = tmp_path / "sample.jsonl"
    code, *_ = run("sample", theirs, "-n", 5, "--seed", 1, "-o", path, "--column", "item=doc")
    assert code == 0
    assert "item" in rows(path)[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-n", 61], "`-n` must be from 1 to the size of the pool, 60; got 61"),
        (["-n", 5, "--strata", "theme"], "no column 'theme' in"),
        (["-n", 5, "--size", "noise"], "--size is no option any more"),
        (["-n", 5, "--prompt", "overall"], "needs `--after`"),
        (["-n", 5, "--system", "gamma"], "system 'gamma' is not in"),
        (["-n", 5, "--column", "item"], "`--column` must look like item=doc_id"),
        (["-n", 5, "--extend", "nowhere.jsonl"], "no such file"),
        ([], "Missing option '-n'"),
    ],
)
def test_bad_use_is_one_line_and_exit_2(run, campaign, tmp_path, arguments, message):
    path = tmp_path / "sample.jsonl"
    code, out, err = run("sample", campaign[0], *arguments, "--seed", 1, "-o", path)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert not path.exists()


def test_an_unknown_extension_is_named(run, campaign, tmp_path):
    code, _, err = run("sample", campaign[0], "-n", 5, "--seed", 1, "-o", tmp_path / "sample.txt")
    assert code == 2
    assert "extension must be" in err


def test_a_stratified_sample_is_estimated_with_nothing_retold(run, campaign, tmp_path):
    outputs, _ = campaign
    drawn = tmp_path / "sample.jsonl"
    options = ["-n", 20, "--strata", "length:4", "--seed", 1]
    code, _, _ = run("sample", outputs, *options, "-o", drawn)
    assert code == 0
    rows = [json.loads(line) for line in drawn.read_text().splitlines()]
    judged = tmp_path / "judged.jsonl"
    judged.write_text(
        "".join(
            json.dumps(
                {
                    "item": row["item"],
                    "system": row["system"],
                    "rater": f"r{k}",
                    "prompt": "overall",
                    "score": row["length"] + 1.5 * ((7 * number + k) % 5),
                }
            )
            + "\n"
            for number, row in enumerate(rows)
            for k in range(2)
        )
    )
    code, out, err = run("estimate", outputs, judged, "--sample", drawn, "--json")
    assert (code, err) == (0, "")
    for one in json.loads(out):
        assert one["about"]["raters"] == "raters like these"
        assert one["low"] < one["estimate"] < one["high"]
    code, out, _ = run("compare", outputs, judged, "--sample", drawn, "--json")
    means = {one["system"]: one["estimate"] for one in json.loads(out)[0]["ranks"]}
    [pair] = json.loads(out)[0]["pairs"]
    assert pair["difference"] == pytest.approx(means[pair["a"]] - means[pair["b"]])
