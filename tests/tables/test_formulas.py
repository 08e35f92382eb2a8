import csv
import io

import polars as pl
import pytest

from steelyard.cli.table_files import as_csv
from steelyard.foreign.documents import open_document
from steelyard.tables import read_outputs, write_table
from steelyard.tables.formulas import guarded, unguarded_cells, without_formulas

TEXTS = [
    "=1+1",
    "+1",
    "-a",
    "-0.25",
    "-1+1",
    "@x",
    "\tx",
    "'=1",
    "''-x",
    "'tis",
    "x",
    "'",
    "",
    "a=b",
    "=",
    "'x' = 'y'",
]


def is_number(text):
    return text.removeprefix("-").replace(".", "", 1).isdecimal()


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_guarded_reads_back_as_it_was(text):
    cells = pl.DataFrame({"text": [guarded(text)]})
    assert unguarded_cells(cells)["text"][0] == text
    assert is_number(text) or guarded(text)[:1] not in {"=", "+", "-", "@", "\t", "\r"}


def test_frames_are_guarded_as_single_texts_are():
    frame = pl.DataFrame({"text": TEXTS, "number": range(len(TEXTS))})
    marked = without_formulas(frame)
    assert marked["text"].to_list() == [guarded(text) for text in TEXTS]
    assert unguarded_cells(marked).equals(frame)


def test_a_result_in_csv_reads_back(tmp_path):
    names = [text for text in TEXTS if text.strip()]
    rows = [{"item": name, "system": "-s", "output": name, "bleu": -1.5} for name in names]
    path = tmp_path / "x.csv"
    path.write_text(as_csv(rows))
    assert {row["system"] for row in csv.DictReader(io.StringIO(path.read_text()))} == {"'-s"}
    found = read_outputs(path).rows(columns=["item", "system", "bleu"])
    assert found["item"].to_list() == names
    assert set(found["system"]) == {"-s"}
    assert set(found["bleu"]) == {-1.5}
    assert [row["item"] for row in open_document(path).rows] == names


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_tables_that_are_written_read_back_with_all_their_apostrophes(tmp_path, ending):
    names = [text for text in TEXTS if text.strip()]
    frame = pl.DataFrame({"item": names, "system": "s", "output": names, "bleu": 1.0})
    write_table(frame, tmp_path / f"x.{ending}")
    rows = read_outputs(tmp_path / f"x.{ending}").rows(columns=["item", "output"])
    assert rows["item"].to_list() == names
    # nobody asked for a guard: a text that starts with a dash is written as it is
    assert "\n-a" in (tmp_path / f"x.{ending}").read_text()
