import re

import polars as pl
import pytest

from steelyard.tables.lines import line_numbers, malformation


def file(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_rows_of_json_lines_are_the_lines_that_are_not_blank(tmp_path):
    path = file(tmp_path, "a.jsonl", '\n{"a":1}\n\n  \n{"a":2}\r\n{"a":3}')
    assert line_numbers(path, "jsonl", [0, 1, 2]) == [2, 5, 6]
    assert line_numbers(path, "jsonl", [2, 0]) == [6, 2]


def test_rows_of_csv_start_on_physical_lines_whatever_is_quoted(tmp_path):
    content = '\na,b\n1,"two\nlines, ""quoted"""\n\n3,"x\r\ny"\n4,z\n'
    path = file(tmp_path, "a.csv", content)
    # Header on line 2; the blank line 5 is a row of its own, as it is for polars.
    assert line_numbers(path, "csv", [0, 1, 2, 3]) == [3, 5, 6, 8]
    rows = pl.read_csv(path, infer_schema=False)
    assert rows["a"].to_list() == ["1", None, "3", "4"]


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_lines_of_compressed_files_are_counted_too(tmp_path, compression):
    path = tmp_path / "a.csv.gz"
    frame = pl.DataFrame({"a": ["one\ntwo", "three"]})
    frame.write_csv(path, compression=compression, check_extension=False)
    assert line_numbers(path, "csv", [0, 1]) == [2, 4]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"a":1}\n\n{"a":\n', r"line 3: expected a JSON object, got malformed JSON \(Expecting"),
        ('{"a":1} {"a":2}\n', r"line 1: .*Extra data at character 9"),
        ('{"a":1}\n[1, 2]\n', r"line 2: expected a JSON object, got \[1, 2\]"),
        ('{"a":1}\n{"a":NaN}\n', "line 2, column a: expected a finite number, got nan"),
        ('{"a":1}\n{"a":-Infinity}\n', "line 2, column a: expected a finite number, got -inf"),
        ('{"a":1e999}\n', "line 1, column a: expected a finite number, got inf"),
        (b'\xef\xbb\xbf{"a":1}\n', "line 1: the file starts with a byte order mark"),
        (b'{"a":"x"}\n{"a":"\xff"}\n', "line 2: the bytes are not UTF-8"),
        ("\n \n", "line 1: expected a row, got only blank lines"),
        (
            '{"a":"text","b":1}\n{"a":2,"b":3}\n{"a":4,"b":true}\n',
            "line 3, column b: expected a number as on line 1, got true or false",
        ),
        ('{"a":null}\n{"a":[1]}\n{"a":{"b":1}}\n', "line 3, .* a list as on line 2, got an object"),
        (f'"{"x" * 99}"\n', r"line 1: expected a JSON object, got \"x{56}\.\.\."),
    ],
)
def test_the_line_that_is_not_json_is_named(tmp_path, content, reason):
    path = file(tmp_path, "a.jsonl", content)
    with pytest.raises(pl.exceptions.PolarsError):
        pl.read_ndjson(path, infer_schema_length=None)
    assert re.match(reason, malformation(path, "jsonl"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a,b\n1,2\n1,2,3\n", "line 3: expected 2 fields, got 3"),
        ('a,b\n1,"x\ny"\n1,"2",3\n', "line 4: expected 2 fields, got 3"),
        ('a,b\n1,2\n1,x"y\n3,4\n', "line 3: a quotation mark opens here and never closes"),
        ('a,b\n1,2\n1,"xy\n3,4\n', "line 3: a quotation mark opens here and never closes"),
        ('a,b\n1,"x"y\n', r'line 2: expected quotation marks to be doubled .* got "x"y'),
        (b"a,b\n1,2\n1,\xff\n", "line 3: the bytes are not UTF-8"),
        ("\n\n", "line 1: expected a row, got only blank lines"),
    ],
)
def test_the_line_that_is_not_csv_is_named(tmp_path, content, reason):
    path = file(tmp_path, "a.csv", content)
    with pytest.raises(pl.exceptions.PolarsError):
        pl.read_csv(path, infer_schema=False)
    assert re.match(reason, malformation(path, "csv"))


def test_two_members_of_one_name_are_named(tmp_path):
    path = file(tmp_path, "a.jsonl", '{"a":1}\n{"a":1,"a":1.5}\n')
    assert malformation(path, "jsonl") == "line 2: two members are named `a`: rename one"


@pytest.mark.parametrize(("kind", "content"), [("jsonl", '{"a":1}\n'), ("csv", 'a,b\n"1",2\n')])
def test_a_file_without_fault_has_no_reason(tmp_path, kind, content):
    assert malformation(file(tmp_path, "a", content), kind) is None
