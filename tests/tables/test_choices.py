"""What is chosen while files are read: columns, systems, prompts, and what fills gaps."""

import polars as pl
import pytest

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.study import Study
from steelyard.tables import read_judgments, read_outputs
from steelyard.tables.column_names import for_role, lookalike

POOL = [
    {"item": str(item), "system": system, "output": "x", "g": item + 0.5, "h": 1.0}
    for system in "ab"
    for item in range(4)
]
JUDGED = [{"item": "1", "system": s, "rater": "r", "prompt": "p", "score": 1} for s in "ab"]


def test_a_mapping_may_be_for_one_file_only():
    pool = pl.DataFrame(POOL).rename({"item": "id"})
    judged = pl.DataFrame(JUDGED).with_columns(id=pl.lit("row 7"))
    with pytest.raises(InvalidDataError, match=r"--column outputs:item=id"):
        Study.read(pool, judged, columns={"item": "id"})
    study = Study.read(pool, judged, columns={"outputs:item": "id"})
    assert study.outputs.systems == ("a", "b")
    assert study.judgments.frame["id"].to_list() == ["row 7", "row 7"]
    with pytest.raises(
        InvalidArgumentError, match="column 'no' is mapped to 'items' but not found in outp"
    ):
        Study.read(pool, judged, columns={"outputs:item": "id", "outputs:items": "no"})


def test_a_mapping_for_one_file_goes_before_that_for_both():
    assert for_role({"item": "doc", "outputs:item": "id"}, "outputs") == {"item": "id"}
    assert for_role({"item": "doc", "outputs:item": "id"}, "judgments") == {"item": "doc"}
    # one column is not used twice
    assert for_role({"item": "doc", "outputs:input": "doc"}, "outputs") == {"input": "doc"}


def test_columns_that_look_like_ours_are_suggested_together():
    frame = pl.DataFrame({"Item": ["1"], "model": ["a"], "Rating ": [1]})
    match = r"`Item` looks like `item`; `model` looks like `system`; `Rating ` looks like `score`"
    with pytest.raises(InvalidDataError, match=match) as caught:
        read_judgments(frame)
    assert caught.value.options == (
        *("--column", "item=Item", "--column", "system=model", "--column", "score=Rating "),
    )


@pytest.mark.parametrize(
    ("column", "there", "expected"),
    [
        ("item", ["ITEM"], "ITEM"),
        ("item", ["doc-id", "Item_ID"], "Item_ID"),
        ("score", ["scores"], "scores"),
        ("score", ["text"], None),
    ],
)
def test_names_are_compared_without_letters_case_and_spaces(column, there, expected):
    assert lookalike(column, there) == expected


def test_rater_and_prompt_may_be_missing():
    judged = pl.DataFrame([*JUDGED, *JUDGED]).drop("rater", "prompt")
    found = read_judgments(judged)
    assert found.frame.select("rater", "prompt").unique().rows() == [("unknown", "overall")]
    # two judgments of one output by raters that nobody knows are two judgments
    assert len(found) == 4
    assert [note.split("`")[1] for note in found.notes[:2]] == ["rater", "prompt"]
    assert "2 of 4 judgments are the same as an earlier row" in found.notes[2]


@pytest.mark.parametrize(("column", "name"), [("rater", "Annotator ID"), ("prompt", "Prompt")])
def test_a_column_that_looks_like_the_rater_or_prompt_is_not_passed_over(column, name):
    judged = pl.DataFrame(JUDGED).rename({column: name})
    with pytest.raises(InvalidDataError, match=rf"`{name}` looks like `{column}`"):
        read_judgments(judged)


def test_unknown_raters_count_as_none():
    judged = [{"item": str(item), "system": "a", "score": item % 2} for item in range(4)]
    found = Study.read(POOL[:4], judged, bounds=(0, 1)).estimate([])
    assert found[0].n_raters is None
    assert any("raters are not known" in note for note in found.notes)


def test_trouble_under_other_prompts_does_not_matter():
    judged = [*JUDGED, {**JUDGED[0], "prompt": "q", "score": "bad"}, {**JUDGED[0], "prompt": "q"}]
    with pytest.raises(InvalidDataError, match="'bad'"):
        read_judgments(judged)
    assert len(read_judgments(judged, prompts=["p"])) == 2
    # a row that does not say its prompt is not passed over
    with pytest.raises(InvalidDataError, match="column prompt"):
        read_judgments([*judged, {**JUDGED[0], "prompt": None}], prompts=["p"])


def test_trouble_of_excluded_systems_does_not_matter():
    pool = [*POOL, POOL[-1]]
    judged = [*JUDGED, {**JUDGED[1], "item": "99"}]
    with pytest.raises(InvalidDataError, match="there already"):
        Study.read(pool, judged)
    study = Study.read(pool, judged, exclude_systems=["b"])
    assert (study.outputs.systems, study.systems) == (("a",), ("a",))
    with pytest.raises(InvalidArgumentError, match=r"must name systems of .*: a, b; got 'z'"):
        Study.read(POOL, JUDGED, exclude_systems="z")
    # also one that has judgments and no outputs
    assert Study.read(POOL[:4], judged, exclude_systems=["b"]).systems == ("a",)
    with pytest.raises(InvalidArgumentError, match="leaves nothing"):
        read_outputs(pool, exclude_systems=["a", "b"])


def test_systems_that_are_not_asked_about_lend_unless_they_are_in_trouble():
    assert Study.read(POOL, JUDGED, systems=["a"]).systems == ("a", "b")
    study = Study.read([*POOL, POOL[-1]], JUDGED, systems=["a"])
    assert study.systems == ("a",)
    assert "read are only a, without help of other systems: outputs, row 9" in study.notes[0]
    with pytest.raises(InvalidDataError, match="there already"):
        Study.read([*POOL, POOL[-1]], JUDGED, systems=["b"])


GAPS = [{**row, "g": None} if row["item"] == "3" else row for row in POOL]


def test_every_problem_of_a_kind_is_counted():
    judged = [{**JUDGED[0], "item": str(n), "score": "x" if n % 3 else 1} for n in range(12)]
    match = r"row 2, .* got 'x' \(the same in 7 more of 12 rows: row 3, row 5, row 6, \.\.\.\)"
    with pytest.raises(InvalidDataError, match=match):
        read_judgments(judged)
    with pytest.raises(
        InvalidDataError, match=r"on row 1 \(4 judgments repeat another\): if the rater"
    ):
        read_judgments([*JUDGED, *JUDGED, *JUDGED])
    with pytest.raises(InvalidDataError, match=r"\(8 outputs are there more than once\): keep"):
        read_outputs([*POOL, *POOL])
    with pytest.raises(
        InvalidDataError, match=r"a gap in metric g on 2 of 8 outputs\): score them"
    ):
        read_outputs(GAPS).pool_moments(["g"])


def test_a_column_that_counts_the_rows_is_no_metric_unless_it_is_named():
    frame = pl.DataFrame(
        {"item": range(250), "system": "a", "g": [1.5, 2.5] * 125, "at": range(250)}
    )
    found = read_outputs(frame)
    assert found.metrics == ("g",)
    assert found.notes == (
        "column at is not used as a metric: it counts the rows (--metric at uses it)",
    )
    assert read_outputs(frame, metrics=["at"]).metrics == ("at",)
    assert read_outputs(frame.head(100)).metrics == ("g", "at")


def test_a_refusal_names_the_conversion_with_all_that_was_said(tmp_path):
    path = tmp_path / "a b.csv"
    path.write_text("id,system,who,score\n1,a,r,1\n1,a,r,2\n")
    command = "steelyard convert --from own '.*a b.csv' --column item=id --column rater=who --on-duplicate all"
    with pytest.raises(InvalidDataError, match=command):
        read_judgments(path, columns={"item": "id", "rater": "who"})
