import json
import math

import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.tables import read_judgments, read_outputs, write_table
from steelyard.tables.profile import profile_file

EXTENSIONS = [
    "jsonl",
    "ndjson",
    "jsonl.gz",
    "jsonl.zst",
    "csv",
    "csv.gz",
    "csv.zst",
    "parquet",
]
HEADER = "item,system,rater,prompt,score"


def csv(folder, *lines, name="a.csv"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", newline="")
    return path


def jsonl(folder, *records, name="a.jsonl"):
    path = folder / name
    path.write_text("\n".join(json.dumps(record) for record in records) + "\n")
    return path


def judgment(**cells):
    return {"item": "1", "system": "a", "rater": "r", "prompt": "p", "score": 1, **cells}


def output(**cells):
    return {"item": "1", "system": "a", "output": "text", **cells}


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_outputs_come_back_as_they_were_written(tmp_path, pool, extension):
    path = tmp_path / f"pool.{extension}"
    write_table(pool, path)
    outputs = read_outputs(path)
    assert_frame_equal(outputs.rows(), pool)
    assert outputs.name == str(path)
    assert outputs.metrics == ("rouge-l", "length")
    assert outputs.systems == ("b", "a")
    assert outputs.has_texts


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_judgments_come_back_as_they_were_written(tmp_path, judged, extension):
    path = tmp_path / f"judged.{extension}"
    write_table(judged, path)
    judgments = read_judgments(path)
    assert_frame_equal(judgments.frame, judged)
    assert judgments.name == str(path)


TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("extension", ["jsonl", "csv", "csv.zst", "parquet"])
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=st.lists(st.tuples(NAME, NAME, TEXT, st.lists(TEXT, max_size=3), NUMBER), min_size=1))
def test_any_outputs_come_back_as_they_were_written(tmp_path, extension, rows):
    schema = ["item", "system", "output", "reference", "metric"]
    kinds = {"reference": pl.List(pl.String), "metric": pl.Float64}
    pool = pl.DataFrame(rows, schema=schema, orient="row", schema_overrides=kinds)
    pool = pool.unique(["item", "system"], maintain_order=True)
    path = tmp_path / f"pool.{extension}"
    write_table(pool, path)
    assert_frame_equal(read_outputs(path, metrics=["metric"]).rows(), pool, check_exact=True)


def test_whole_numbers_become_identifiers(tmp_path):
    records = [judgment(item=7, rater=12), judgment(item=2**70, rater=13)]
    frame = read_judgments(jsonl(tmp_path, *records)).frame
    assert frame["item"].to_list() == ["7", str(2**70)]
    # pandas makes floats of whole numbers when one is missing in a larger frame.
    frame = read_judgments(pd.DataFrame([judgment(item=7.0), judgment(item=8.0)])).frame
    assert frame["item"].to_list() == ["7", "8"]


def test_identifiers_of_csv_are_not_read_as_numbers(tmp_path):
    path = csv(tmp_path, HEADER, "007,1.50,1e3,true,1")
    assert read_judgments(path).frame.row(0) == ("007", "1.50", "1e3", "true", 1.0)


def test_categories_are_identifiers():
    kinds = {"item": pl.Categorical, "system": pl.Enum(["a"])}
    frame = pl.DataFrame([judgment()], schema_overrides=kinds)
    assert read_judgments(frame).frame.row(0) == ("1", "a", "r", "p", 1.0)


@pytest.mark.parametrize(
    ("score", "expected"),
    [(True, 1.0), (False, 0.0), (3, 3.0), (-2.5, -2.5), ("4", 4.0), (" 5e-1 ", 0.5), ("True", 1.0)],
)
def test_scores_become_floats(tmp_path, score, expected):
    records = [judgment(score=score)]
    assert read_judgments(jsonl(tmp_path, *records)).frame["score"].to_list() == [expected]
    assert read_judgments(pl.DataFrame(records)).frame["score"].to_list() == [expected]
    path = csv(tmp_path, HEADER, f"1,a,r,p,{score}")
    assert read_judgments(path).frame["score"].to_list() == [expected]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [("good", "'good'"), ("-inf", "'-inf'"), ("5/7", "'5/7'"), ("1e999", "'1e999'")],
)
def test_a_bad_score_in_csv_is_named_by_file_line_and_column(tmp_path, cell, shown):
    # The record before it takes two lines, and a blank line counts as one.
    path = csv(tmp_path, HEADER, '1,a,"r', '2",p,1', "", "2,a,r,p,1", f"3,a,r,p,{cell}")
    match = rf"a\.csv, line 6, column score: expected a finite number, got {shown}"
    with pytest.raises(InvalidDataError, match=match) as caught:
        read_judgments(path)
    assert caught.value.options == (("--scale", f"{cell}=?") if cell in {"good", "5/7"} else ())


@pytest.mark.parametrize(("score", "shown"), [("good", "'good'"), ("x", "'x'")])
def test_a_bad_score_in_json_lines_is_named_by_file_line_and_column(tmp_path, score, shown):
    path = jsonl(tmp_path, judgment(), judgment(item="2", score=score))
    path.write_text("\n" + path.read_text().replace("\n", "\n\n"))
    match = rf"a\.jsonl, line 4, column score: expected a finite number, got {shown}: if"
    with pytest.raises(InvalidDataError, match=match):
        read_judgments(path)


@pytest.mark.parametrize("score", [math.inf, -math.inf])
def test_a_bad_score_in_a_frame_is_named_by_row_and_column(tmp_path, score):
    frame = pl.DataFrame([judgment(), judgment(item="2", score=score)], strict=False)
    with pytest.raises(InvalidDataError, match=r"^judgments, row 2, column score: expected"):
        read_judgments(frame)
    path = tmp_path / "a.parquet"
    frame.write_parquet(path)
    with pytest.raises(InvalidDataError, match=r"a\.parquet, row 2, column score: expected"):
        read_judgments(path)


def test_the_first_bad_row_is_named_whatever_its_column(tmp_path):
    path = csv(tmp_path, HEADER, "1,a,r,p,1", "2,a,,p,1", ",a,r,p,x")
    match = r"line 3, column rater: expected text or a whole number, got nothing"
    with pytest.raises(InvalidDataError, match=match):
        read_judgments(path)


@pytest.mark.parametrize("column", ["item", "system", "rater", "prompt"])
@pytest.mark.parametrize(("value", "shown"), [(None, "nothing"), ("", "''"), (1.5, "1.5")])
def test_identifiers_are_never_empty_and_never_fractions(column, value, shown):
    frame = pl.DataFrame([judgment(**{column: value})])
    match = rf"row 1, column {column}: expected text or a whole number, got {shown}"
    with pytest.raises(InvalidDataError, match=match):
        read_judgments(frame)


@pytest.mark.parametrize(
    ("cells", "match"),
    [
        ({"item": True}, "column item: expected text or whole numbers, got values of type Boolean"),
        ({"score": [1]}, r"column score: expected finite numbers, got values of type List"),
        (
            {"seconds": {"s": 1}},
            "column seconds: expected finite numbers, got values of type Struct",
        ),
        (
            {"seconds": "long"},
            "column seconds: expected a finite number, or an empty cell .*'long'",
        ),
        ({"seconds": math.inf}, "row 1, column seconds: expected a finite number.*, got inf"),
        (
            {"probability": 0},
            "column probability: expected a probability above 0 and up to 1, got 0",
        ),
        ({"probability": 1.1}, r"column probability: expected a probability .*, got 1\.1"),
        ({"probability": math.nan}, "column probability: expected a probability .*, got nan"),
        ({"probability": "?"}, r"column probability: expected a probability .*, got '\?'"),
    ],
)
def test_other_cells_of_judgments_are_checked(cells, match):
    with pytest.raises(InvalidDataError, match=match):
        read_judgments(pl.DataFrame([judgment(**cells)]))


def test_times_become_text():
    frame = pl.DataFrame([judgment(time=pd.Timestamp("2024-01-31 12:00").to_pydatetime())])
    assert read_judgments(frame).frame["time"].item().startswith("2024-01-31 12:00:00")


@pytest.mark.parametrize("column", ["item", "system", "score"])
def test_a_column_that_judgments_lack_is_named(tmp_path, column):
    record = {("other" if name == column else name): value for name, value in judgment().items()}
    path = jsonl(tmp_path, record)
    match = rf"a\.jsonl: no column `{column}`; .*`other`.*--column {column}=YOUR_COLUMN"
    with pytest.raises(InvalidDataError, match=match):
        read_judgments(path)
    assert len(read_judgments(path, columns={column: "other"})) == 1


def test_a_second_judgment_of_the_same_is_an_error_that_names_both_lines(tmp_path):
    path = csv(tmp_path, HEADER, "1,a,r,p,1", "2,a,r,p,1", "1,a,s,p,2", "", "1,a,r,p,3")
    match = (
        r"a\.csv, line 6: rater 'r' judged item '1' of system 'a' under prompt 'p' already on "
        r"line 2: take their mean with --on-duplicate mean, keep one with first or last"
    )
    with pytest.raises(InvalidDataError, match=match):
        read_judgments(path)


@pytest.mark.parametrize(
    ("how", "scores", "words"),
    [
        ("first", [1, 1, 2], "the first of each is kept, 1 are left out"),
        ("last", [1, 2, 3], "the last of each is kept, 1 are left out"),
        ("mean", [2, 1, 2], "each counts with the mean of its scores, 1 rows less"),
        ("all", [1, 1, 2, 3], "all are kept, and raters count as unknown"),
    ],
)
def test_repeated_judgments_are_settled_as_asked_and_counted(tmp_path, how, scores, words):
    path = csv(tmp_path, HEADER, "1,a,r,p,1", "2,a,r,p,1", "1,a,s,p,2", "1,a,r,p,3")
    found = read_judgments(path, on_duplicate=how)
    assert found.frame["score"].to_list() == scores
    assert found.notes[0].endswith(
        f"1 of 4 judgments repeat another of the same rater: {words}"
    ) or (how == "all" and words in found.notes[0])
    assert (set(found.raters) == {"unknown"}) == (how == "all")


def test_one_name_that_stands_for_several_people_is_kept_as_unknown_raters():
    frame = pl.DataFrame([judgment(score=n) for n in range(3)])
    with pytest.raises(InvalidDataError, match="stands for several people, keep all with") as error:
        read_judgments(frame)
    assert error.value.options == ("--on-duplicate", "all")
    assert len(read_judgments(frame, on_duplicate="all")) == 3


def test_rows_that_are_there_twice_with_the_same_score_lose_nothing_by_keeping_one():
    frame = pl.DataFrame([judgment(), judgment(), judgment(rater="other")])
    with pytest.raises(InvalidDataError, match="the same scores: keep one of each"):
        read_judgments(frame)


def test_what_to_do_with_duplicates_is_one_of_five():
    with pytest.raises(InvalidArgumentError, match="`on_duplicate` must be one of error, first"):
        read_judgments(pl.DataFrame([judgment()]), on_duplicate="drop")


def test_references_are_texts_or_lists_of_texts_in_one_file(tmp_path):
    records = [
        output(reference="one"),
        output(item="2", reference=["two", "three"]),
        output(item="3"),
        output(item="4", reference=[]),
    ]
    expected = [["one"], ["two", "three"], [], []]
    assert read_outputs(jsonl(tmp_path, *records)).rows()["reference"].to_list() == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["one", None], [["one"], []]),
        (['["one"]', "[1]"], [['["one"]'], ["[1]"]]),
        ([["one", None], None], [["one"], []]),
        ([42, 43], [["42"], ["43"]]),
    ],
)
def test_references_of_frames_are_made_lists(values, expected):
    frame = pl.DataFrame({"item": [1, 2], "system": "a", "output": "x", "reference": values})
    assert read_outputs(frame).rows()["reference"].to_list() == expected


def test_references_of_csv_may_be_json(tmp_path):
    lines = ['1,a,x,"[""one"", ""two""]"', "2,a,x,[1]", "3,a,x,[sic]", "4,a,x,", "5,a,x,[]"]
    path = csv(tmp_path, "item,system,output,reference", *lines)
    expected = [["one", "two"], ["[1]"], ["[sic]"], [], []]
    assert read_outputs(path).rows()["reference"].to_list() == expected


def test_chat_messages_become_text(tmp_path):
    messages = [{"role": "user", "content": "hé"}]
    rows = read_outputs(jsonl(tmp_path, output(input=messages))).rows()
    assert json.loads(rows["input"].item()) == messages


def test_outputs_that_are_numbers_become_text(tmp_path):
    assert read_outputs(jsonl(tmp_path, output(output=42))).rows()["output"].to_list() == ["42"]


def test_an_empty_output_of_csv_is_the_empty_text(tmp_path):
    path = csv(tmp_path, "item,system,output", "1,a,", '2,a,""')
    assert read_outputs(path).rows()["output"].to_list() == ["", ""]


@pytest.mark.parametrize(
    ("cells", "match"),
    [
        ({"output": ["x"]}, "column output: expected text, got values of type List"),
        ({"item": None}, "line 1, column item: expected text or a whole number, got nothing"),
        ({"reference": {"a": 1}}, "column reference: expected text or lists of texts, got values"),
    ],
)
def test_bad_cells_of_outputs_are_named(tmp_path, cells, match):
    with pytest.raises(InvalidDataError, match=rf"a\.jsonl, {match}"):
        read_outputs(jsonl(tmp_path, output(**cells)))


def test_metrics_are_the_other_columns_that_hold_numbers(tmp_path):
    header = "item,system,output,rouge,calls,exact,model,code,empty,patchy"
    path = csv(tmp_path, header, "1,2,3, 0.5 ,7,true,m1,007,,", "2,2,3,1e-3,8,False,m2,8,,1")
    outputs = read_outputs(path)
    assert outputs.metrics == ("rouge", "calls", "exact", "patchy")
    rows = outputs.rows().select(pl.exclude("item", "system", "output"))
    assert rows.row(0) == (0.5, 7, 1.0, "m1", "007", None, None)
    assert rows.schema["calls"] == pl.Int64


def test_only_the_metrics_asked_for_are_metrics():
    frame = pl.DataFrame([output(rouge=0.5, length=3)])
    outputs = read_outputs(frame, metrics=["length"])
    assert outputs.metrics == ("length",)
    assert outputs.columns == ("item", "system", "output", "rouge", "length")
    assert read_outputs(frame, metrics=[]).metrics == ()


@pytest.mark.parametrize("name", ["bleu", "output", "model"])
def test_a_metric_that_is_not_there_is_named_with_those_that_are(name):
    frame = pl.DataFrame([output(rouge=0.5, length=3, model="1")])
    match = (
        f"outputs: no metric `{name}` among the columns that hold numbers; there are: rouge, length"
    )
    with pytest.raises(InvalidDataError, match=match):
        read_outputs(frame, metrics=["rouge", name])


def test_text_in_a_metric_that_is_asked_for_is_named(tmp_path):
    path = csv(tmp_path, "item,system,output,rouge", "1,a,x,0.5", "2,a,x,n/a")
    assert read_outputs(path).metrics == ()
    with pytest.raises(InvalidDataError, match=r"line 3, column rouge: expected a .* got 'n/a'"):
        read_outputs(path, metrics=["rouge"])


def test_texts_may_be_missing_if_there_is_a_metric():
    frame = pl.DataFrame({"item": [1], "system": "a", "rouge": 0.5})
    outputs = read_outputs(frame)
    assert not outputs.has_texts
    assert read_outputs(frame, metrics=[]).metrics == ()
    with pytest.raises(InvalidDataError, match="no column `output`"):
        read_outputs(frame.drop("rouge"))


@pytest.mark.parametrize("column", ["item", "system"])
def test_a_column_that_outputs_lack_is_named(column):
    with pytest.raises(InvalidDataError, match=f"outputs: no column `{column}`"):
        read_outputs(pl.DataFrame([output()]).drop(column))


@pytest.mark.parametrize("score", [1e155, -1e300])
def test_scores_whose_squares_are_no_numbers_are_refused(tmp_path, score):
    path = tmp_path / "a.csv"
    path.write_text(f"item,system,rater,prompt,score\n1,a,r,p,1\n2,a,r,p,{score}\n")
    match = r"a\.csv, line 3, column score: expected a number of at most 1e\+100 in size, got"
    with pytest.raises(InvalidDataError, match=match):
        read_judgments(path)
    [problem] = profile_file(path).problems
    assert problem.stops
    assert "at most 1e+100" in problem.what


@pytest.mark.parametrize("blank", ["", " ", "NaN", "N/A", "-", '""'])
def test_rows_without_a_score_are_left_out_and_counted(tmp_path, blank):
    path = csv(tmp_path, HEADER, "1,a,r,p,1", f"2,a,r,p,{blank}", "3,a,r,p,2")
    found = read_judgments(path)
    assert found.frame["score"].to_list() == [1, 2]
    assert found.notes == (f"{path}: 1 of 3 rows are left out: their score is blank",)
    frame = pl.DataFrame(
        [judgment(), judgment(item=2, score=math.nan), judgment(item=3, score=None)]
    )
    assert len(read_judgments(frame)) == 1


def test_percent_signs_are_read_where_every_score_has_one(tmp_path):
    path = csv(tmp_path, HEADER, "1,a,r,p,85%", "2,a,r,p,7.5 %")
    assert read_judgments(path).frame["score"].to_list() == [85, 7.5]
    path = csv(tmp_path, HEADER, "1,a,r,p,85%", "2,a,r,p,0.85")
    with pytest.raises(InvalidDataError, match=r"line 3, column score: .* got '0\.85'"):
        read_judgments(path)


def test_a_table_without_a_header_is_told_so(tmp_path):
    path = csv(tmp_path, "1,a,r,p,5", "2,a,r,p,4")
    with pytest.raises(InvalidDataError, match="line 1: expected the names of the columns"):
        read_judgments(path)


def test_a_pickle_is_refused_by_name(tmp_path):
    path = tmp_path / "j.csv"
    path.write_bytes(b"\x80\x04\x95abc")
    with pytest.raises(InvalidDataError, match="a Python pickle, which can run any program"):
        read_judgments(path)


def test_objects_inside_records_and_records_inside_objects_are_read(tmp_path):
    path = tmp_path / "j.json"
    rows = [{"id": {"doc": n}, "system": "a", "human": {"score": n}} for n in range(3)]
    path.write_text(json.dumps({"meta": {"by": "us"}, "data": {"rows": rows}}))
    found = read_judgments(path, columns={"item": "id.doc", "score": "human.score"})
    assert found.frame.select("item", "score").rows() == [("0", 0.0), ("1", 1.0), ("2", 2.0)]


def test_rows_that_are_the_same_in_every_column_are_counted_where_raters_are_unknown(tmp_path):
    path = csv(tmp_path, "item,system,score", "1,a,2", "1,a,2", "1,a,3", "2,a,2")
    found = read_judgments(path)
    assert len(found) == 4
    assert "1 of 4 judgments are the same as an earlier row in every column (first: line 3)" in str(
        found.notes
    )


def test_rows_with_fewer_cells_than_the_header_are_counted(tmp_path):
    path = csv(tmp_path, HEADER, "1,a,r,p,3", "2,a,r", "3,a,r,p,4", "4,a")
    with pytest.raises(InvalidDataError, match="line 3, column prompt"):
        read_judgments(path)
    found = read_judgments(csv(tmp_path, HEADER, "1,a,r,p,3", "2,a,r,p", "3,a,r,p,4"))
    assert "1 row has fewer cells than the header (first: line 3)" in found.notes[0]
    assert "1 of 3 rows are left out: their score is blank" in found.notes[1]
    several = csv(tmp_path, HEADER + ",note", '1,a,r,p,3,"two\nlines"', "2,a,r,p,4,")
    assert read_judgments(several).notes == ()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (["85%", "0.5"], "got '0.5': other cells have a percent sign: write all alike"),
        (["3.5", '"1,234"'], "got '1,234': other cells have a point before decimals"),
        (["1", "1e400"], "expected a finite number, got '1e400'$"),
        (["3", "٤"], "words are scores, say what each is worth: .*--scale ٤=[?]|'٤=[?]'"),
    ],
)
def test_a_score_that_is_written_unlike_the_others_is_refused(tmp_path, scores, message):
    rows = [f"{number},a,r,p,{score}" for number, score in enumerate(scores)]
    path = csv(tmp_path, HEADER, *rows)
    with pytest.raises(InvalidDataError, match=message):
        read_judgments(path)
    assert any(one.stops for one in profile_file(path).problems)


def test_nan_is_a_blank_score_for_the_profile_too(tmp_path):
    path = csv(tmp_path, HEADER, "1,a,r,p,NaN", "2,a,r,p,3")
    (problem,) = profile_file(path).problems
    assert "no score" in problem.what
    assert not problem.stops
    assert len(read_judgments(path)) == 1


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_an_index_that_pandas_wrote_is_no_metric(tmp_path, name):
    rows = [f"{number},i{number},a,{number / 7}" for number in range(9)]
    found = read_outputs(csv(tmp_path, f"{name},item,system,bleu", *rows))
    assert found.metrics == ("bleu",)
    assert "is not used as a metric" in found.notes[0]
