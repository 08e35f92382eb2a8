"""A result is written in the form that the name of the file asks for."""

import csv
import io
import json

import pytest
from rich.table import Table

from steelyard.cli.printing import print_result
from steelyard.cli.table_files import as_csv, as_html, as_latex, as_markdown
from steelyard.errors import InvalidArgumentError

VALUE = [
    {
        "prompt": "overall",
        "about": {"n": 3, "half": 0.5},
        "pairs": [
            {"a": "x", "b": "=cmd()", "difference": 0.1 + 0.2, "slope": [1.0, 2.0]},
            {"a": "x", "b": "z", "difference": float("nan"), "slope": []},
        ],
        "groups": [["x"], ["z"]],
    }
]


@pytest.fixture
def table():
    made = Table(title="Ranks_1")
    made.add_column("system")
    made.add_column("mean", justify="right")
    made.add_row("a|b_<i>", "0.5 ± 50%")
    return made


def test_csv_has_a_row_for_each_pair_with_all_digits_and_no_formula(tmp_path, table):
    path = tmp_path / "x.csv"
    print_result(VALUE, [table], as_json=False, output=path)
    first, second = csv.DictReader(io.StringIO(path.read_text()))
    assert first == {
        "prompt": "overall",
        "about.n": "3",
        "about.half": "0.5",
        "a": "x",
        "b": "'=cmd()",
        "difference": "0.30000000000000004",
        "slope": "1.0;2.0",
    }
    assert second["difference"] == ""
    assert as_csv([]) == ""


def test_json_is_written_without_being_asked_twice(tmp_path, table):
    path = tmp_path / "x.json"
    print_result({"a": [1, float("inf")]}, [table], as_json=False, output=path)
    assert json.loads(path.read_text()) == {"a": [1, None]}


def test_markdown_keeps_names_as_they_are(table):
    shown = as_markdown([table, "note: a_b"])
    assert shown.splitlines() == [
        "**Ranks\\_1**",
        "",
        "| system | mean |",
        "| --- | ---: |",
        "| a\\|b\\_&lt;i> | 0.5 ± 50% |",
        "",
        "note: a\\_b",
    ]


def test_latex_is_a_table_that_compiles(table):
    shown = as_latex([table, "two\nlines"])
    assert r"\begin{tabular}{lr}" in shown
    assert r"a\textbar{}b\_\textless{}i\textgreater{} & 0.5 $\pm$ 50\% \\" in shown
    assert shown.endswith("% two\n% lines")


def test_html_escapes_names_and_loads_nothing(table):
    shown = as_html([table, "<script>"])
    assert "<td>a|b_&lt;i&gt;</td><td class=right>" in shown
    assert "<p>&lt;script&gt;</p>" in shown
    assert "http" not in shown


def test_another_name_gives_the_tables_as_text(tmp_path, table):
    path = tmp_path / "x.txt"
    print_result(VALUE, [table], as_json=False, output=path)
    assert "a|b_<i>" in path.read_text()


@pytest.mark.parametrize("name", ["x.xlsx", "x.parquet", "x.PDF"])
def test_an_ending_that_promises_another_form_is_refused(tmp_path, table, name):
    with pytest.raises(InvalidArgumentError, match="spreadsheets open"):
        print_result(VALUE, [table], as_json=False, output=tmp_path / name)
    assert list(tmp_path.iterdir()) == []
