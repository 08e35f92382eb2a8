import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.tables import write_table


@pytest.mark.parametrize("convert", [pl.DataFrame, pl.LazyFrame, pd.DataFrame, pa.table])
def test_frames_of_any_library_are_written(tmp_path, convert):
    write_table(convert({"a": [1, 2], "b": ["x", "y"]}), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "a,b\n1,x\n2,y\n"


def test_json_lines_hold_one_object_a_line(tmp_path):
    write_table(pl.DataFrame({"a": [1, None], "b": [["x"], []]}), str(tmp_path / "a.jsonl"))
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"a": 1, "b": ["x"]}, {"a": None, "b": []}]


def test_nested_cells_of_csv_are_json(tmp_path):
    write_table(pl.DataFrame({"a": [["é", '"'], None], "b": [{"c": 1}, None]}), tmp_path / "a.csv")
    rows = pl.read_csv(tmp_path / "a.csv", infer_schema=False).rows()
    assert rows == [('["é", "\\""]', '{"c": 1}'), (None, None)]


def test_a_file_can_be_rewritten_from_itself(tmp_path):
    path = tmp_path / "a.parquet"
    write_table(pl.DataFrame({"a": [1, 2]}), path)
    write_table(pl.scan_parquet(path).with_columns(b=pl.col("a") * 2), path)
    assert pl.read_parquet(path).rows() == [(1, 2), (2, 4)]


def test_nothing_is_left_half_written(tmp_path):
    def explode(_):
        raise ValueError("no more")

    path = tmp_path / "a.csv"
    path.write_text("old\n")
    rows = pl.LazyFrame({"a": range(10)}).with_columns(
        pl.col("a").map_batches(explode, return_dtype=pl.Int64)
    )
    with pytest.raises(ValueError, match="no more"):
        write_table(rows, path)
    assert path.read_text() == "old\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.csv"]


def test_through_a_link_the_file_itself_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "real" / "a.csv")
    write_table(pl.DataFrame({"a": [1]}), link)
    assert link.is_symlink()
    assert (tmp_path / "real" / "a.csv").read_text() == "a\n1\n"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_json_lines_do_not_turn_nan_into_null(tmp_path, value):
    rows = pl.DataFrame({"a": [1.0, 2.0], "b": [None, value]}, strict=False)
    with pytest.raises(InvalidDataError, match=rf"JSON has no {value}, as in row 2, column b"):
        write_table(rows, tmp_path / "a.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_cannot_be_written_is_named(tmp_path):
    rows = pl.DataFrame({"a": [1]})
    with pytest.raises(InvalidDataError, match=r"a\.csv: cannot be written: no folder .*: make it"):
        write_table(rows, tmp_path / "nowhere" / "a.csv")
    with pytest.raises(InvalidDataError, match=r"a\.xlsx: the extension must be"):
        write_table(rows, tmp_path / "a.xlsx")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidDataError, match=r"folder\.csv: cannot be written: .*directory"):
        write_table(rows, tmp_path / "folder.csv")


def test_what_is_no_frame_is_not_written(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"`frame` must be .* a data frame.*; got int"):
        write_table(1, tmp_path / "a.csv")
