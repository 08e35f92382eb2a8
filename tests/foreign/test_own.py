import pytest

from steelyard.errors import InvalidDataError
from steelyard.foreign import Options, converted
from steelyard.tables import read_judgments, write_table

ROWS = (
    "item,model,Annotator,prompt,score,probability\n"
    "007,A,ann,tone,Good,0.5\n007,A,bob,tone,bad,0.5\n008,A,ann,tone,,0.5\n008,B,ann,sense,4/5,0.5\n"
)
OUTPUTS = "item,system,output,bleu\n1,a,x,0.5\n2,a,y,\n1,b,z,0.25\n2,b,w,1\n"


@pytest.fixture
def own(tmp_path):
    """Write tables, and convert them with options; return the conversion."""

    def call(*contents, **options):
        paths = []
        for number, content in enumerate(contents):
            paths.append(tmp_path / f"{number}.csv")
            paths[-1].write_text(content)
        chosen, (found,) = converted(paths, options=Options(**options))
        assert chosen.name == "own"
        return found

    return call


def test_words_become_numbers_and_all_other_columns_stay(own, tmp_path):
    found = own(ROWS, scale={"good": 1, "bad": 0, "4/5": 0.8})
    first = {"item": "007", "system": "A", "rater": "ann", "prompt": "tone", "score": 1.0}
    assert found.judgments.row(0, named=True) == first | {"probability": 0.5}
    write_table(found.judgments, tmp_path / "judgments.jsonl")
    assert read_judgments(tmp_path / "judgments.jsonl").frame.height == 3
    assert found.judgments["score"].to_list() == [1, 0, 0.8]
    assert found.outputs.is_empty()
    assert "`Annotator` is taken for `rater`" in found.remarks
    assert any("1 of 4 rows are left out: their score is blank" in one for one in found.remarks)


def test_words_without_a_number_are_asked_for(own):
    with pytest.raises(InvalidDataError, match=r"--scale 'bad=\?,4/5=\?'") as caught:
        own(ROWS, scale={"good": 1})
    assert caught.value.options == ("--scale", "bad=?,4/5=?")


def test_prompts_and_raters_are_chosen_as_in_other_formats(own):
    scale = {"good": 1, "bad": 0, "4/5": 1}
    found = own(ROWS, scale=scale, only={"prompt": "tone"}, raters=frozenset({"bob"}))
    assert found.judgments["rater"].to_list() == ["bob"]


def test_marks_are_as_they_are_said(own):
    text = "item^system^score\n1^a^1,500\n2^a^2,250\n"
    found = own(text, separator="^", decimal=",")
    assert found.judgments["score"].to_list() == [1.5, 2.25]


@pytest.mark.parametrize(
    ("how", "scores"), [("first", [1, 2]), ("last", [3, 2]), ("mean", [2, 2]), ("all", [1, 3, 2])]
)
def test_repeated_judgments_are_settled_with_a_count_and_can_be_read_back(own, how, scores):
    text = "item,system,rater,score\n1,a,crowd,1\n1,a,crowd,3\n2,a,crowd,2\n"
    found = own(text, on_duplicate=how)
    assert found.judgments["score"].to_list() == scores
    assert any("1 of 3 judgments repeat another" in one for one in found.remarks)
    assert read_judgments(found.judgments).frame["score"].to_list() == scores


def test_outputs_and_judgments_and_one_table_come_apart(own):
    found = own(OUTPUTS, "item,system,score\n1,a,3\n")
    assert (found.outputs.height, found.judgments.height) == (4, 1)
    table = own(
        "item,system,output,bleu,gold\n1,a,x,1,good\n2,a,y,2,\n3,a,z,3,bad\n",
        columns={"score": "gold"},
        scale={"good": 1, "bad": 0},
    )
    assert table.outputs.columns == ["item", "system", "output", "bleu"]
    assert table.judgments["score"].to_list() == [1.0, 0.0]


def test_a_second_file_of_one_kind_is_refused(own):
    with pytest.raises(InvalidDataError, match=r"1\.csv: a second file of outputs"):
        own(OUTPUTS, OUTPUTS)
