import json

import pytest

from steelyard.errors import InvalidDataError
from steelyard.foreign import Options, converted
from steelyard.tables import read_judgments, write_table

ROWS = (
    "item,model,Annotator,prompt,score,probability\n"
    "007,A,ann,tone,Good,0.5\n007,A,bob,tone,bad,0.5\n008,A,ann,tone,,0.5\n008,B,ann,sense,4/5,0.5\n"
)


def judgments(tmp_path, **options):
    path = tmp_path / "j.csv"
    path.write_text(ROWS)
    chosen, (found,) = converted([path], options=Options(**options))
    assert chosen.name == "judgments"
    return found


def test_words_become_numbers_and_all_other_columns_stay(tmp_path):
    found = judgments(tmp_path, scale={"good": 1, "bad": 0, "4/5": 0.8})
    first = ("007", "A", "ann", "tone", 1.0, 0.5)
    assert found.judgments.row(0) == first
    write_table(found.judgments, tmp_path / "judgments.jsonl")
    assert read_judgments(tmp_path / "judgments.jsonl").frame.height == 3
    assert found.judgments["score"].to_list() == [1, 0, 0.8]
    assert found.outputs.is_empty()
    assert "`Annotator` is taken for `rater`" in found.remarks
    assert "left out: 1 judgments without a score" in found.remarks


def test_words_without_a_number_are_asked_for(tmp_path):
    with pytest.raises(InvalidDataError, match='--scale "bad=\\?,4/5=\\?"') as caught:
        judgments(tmp_path, scale={"good": 1})
    assert caught.value.options == ("--scale", "bad=?,4/5=?")


def test_prompts_and_raters_are_chosen_as_in_other_formats(tmp_path):
    scale = {"good": 1, "bad": 0}
    found = judgments(tmp_path, scale=scale, only={"prompt": "tone"}, raters=frozenset({"bob"}))
    assert found.judgments["rater"].to_list() == ["bob"]


@pytest.mark.parametrize("score", [4, "4", "3,5", None])
def test_numbers_are_no_words(tmp_path, score):
    path = tmp_path / "j.jsonl"
    path.write_text(json.dumps({"item": "1", "system": "a", "rater": "r", "score": score}) + "\n")
    with pytest.raises(InvalidDataError, match="may need no conversion"):
        converted([path])
