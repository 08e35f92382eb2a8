from pathlib import Path

import pytest

from steelyard.errors import InvalidDataError
from steelyard.tables.formats import FileFormat, format_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.jsonl", FileFormat("jsonl")),
        ("a.ndjson.gz", FileFormat("jsonl", "gzip")),
        ("a.csv", FileFormat("csv")),
        ("a.csv.zst", FileFormat("csv", "zstd")),
        ("a.tsv", FileFormat("csv", separator="\t")),
        ("a.parquet", FileFormat("parquet")),
        ("Run 1.2.CSV.GZ", FileFormat("csv", "gzip")),
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
