from pathlib import Path

import pytest

from steelyard.errors import InvalidDataError
from steelyard.tables.formats import Format, format_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.jsonl", Format("jsonl")),
        ("a.ndjson.gz", Format("jsonl", "gzip")),
        ("a.csv", Format("csv")),
        ("a.csv.zst", Format("csv", "zstd")),
        ("a.tsv", Format("csv", separator="\t")),
        ("a.parquet", Format("parquet")),
        ("Run 1.2.CSV.GZ", Format("csv", "gzip")),
    ],
)
def test_the_extension_says_the_format(name, expected):
    assert format_of(Path(name)) == expected


@pytest.mark.parametrize("name", ["a", "a.txt", "a.json", "a.gz", "csv", "a.csv.bz2"])
def test_an_unknown_extension_is_refused_with_those_known(name):
    with pytest.raises(
        InvalidDataError, match=r"must be \.jsonl, \.ndjson, \.csv or \.tsv.*; got '"
    ):
        format_of(Path(name))


def test_a_compressed_parquet_file_is_refused():
    with pytest.raises(InvalidDataError, match=r"compresses its own columns; got '\.gz'"):
        format_of(Path("a.parquet.gz"))
