"""Whatever the bytes: rows are read as they stand, or refused by an error of ours."""

import csv
import gzip
import io
import json
import re
import zipfile
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spreadsheets import write_xlsx
from steelyard.errors import SteelyardError
from steelyard.tables import read_judgments, read_outputs
from steelyard.tables.profile import profile_file

BOUNDED = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
GOOD = b'item,system,rater,prompt,score\n1,a,"r ""x"", y",p,1\n2,a,r,p,0.5\n'
LINES = b"".join(
    json.dumps({"item": n, "system": "a", "output": "x\u2028y", "g": n / 3}).encode() + b"\n"
    for n in range(3)
)


def read_every_way(path):
    """Read a file as anything that it may be; only errors of ours may come."""
    for read in (read_judgments, read_outputs, profile_file):
        with suppress(SteelyardError):
            read(path)


@pytest.mark.parametrize(
    "name",
    ["a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "a.xlsx", "a.csv.gz", "a.csv.zst", "a"],
)
@BOUNDED
@given(content=st.binary(max_size=80))
@example(b"\xef\xbb\xbf")
@example(b"\xff\xfe")
@example(b"\r")
@example(b'"')
@example(b"[[")
@example(b"{}")
@example(b"a\n\x00")
def test_any_bytes_are_read_or_refused(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    read_every_way(path)


@pytest.mark.parametrize(("name", "good"), [("a.csv", GOOD), ("a.jsonl", LINES), ("a.json", LINES)])
@BOUNDED
@given(start=st.integers(0, 90), length=st.integers(0, 9), new=st.binary(max_size=5))
def test_good_files_with_one_spot_spoilt_are_read_or_refused(
    tmp_path, name, good, *, start, length, new
):
    path = tmp_path / name
    path.write_bytes(good[:start] + new + good[start + length :])
    read_every_way(path)


@BOUNDED
@given(start=st.integers(0, 700), new=st.binary(min_size=1, max_size=4))
def test_a_spoilt_spreadsheet_is_read_or_refused(tmp_path, start, new):
    path = write_xlsx(tmp_path / "a.xlsx", {"s": [["item", "system", "score"], [1, "a", 2]]})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"]
    parts["xl/worksheets/sheet1.xml"] = sheet[:start] + new + sheet[start + len(new) :]
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    read_every_way(path)


# An apostrophe that guards a formula is taken away by design.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6).filter(
    lambda text: not re.match(r"'+[=+\-@\t\r]", text)
)
NAME = TEXT.filter(lambda name: name != "")
RECORDS = st.lists(
    st.tuples(NAME, NAME, TEXT, st.floats(allow_nan=False, allow_infinity=False)),
    min_size=1,
    max_size=5,
    unique_by=lambda record: record[:2],
)


@BOUNDED
@given(
    records=RECORDS,
    separator=st.sampled_from([",", ";", "\t", "|"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    mark=st.sampled_from(["", "\ufeff"]),
    encoding=st.sampled_from(["utf-8", "utf-16"]),
    decimal=st.sampled_from([".", ","]),
)
def test_no_cell_is_lost_in_any_dress_of_csv(
    tmp_path, *, records, separator, end, mark, encoding, decimal
):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["item", "system", "output", "g"])
    for *cells, number in records:
        writer.writerow([*cells, repr(number).replace(".", decimal)])
    path = tmp_path / "a.csv"
    path.write_bytes((mark * (encoding == "utf-8") + text.getvalue()).encode(encoding))
    found = read_outputs(path, separator=separator, decimal=decimal, metrics=["g"]).rows()
    assert [(*row[:3], float(row[3])) for row in found.rows()] == records


@BOUNDED
@given(records=RECORDS, indent=st.sampled_from([None, 1]))
def test_no_cell_is_lost_in_a_json_array_or_a_list_of_dicts(tmp_path, records, indent):
    rows = [dict(zip(("item", "system", "output", "g"), record, strict=True)) for record in records]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows, indent=indent))
    for source in (path, rows):
        assert read_outputs(source, metrics=["g"]).rows().rows() == records


def test_a_spoilt_packed_file_is_refused(tmp_path):
    packed = gzip.compress(GOOD * 20, mtime=0)
    for start in range(12, len(packed) - 8):
        path = tmp_path / "a.csv.gz"
        path.write_bytes(packed[:start] + b"\x5a\xa5\x3c" + packed[start + 3 :])
        read_every_way(path)
