import gzip
import os

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.tables.frames import as_lazy
from steelyard.tables.opening import open_table
from steelyard.tables.tables import ROW, shown


def opened(source, columns=None):
    return open_table(source, label="outputs", contract=("item", "system"), columns=columns)


def raw(source, columns=None):
    return opened(source, columns).rows.drop(ROW).collect().to_dict(as_series=False)


def collected(path):
    table = opened(path)
    return table.collect(table.rows)


class Capsule:
    """A table of a library we know nothing of, but that it speaks Arrow."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "convert",
    [
        pl.DataFrame,
        pl.LazyFrame,
        pd.DataFrame,
        # A filtered frame has an index of its own, which is no column.
        lambda rows: pd.DataFrame(rows, index=[5, 3]),
        pa.table,
        lambda rows: pa.table(rows).to_reader(),
        lambda rows: Capsule(pa.table(rows)),
    ],
    ids=["polars", "lazy", "pandas", "pandas index", "pyarrow", "reader", "capsule"],
)
def test_frames_of_any_library_are_read(convert):
    rows = {"item": ["a", "b"], "metric": [1.5, 2.5]}
    assert raw(convert(rows)) == rows


def test_what_is_no_frame_is_refused():
    with pytest.raises(
        InvalidArgumentError, match=r"`source` must be a path, a list of dicts.*got int"
    ):
        opened(7)


def test_a_frame_that_cannot_be_exported_is_refused():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise TypeError("no")

    with pytest.raises(InvalidDataError, match="`source` cannot be read as an Arrow table: no"):
        opened(Broken())


def test_a_frame_in_polars_is_taken_as_it_is():
    frame = pl.LazyFrame({"a": [1]})
    assert as_lazy(frame, argument="frame") is frame


def test_columns_get_our_names():
    got = raw(pl.DataFrame({"doc": [1], "model": ["m"]}), {"item": "doc", "system": "model"})
    assert got == {"item": [1], "system": ["m"]}


def test_columns_can_swap_names():
    got = raw(pl.DataFrame({"a": [1], "b": [2]}), {"a": "b", "b": "a"})
    assert got == {"b": [1], "a": [2]}


def test_a_name_is_not_taken_from_another_column():
    frame = pl.DataFrame({"doc": [1], "item": [2]})
    with pytest.raises(
        InvalidDataError, match=r"outputs: `doc` cannot be used as `item`.*old_item"
    ):
        opened(frame, {"item": "doc"})
    assert raw(frame, {"item": "doc", "old_item": "item"}) == {"item": [1], "old_item": [2]}


def test_a_column_has_one_name():
    with pytest.raises(InvalidArgumentError, match="use each column once; got `a` for `b`, `c`"):
        opened(pl.DataFrame({"a": [1]}), {"b": "a", "c": "a"})


def test_a_column_that_is_not_there_cannot_be_mapped():
    with pytest.raises(InvalidDataError, match=r"no column `doc` to use as `item`.*are `a`, `b`"):
        opened(pl.DataFrame({"a": [1], "b": [2]}), {"item": "doc"})


def test_one_mapping_serves_files_that_use_a_part_of_it():
    columns = {"item": "doc", "system": "model", "rater": "worker"}
    assert raw(pl.DataFrame({"item": [1], "model": ["m"]}), columns) == {
        "item": [1],
        "system": ["m"],
    }


def test_a_missing_column_is_named_with_the_way_out():
    table = opened(pl.DataFrame({"a": [1], "b": [2]}))
    match = r"outputs: no column `item`; the columns are `a`, `b`: .*--column item=YOUR_COLUMN"
    with pytest.raises(InvalidDataError, match=match):
        table.require(["a", "item"])


def test_errors_speak_of_columns_by_the_name_the_user_gave_them():
    table = opened(pl.DataFrame({"doc": [1, 2]}), {"item": "doc"})
    assert str(table.cell_error(1, "item", "text")).startswith("outputs, row 2, column doc: ")
    assert str(table.type_error("item", "text")).startswith("outputs, column doc: ")


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.csv", b"", "a.csv: the file is empty"),
        ("a.csv", b"item,system\n", "a.csv: holds no rows"),
        ("a.csv", b"item,system\n\n,\n", "a.csv: holds no rows"),
        ("a.csv", b"\n\n", "a.csv, line 1: expected a row, got only blank lines"),
        ("a.csv", b"item,item\n1,2\n", "a.csv: two columns are named `item`"),
        ("a.csv", "item,é\n1,2\n".encode("latin-1"), "a.csv, line 1: the bytes are not UTF-8"),
        ("a.csv", b"item\n\n1\n\xff\n", "a.csv, line 4: the bytes are not UTF-8"),
        ("a.csv", b"a,b\n1,2\n1,2,3\n", "a.csv, line 3: expected 2 fields, got 3"),
        (
            "a.csv.gz",
            gzip.compress(b"item\n1\n", mtime=0)[:-9],
            "a.csv.gz: cannot be read: unexpected end",
        ),
        ("a.jsonl", b"", "a.jsonl: the file is empty"),
        ("a.jsonl", b'{"a":1}\n{"a":\n', "a.jsonl, line 2: expected a JSON object, got malformed"),
        ("a.jsonl.gz", gzip.compress(b'{"a":1}', mtime=0)[:-9], "a.jsonl.gz: cannot be read"),
        ("a.jsonl.gz", b"\x1f\x8b\x08garbage", "a.jsonl.gz: cannot be read"),
        ("a.jsonl.zst", b"\x28\xb5\x2f\xfdgarbage", "a.jsonl.zst: cannot be read"),
        ("a.parquet", b"", "a.parquet: the file is empty"),
        ("a.parquet", b"PAR1 this is no table", "a.parquet: cannot be read: "),
        ("a.xlsx", b"PK", "a.xlsx: cannot be read as a spreadsheet: "),
    ],
)
def test_a_file_that_cannot_be_read_is_named_in_one_line(tmp_path, name, content, match):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidDataError, match=match) as caught:
        opened(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidDataError, match="nowhere: no such file"):
        opened(tmp_path / "nowhere")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InvalidDataError, match=r"the folder holds no .parquet file: name the file"):
        opened(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("item\n1\n")
    path.chmod(0)
    with pytest.raises(InvalidDataError, match=r"a\.csv: cannot be read"):
        opened(path)


@pytest.mark.parametrize("name", ["[a]*?.csv", "[a]*?.jsonl", "[a]*?.parquet", "~.csv"])
def test_names_with_wildcards_are_names(tmp_path, name):
    path = tmp_path / name
    frame = pl.DataFrame({"item": ["a"]})
    write = {".csv": frame.write_csv, ".jsonl": frame.write_ndjson}.get(
        path.suffix, frame.write_parquet
    )
    with path.open("wb") as file:
        write(file)
    (tmp_path / "other.csv").write_text("item\nb\n")
    assert raw(path) == {"item": ["a"]}


def test_a_parquet_file_damaged_inside_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"item": range(10_000)}).write_parquet(path)
    content = bytearray(path.read_bytes())
    content[100:3000] = bytes(2900)
    path.write_bytes(content)
    with pytest.raises(InvalidDataError, match=r"a\.parquet: cannot be read: "):
        collected(path)


def test_long_cells_are_shortened_where_they_are_shown():
    assert shown("x" * 100) == "'" + "x" * 76 + "..."
    assert shown(None) == "nothing"
