import pytest

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.foreign import Options, converted
from steelyard.foreign.wide import WidePattern

WORDS = {"bad": 0.0, "ok": 0.5, "good": 1.0}


def sheet(tmp_path, content, name="ratings.csv"):
    path = tmp_path / name
    path.write_text(content)
    return path


def test_columns_name_rater_and_system_and_words_have_a_scale(convert):
    found = convert(
        "wide/per_rater_and_system.csv",
        wide=("{rater}_{system}",),
        scale=WORDS,
        columns={"item": "doc", "input": "source"},
    )
    assert found.format == "wide"
    assert found.scores == {
        ("d1", "alpha", "ann", "score"): 1.0,
        ("d1", "beta", "ann", "score"): 0.0,
        ("d1", "alpha", "bob", "score"): 0.5,
        ("d2", "alpha", "ann", "score"): 0.5,
        ("d2", "beta", "ann", "score"): 0.0,
        ("d2", "beta", "bob", "score"): 1.0,
    }
    assert found.outputs["d2", "beta"] == {
        "item": "d2",
        "system": "beta",
        "output": "2",
        "input": "Two.",
    }
    assert "left out: 2 judgments without a score" in found.remarks


def test_a_row_per_output_keeps_its_metrics_and_names_stay_names(convert):
    found = convert("wide/per_rater.csv", wide=("{rater:ann|bob}",))
    assert found.scores["d2", "alpha", "ann", "score"] == 3.5
    assert ("d1", "beta", "bob", "score") not in found.scores
    assert found.outputs["d1", "alpha"]["bleu"] == 0.5
    assert found.outputs["d1", "alpha"]["year"] == "07"


def test_metrics_can_be_wide_too_and_the_file_names_the_rater(convert):
    found = convert("wide/per_system.tsv", wide=("{system}_score", "{system}_{metric:bleu}"))
    assert found.scores["d2", "B", "per_system", "score"] == 2.0
    assert found.outputs["d2", "B"]["bleu"] == 0.2
    assert "the rater is 'per_system'" in found.remarks


def test_texts_may_stand_in_columns_with_another_ending(convert, tmp_path):
    path = sheet(tmp_path, "item,A_text,A_fluency_ann\n1,x,3\n")
    pattern = "{system}_{prompt}_{rater}"
    found = convert(path, wide=(pattern,), columns={"output": "{system}_text"})
    assert found.outputs["1", "A"]["output"] == "x"
    assert found.scores == {("1", "A", "ann", "fluency"): 3.0}


def test_a_name_that_can_be_read_in_two_ways_is_refused():
    pattern = WidePattern("{rater}_{system}")
    with pytest.raises(InvalidArgumentError, match=r"reads column `ann_big_model` as .* or as"):
        pattern.match("ann_big_model")
    listed = WidePattern("{rater:ann|bob}_{system}")
    assert listed.match("ann_big_model") == {"rater": "ann", "system": "big_model"}


@pytest.mark.parametrize(
    "pattern", ["rater_system", "{rater}_{rater}", "{who}_{system}", "{rater}_{metric}"]
)
def test_a_pattern_must_say_something_once(pattern):
    with pytest.raises(InvalidArgumentError, match="`--wide` must hold"):
        WidePattern(pattern)


@pytest.mark.parametrize("cell", ["3-4", "4/5", "2026-03-04"])
def test_digits_that_are_no_number_are_refused_by_their_cell(convert, tmp_path, cell):
    path = sheet(tmp_path, f"item,ann\n1,4\n2,{cell}\n3,{cell}\n")
    with pytest.raises(InvalidDataError, match=r"line 3, column `ann`: .*\(2 such cells\)"):
        convert(path, wide=("{rater}",), system="s")


def test_words_without_a_scale_are_listed(convert, tmp_path):
    path = sheet(tmp_path, "item,ann\n1,good\n2,Bad\n3,GOOD\n")
    with pytest.raises(InvalidDataError, match=r"3 scores under 'score' .*'good', 'Bad'.*--scale"):
        convert(path, wide=("{rater}",), system="s")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"wide": ("{rater}_{system}",)}, "no column `item`; the columns are `doc`, `source`"),
        (
            {"wide": ("{rater}x{system}",), "columns": {"item": "doc"}},
            "no column is called as `--wide` '{rater}x{system}' says",
        ),
    ],
)
def test_columns_that_are_not_there_are_named(convert, options, says):
    with pytest.raises(InvalidDataError) as refusal:
        convert("wide/per_rater_and_system.csv", scale=WORDS, **options)
    assert says in str(refusal.value)


def test_a_wide_table_needs_its_pattern(convert):
    with pytest.raises(InvalidArgumentError, match="needs `--wide` PATTERN"):
        convert("wide/per_rater.csv", source="wide")


def test_the_same_item_twice_is_refused_or_resolved(convert, tmp_path):
    path = sheet(tmp_path, "item,ann\n1,4\n1,5\n")
    options = {"wide": ("{rater}",), "system": "s"}
    with pytest.raises(InvalidDataError, match=r"outputs are there already.*--on-duplicate first"):
        convert(path, **options)
    assert convert(path, on_duplicate="last", **options).scores == {("1", "s", "ann", "score"): 5.0}
    kept = convert(path, on_duplicate="first", **options)
    assert kept.scores == {("1", "s", "ann", "score"): 4.0}
    assert "1 of 2 judgments repeat another of the same rater: the first of each is kept" in (
        kept.remarks
    )
    assert "left out: 1 outputs that were there already: the first one was kept" in kept.remarks


def test_semicolons_and_decimal_commas_are_read_and_said(convert, tmp_path):
    options = {"wide": ("{rater}",), "system": "s"}
    found = convert(sheet(tmp_path, "item;ann\n1;4\n2;3.5\n"), **options)
    assert list(found.scores.values()) == [4.0, 3.5]
    assert "the columns are separated by semicolons" in found.remarks
    found = convert(sheet(tmp_path, "item;ann\n1;4,5\n2;3\n"), **options)
    assert list(found.scores.values()) == [4.5, 3.0]
    assert "commas stand before the decimals of numbers" in found.remarks
    doubtful = sheet(tmp_path, "item;ann\n1;4,500\n")
    with pytest.raises(InvalidDataError, match=r"line 2, .* got '4,500'"):
        convert(doubtful, **options)
    assert list(convert(doubtful, decimal=",", **options).scores.values()) == [4.5]


def test_a_column_that_looks_like_the_item_is_named(tmp_path):
    path = sheet(tmp_path, "Doc ID,ann,bob\n1,2,3\n")
    with pytest.raises(InvalidDataError, match="--column 'item=Doc ID'"):
        converted([path], "wide", Options(wide=("{rater:ann|bob}",)))


def test_a_score_in_the_column_of_a_system_is_not_its_text(convert, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("item,input,base,new\n1,x,3.0,3.0\n2,y,4,5\n")
    found = convert(path, source="wide", wide=("{system:base|new}",))
    assert found.scores["1", "base", "scores", "score"] == 3.0
    assert len(found.scores) == 4
    assert not any(row.get("output") for row in found.outputs.values())
