"""Every form in which people keep tables is read, and what is not certain is asked."""

import gzip
import json
import sys
import zipfile
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from spreadsheets import write_xlsx
from steelyard.errors import InvalidArgumentError, InvalidDataError, MissingDependencyError
from steelyard.tables import read_judgments, read_outputs, write_table
from steelyard.tables.excel import filled_sheets
from steelyard.tables.frames import as_lazy

ROWS = [
    {"item": "007", "system": "a", "output": "say\r\n“hi”, you", "g": 0.5},
    {"item": "x", "system": "a", "output": "", "g": 2.0},
]
CSV = 'item,system,output,g\n007,a,"say\r\n“hi”, you",0.5\nx,a,,2.0\n'
EXPECTED = pl.DataFrame(ROWS)


def file(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows(source, **options):
    return read_outputs(source, **options).rows()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "\ufeff" + CSV),
        ("a.csv.gz", gzip.compress(("\ufeff" + CSV).encode(), mtime=0)),
        ("a.csv", CSV.encode("utf-16")),
        ("a.tsv", CSV.replace(",", "\t").replace("”\t", "”,")),
        ("a.TAB", CSV.replace(",", "\t").replace("”\t", "”,")),
        ("a.json", json.dumps(ROWS)),
        ("a.json", json.dumps(ROWS, indent=2).replace("\n", "\r")),
        ("a.json", ("\ufeff" + json.dumps(ROWS)).encode()),
        ("a.json.gz", gzip.compress(json.dumps(ROWS).encode(), mtime=0)),
        ("a.json", "\n".join(map(json.dumps, ROWS))),
        ("a.jsonl", json.dumps(ROWS)),
        ("a.jsonl", "\ufeff" + "\n".join(map(json.dumps, ROWS))),
        ("a.jsonl", "\r".join(map(json.dumps, ROWS))),
        ("a", "\n".join(map(json.dumps, ROWS))),
        # packed without saying so
        ("a.jsonl", gzip.compress("\n".join(map(json.dumps, ROWS)).encode(), mtime=0)),
    ],
)
def test_the_same_rows_are_read_from_every_form(tmp_path, name, content):
    assert_frame_equal(rows(file(tmp_path, name, content)), EXPECTED)


def test_lines_may_end_in_cr_alone_and_a_cr_in_quotation_marks_stays(tmp_path):
    text = 'item,system,output,g\r1,a,"one\rtwo",1\r2,a,x,oops\r'
    path = file(tmp_path, "a.csv", text)
    assert rows(path)["output"].to_list() == ["one\rtwo", "x"]
    with pytest.raises(InvalidDataError, match=r"a\.csv, line 3, column g: .*'oops'"):
        read_outputs(path, metrics=["g"])


def test_marks_and_line_ends_of_zstandard_are_read_too(tmp_path):
    path = tmp_path / "a.csv.zst"
    frame = pl.DataFrame({"\ufeffitem": ["1"], "system": ["a"], "output": ["x\r\ny"]})
    frame.write_csv(path, compression="zstd", check_extension=False)
    assert rows(path).rows() == [("1", "a", "x\r\ny")]


def test_a_tsv_file_is_written_and_read_back(tmp_path):
    path = tmp_path / "a.tsv"
    write_table(EXPECTED, path)
    assert_frame_equal(rows(path), EXPECTED)


SEMICOLONS = "item;system;score\n1;a;0,5\n2;a;1\n"


def test_semicolons_and_decimal_commas_that_leave_no_doubt_are_read_and_said(tmp_path):
    found = read_judgments(file(tmp_path, "a.csv", SEMICOLONS))
    assert found.frame["score"].to_list() == [0.5, 1.0]
    assert found.notes[0].endswith("a.csv: the columns are separated by semicolons")
    assert found.notes[1].endswith("a.csv: commas stand before the decimals of numbers")
    tabs = file(tmp_path, "b.csv", "item\tsystem\tg\n1\ta\t0,5\n2\ta\t\n3\ta\t2\n")
    assert read_outputs(tabs).rows()["g"].to_list() == [0.5, None, 2.0]


@pytest.mark.parametrize("cells", [("1,500", "2"), ("1,5", "0.25,5")])
def test_commas_that_may_stand_between_thousands_are_asked_about(tmp_path, cells):
    path = file(tmp_path, "a.csv", f"item;system;score\n1;a;{cells[0]}\n2;a;{cells[1]}\n")
    with pytest.raises(InvalidDataError, match=r"column score: .* --decimal , -o") as caught:
        read_judgments(path)
    assert caught.value.options == ("--decimal", ",")


def test_a_metric_whose_commas_leave_a_doubt_does_not_become_text_unnoticed(tmp_path):
    path = file(tmp_path, "a.tsv", "item\tsystem\tg\tids\n1\ta\t1,500\tx\n2\ta\t\tx\n3\ta\t2\tx\n")
    with pytest.raises(InvalidDataError, match=r"column g: the cells look like numbers"):
        read_outputs(path)
    assert read_outputs(path, decimal=",").metrics == ("g",)
    with pytest.raises(InvalidDataError, match="no column `output`"):
        read_outputs(path, decimal=".")


def test_points_where_commas_are_said_do_not_become_texts_unnoticed(tmp_path):
    path = file(tmp_path, "a.csv", "item,system,g\n1,a,0.5\n2,a,1.5\n")
    with pytest.raises(InvalidDataError, match=r"column g: the cells have points"):
        read_outputs(path, decimal=",")


def test_answers_with_commas_are_texts(tmp_path):
    path = file(tmp_path, "a.csv", "item;system;output;g\n1;a;3,5;0.5\n2;a;4,5;0.25\n")
    assert read_outputs(path).rows()["g"].to_list() == [0.5, 0.25]


def test_a_decimal_point_is_no_number_where_commas_are_meant(tmp_path):
    path = file(tmp_path, "a.tsv", "item\tsystem\tscore\n1\ta\t1.500,5\n")
    with pytest.raises(InvalidDataError, match=r"with a decimal comma, got '1\.500,5'"):
        read_judgments(path, decimal=",")


@pytest.mark.parametrize("separator", ["", ";;", '"', "\n", "x", "é"])
def test_a_separator_is_one_character(tmp_path, separator):
    path = file(tmp_path, "a.csv", CSV)
    with pytest.raises(InvalidArgumentError, match=r"`separator` .* must be one character"):
        read_outputs(path, separator=separator)
    with pytest.raises(InvalidArgumentError, match=r"`decimal` .* must be"):
        read_outputs(path, decimal=";")


SHEET = [["item", "system", "output", "g"], ["007", "a", "say", 0.5], [7, "a", None, True]]


def test_the_only_sheet_is_read_and_of_several_one_is_named(tmp_path):
    one = write_xlsx(tmp_path / "one.xlsx", {"Sheet1": SHEET, "Sheet2": []})
    assert rows(one).select("item", "output").rows() == [("007", "say"), ("7", "")]
    two = write_xlsx(tmp_path / "two.xlsx", {"notes": [["a"], ["b"]], "my outputs": SHEET})
    assert filled_sheets(two) == ["notes", "my outputs"]
    with pytest.raises(InvalidDataError, match=r"holds 2 sheets: notes, my outputs: name one"):
        read_outputs(two)
    assert rows(f"{two}#my outputs").height == 2
    with pytest.raises(InvalidDataError, match=r"no sheet 'mine'; there are: notes, my outputs"):
        read_outputs(f"{two}#mine")


def test_a_spreadsheet_of_libreoffice_is_read_and_an_excel_file_by_any_name(tmp_path):
    office = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(f'xmlns:{name}="{office}:{name}:1.0"' for name in ("office", "table", "text"))
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'
            for cell in row
        )
        + "</table:table-row>"
        for row in (["item", "system", "output"], ["1", "a", "x"])
    )
    path = tmp_path / "a.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", f'<manifest xmlns="{office}:manifest:1.0"/>')
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="s">{cells}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    assert rows(path).rows() == [("1", "a", "x")]
    book = write_xlsx(tmp_path / "export.csv", {"s": SHEET})
    assert rows(book).height == 2


def test_cells_of_a_sheet_are_named_below_its_header(tmp_path):
    sheet = [["item", "system", "score"], [1, "a", 1], [None, None, None], [2, "a", "good"]]
    path = write_xlsx(tmp_path / "a.xlsx", {"s": sheet})
    with pytest.raises(InvalidDataError, match=r"row 3 below the header, column score: .*'good'"):
        read_judgments(path)


def test_two_columns_of_a_sheet_may_not_share_a_name(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", {"s": [["item", "g", "g"], [1, 2, 3]]})
    with pytest.raises(InvalidDataError, match="two columns of sheet 's' are named `g`"):
        read_outputs(path)


def test_a_sheet_of_a_csv_file_is_refused(tmp_path):
    path = file(tmp_path, "a.csv", CSV)
    with pytest.raises(InvalidDataError, match="only Excel files have sheets"):
        read_outputs(f"{path}#one")


def test_an_excel_file_without_its_reader_says_how_to_get_it(tmp_path, monkeypatch):
    path = write_xlsx(tmp_path / "a.xlsx", {"s": SHEET})
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'steelyard\[excel\]'"):
        read_outputs(path)


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "parts"
    (folder / "more").mkdir(parents=True)
    EXPECTED.head(1).write_parquet(folder / "a.parquet")
    EXPECTED.tail(1).write_parquet(folder / "more" / "b.parquet")
    EXPECTED.write_parquet(folder / "_old.parquet")
    return folder


def test_a_folder_of_parquet_files_is_one_pool(parts):
    assert_frame_equal(rows(parts), EXPECTED)


def test_a_pattern_of_parquet_files_is_one_pool(parts):
    assert_frame_equal(rows(f"{parts}/**/[ab].parquet"), EXPECTED)
    with pytest.raises(InvalidDataError, match="no file has a name like this"):
        read_outputs(f"{parts}/*.pq")
    (parts / "c.csv").write_text(CSV)
    with pytest.raises(InvalidDataError, match="only Parquet files are read together"):
        read_outputs(f"{parts}/*")


def test_a_row_of_parts_is_named_by_its_file(parts):
    EXPECTED.head(1).write_parquet(parts / "more" / "c.parquet")
    match = r"row 1 of c\.parquet: the output of item '007' .* already on row 1 of a\.parquet"
    with pytest.raises(InvalidDataError, match=match):
        read_outputs(parts).check()


def test_parts_with_other_columns_are_named(parts):
    EXPECTED.with_columns(g=pl.lit("x")).write_parquet(parts / "more" / "c.parquet")
    match = (
        r"c\.parquet: expected the columns and types of .*a\.parquet: column `g` has type String"
    )
    with pytest.raises(InvalidDataError, match=match):
        read_outputs(parts)


def test_lists_of_dicts_and_dicts_of_lists_are_read():
    assert_frame_equal(rows(ROWS), EXPECTED)
    assert_frame_equal(rows(EXPECTED.to_dict(as_series=False)), EXPECTED)
    mixed = [{"item": 1, "system": "a", "score": True}, {"item": "x", "system": "a", "score": 2}]
    found = read_judgments(mixed)
    assert found.frame.select("item", "score").rows() == [("1", 1.0), ("x", 2.0)]


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ([{"item": 1}, 2], r"`source`, row 2: expected a record with named columns, got 2"),
        ([{1: "a"}], "`source`, row 1: the name of a column must be text; got 1"),
        ({"item": [1, 2], "system": ["a"]}, "columns must have the same length"),
        ({"item": "abc"}, "column 'item' must be a list of values; got str"),
        ([], "outputs: holds no rows"),
    ],
)
def test_what_is_no_table_of_python_is_named(source, match):
    with pytest.raises((InvalidDataError, InvalidArgumentError), match=match):
        read_outputs(source)


def test_pandas_columns_of_mixed_types_become_text():
    frame = pd.DataFrame({"item": [1, "a", 2.5], "system": "s", "score": [1, None, "3"]})
    assert len(read_judgments(frame)) == 2
    found = read_judgments(frame.assign(score=1))
    assert found.frame["item"].to_list() == ["1", "a", "2.5"]


def test_pandas_is_read_without_pyarrow(monkeypatch):
    class WithoutPyarrow:
        def __init__(self, *_):
            raise ModuleNotFoundError("pa.array requires 'pyarrow' module to be installed")

    polars = SimpleNamespace(
        DataFrame=WithoutPyarrow, LazyFrame=pl.LazyFrame, exceptions=pl.exceptions
    )
    frame = pd.DataFrame(
        {
            "item": ["1", "2"],
            "system": "a",
            "output": ["x", "y"],
            "g": [1.5, float("nan")],
            "c": pd.Categorical(["u", None]),
        }
    )
    with monkeypatch.context() as patch:
        patch.setattr("steelyard.tables.frames.pl", polars)
        lazy = as_lazy(frame, argument="source")
    found = read_outputs(lazy)
    assert found.metrics == ("g",)
    assert found.metric_gaps() == {"a": {"g": 1}}
    assert found.rows()["c"].to_list() == ["u", None]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (
            '{"eval": {"model": "m"}, "samples": []}',
            "expected an array of JSON objects, got one obj",
        ),
        ('[{"a": 1}, 2]', "record 2: expected a record with named columns, got 2"),
        ('[{"a": 1},]', r"a\.json, line 1: expected an array of JSON objects, got malformed JSON"),
        ("[]", "holds no rows"),
        ('"text"', "got str"),
        (b'[{"a": "\xff"}]', "the bytes are not UTF-8"),
        ("[" * 100_000, "malformed|nested too deeply"),
    ],
)
def test_json_of_another_shape_is_named(tmp_path, content, match):
    with pytest.raises(InvalidDataError, match=match):
        read_outputs(file(tmp_path, "a.json", content))


def test_a_name_that_is_nearly_right_is_suggested(tmp_path):
    file(tmp_path, "Outputs.csv", CSV)
    with pytest.raises(InvalidDataError, match=r"no such file: is it .*Outputs\.csv\?"):
        read_outputs(tmp_path / "outputs.csv")
    with pytest.raises(InvalidDataError, match=r"no such file: is it .*Outputs\.csv\?"):
        read_outputs(tmp_path / "Outputs.jsonl")


def test_an_archive_is_refused_by_name(tmp_path):
    path = tmp_path / "a.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "item\n1\n")
    with pytest.raises(InvalidDataError, match="a ZIP archive: unpack it, and name the file in it"):
        rows(path)


def test_a_sheet_whose_columns_are_named_further_down_is_refused(tmp_path):
    cells = [["My study"], ["item", "system", "score"], [1, "a", 2]]
    path = write_xlsx(tmp_path / "a.xlsx", {"s": cells})
    with pytest.raises(
        InvalidDataError, match="names one of 3 columns: put the names of the columns"
    ):
        rows(path)
