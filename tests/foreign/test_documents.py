import gzip

import polars as pl
import pytest

from steelyard.errors import InvalidDataError
from steelyard.foreign.documents import open_document


def written(tmp_path, content, name="file.txt"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b'{"a": 1}', "json"),
        (b'\xef\xbb\xbf[{"a": 1}]', "json"),
        (b'{"a": 1}\r\n\r\n{"a": 2}\r\n', "lines"),
        (b"a,b\r1,2\r3,4\r", "table"),
        ("a\tb\n1\t2\n".encode("utf-16"), "table"),
        (gzip.compress(b"a;b\n1;2\n", mtime=0), "table"),
    ],
)
def test_a_file_is_what_it_holds(tmp_path, content, kind):
    document = open_document(written(tmp_path, content))
    assert document.kind == kind
    assert "a" in document.first


def test_cells_may_hold_lines_and_commas(tmp_path):
    document = open_document(written(tmp_path, b'a,b\n"x,\ny",2\n\n3\n'))
    assert [(row["a"], row["b"]) for row in document.rows] == [("x,\ny", "2"), ("3", "")]


def test_parquet_is_a_table(tmp_path):
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"a": [1], "b": ["x"]}).write_parquet(path)
    document = open_document(path)
    assert document.columns == ("a", "b")
    assert document.rows == [{"a": 1, "b": "x"}]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b'{"a": ', "malformed JSON"),
        (b'{"a": 1}\n{"a": \n', "line 2: malformed JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}", "malformed JSON"),
        (b"a\n\xff\xfe", "line 2: the bytes are not UTF-8"),
        (b"a,a\n1,2\n", "two columns are named `a`"),
        (b"\x1f\x8bnonsense", "cannot be read"),
    ],
)
def test_a_broken_file_is_one_clear_line(tmp_path, content, says):
    with pytest.raises(InvalidDataError, match=says) as refusal:
        open_document(written(tmp_path, content))
    assert "file.txt" in str(refusal.value)


def test_a_row_that_is_too_long_is_named_by_its_line(tmp_path):
    document = open_document(written(tmp_path, b"a,b\n1,2\n1,2,3\n"))
    with pytest.raises(InvalidDataError, match="line 3: expected 2 fields, got 3"):
        _ = document.rows


def test_nothing_there_and_nothing_in_a_folder(tmp_path):
    with pytest.raises(InvalidDataError, match="no such file"):
        open_document(tmp_path / "nowhere")
    with pytest.raises(InvalidDataError, match="the folder is empty"):
        open_document(tmp_path)


def test_a_line_ends_at_line_ends_alone(tmp_path):
    content = '{"a": "x\u2028y\x85z"}\r{"a": "w"}\r'.encode()
    document = open_document(written(tmp_path, content, "file.jsonl"))
    assert [one["a"] for one in document.records] == ["x\u2028y\x85z", "w"]
