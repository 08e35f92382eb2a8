import io
import json

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from rich.table import Table

from steelyard.cli.printing import _fit, note_lines


def printed(width):
    table = Table()
    for number in range(9):
        table.add_column(f"heading {number}")
    table.add_row(*["[-0.123, -0.456]"] * 9)
    page = io.StringIO()
    console = Console(width=width, file=page)
    _fit(table, console)
    console.print(table)
    return page.getvalue()


def test_a_table_that_fits_keeps_its_lines():
    assert "│ [-0.123, -0.456] │" in printed(200)


def test_no_digit_is_cut_off_where_a_table_does_not_fit():
    narrow = printed(90)
    assert narrow.count("[-0.123,") == narrow.count("-0.456]") == 9
    assert "…" not in narrow
    assert "…" not in printed(40)


NAMES = ["[base]", "gpt[/b]", "[red]x[/red]", ":rocket:", "a\\[b]", "[link=x]y"]


@pytest.fixture
def oddly_named(tmp_path):
    """A campaign whose systems, prompt, items, raters and metric have names that look like markup."""
    rng = np.random.default_rng(1)
    pool = [
        {"item": f"[i]{n}", "system": name, "[m]": float(rng.normal())}
        for name in NAMES
        for n in range(30)
    ]
    judgments = [
        {
            "item": row["item"],
            "system": row["system"],
            "rater": f"[r]{rater}",
            "prompt": "[p]",
            "score": row["[m]"] + float(rng.normal()),
        }
        for row in pool
        if int(row["item"][3:]) < 15
        for rater in range(2)
    ]
    paths = tmp_path / "[o].jsonl", tmp_path / "[j].jsonl"
    for path, rows in zip(paths, (pool, judgments), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


METRIC = ["--metric", "[m]"]
GOAL = ["--half-width", "0.5", "--bounds", "-9,9"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["estimate", *METRIC],
        ["diagnose", *METRIC],
        ["monitor", *METRIC, *GOAL],
        ["replay", *METRIC, "-n", "5", "--runs", "2"],
    ],
)
def test_names_are_printed_as_they_are(run, oddly_named, tmp_path, arguments):
    command, *options = arguments
    code, out, err = run(command, *oddly_named, *options)
    assert (code, err) == (0, "")
    for name in (*NAMES, "[p]", "[m]"):
        assert name in out
    saved = tmp_path / "saved.txt"
    run(command, *oddly_named, *options, "-o", saved)
    assert all(name in saved.read_text() for name in NAMES)


def test_a_sample_and_its_file_are_named_as_they_are(run, oddly_named, tmp_path):
    target = tmp_path / "[s].csv"
    code, out, _ = run("sample", oddly_named[0], "-n", 3, "--seed", 1, "-o", target)
    assert code == 0
    assert "[s].csv" in out
    assert all(name in out for name in NAMES)
    assert set(pl.read_csv(target, glob=False)["system"]) == set(NAMES)


def test_an_error_names_a_system_as_it_is(run, oddly_named):
    code, _, err = run("estimate", *oddly_named, *METRIC, "--system", "[/no]")
    assert code == 2
    assert "system '[/no]' has no judgments" in err
    assert "[base], gpt[/b]" in err


def test_a_page_and_json_hold_names_as_they_are(run, oddly_named, tmp_path):
    page = tmp_path / "report.html"
    code, _, _ = run("report", *oddly_named, "-o", page, "--title", "<b>[x]</b>")
    assert code == 0
    text = page.read_text()
    assert "<b>[x]</b>" not in text
    assert "&lt;b&gt;[x]&lt;/b&gt;" in text
    assert all(name in text for name in NAMES)
    _, out, _ = run("estimate", *oddly_named, *METRIC, "--json")
    assert [row["system"] for row in json.loads(out)] == NAMES


def test_a_note_on_several_systems_is_one_line_that_names_some():
    lines = note_lines([(name, "q", "x") for name in "abcdef"] + [("a", "q", "y")])
    assert lines == ["note: a, b, c, 3 more systems, q: x", "note: a, q: y"]
