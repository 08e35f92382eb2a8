import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.errors import InvalidDataError
from steelyard.scoring import batches
from steelyard.scoring.batches import record_lines, table_batches, text_batches
from steelyard.tables.formats import Format

LINES = Format("jsonl")
CSV = Format("csv")


@given(
    records=st.lists(st.text(alphabet='ab\n", ', max_size=8), min_size=1, max_size=20),
    batch_rows=st.integers(1, 7),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_csv_is_cut_between_records_and_nothing_is_lost(tmp_path, records, batch_rows):
    written = ['"' + record.replace('"', '""') + '"\n' for record in records]
    path = tmp_path / "o.csv"
    path.write_text("".join(written), newline="")
    got = list(text_batches(path, CSV, batch_rows=batch_rows))
    wanted = ["".join(written[i : i + batch_rows]) for i in range(0, len(written), batch_rows)]
    assert [batch.data.decode() for batch in got] == wanted
    assert [batch.index for batch in got] == list(range(len(wanted)))
    line = 1
    for batch in got:
        assert batch.line == line
        line += batch.data.count(b"\n")


@pytest.mark.parametrize("compression", ["uncompressed", "gzip", "zstd"])
def test_compression_does_not_change_the_batches(tmp_path, compression):
    lines = [f'{{"output": "é {number}"}}' for number in range(50)]
    path = tmp_path / "o"
    content = "".join(f"{line}\n" for line in lines).encode()
    if compression == "zstd":
        pl.LazyFrame({"line": lines}).sink_csv(
            path,
            include_header=False,
            quote_style="never",
            compression="zstd",
            check_extension=False,
        )
    else:
        path.write_bytes(gzip.compress(content) if compression == "gzip" else content)
    got = list(text_batches(path, Format("jsonl", compression), batch_rows=7))
    assert b"".join(batch.data for batch in got) == content
    assert [batch.line for batch in got] == [1, 8, 15, 22, 29, 36, 43, 50]
    assert got[-1].position == (None if compression == "zstd" else path.stat().st_size)


def test_a_batch_of_long_texts_has_fewer_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "_MOST_BYTES", 10)
    path = tmp_path / "o.jsonl"
    path.write_text("12345678\n1\n1\n1\n")
    got = [batch.data for batch in text_batches(path, LINES, batch_rows=3)]
    assert got == [b"12345678\n1\n", b"1\n1\n"]


def test_an_open_quotation_mark_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "_LONGEST_RECORD", 10)
    path = tmp_path / "o.csv"
    path.write_text('a\n"b\n' + "c\n" * 100)
    with pytest.raises(InvalidDataError, match=r"o.csv, line 2: a quotation mark opens here"):
        list(text_batches(path, CSV, batch_rows=3))


def test_the_last_line_needs_no_end(tmp_path):
    path = tmp_path / "o.jsonl"
    path.write_text("1\n2")
    assert [batch.data for batch in text_batches(path, LINES, batch_rows=1)] == [b"1\n", b"2"]


def test_parquet_files_are_cut_one_by_one():
    files = [(Path("a"), 5), (Path("b"), 0), (Path("c"), 2)]
    got = [(one.path.name, one.offset, one.rows) for one in table_batches(files, batch_rows=3)]
    assert got == [("a", 0, 3), ("a", 3, 2), ("c", 0, 2)]


def test_a_record_is_named_by_its_first_line():
    assert record_lines(b'1,"a\nb"\n\n2,c\n', "csv") == [0, 2, 3]
    assert record_lines(b'{"a":1}\n{"b":2}\n', "jsonl") == [0, 1]
