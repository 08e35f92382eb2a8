import polars as pl
import pytest

from steelyard.errors import UnknownNameError
from steelyard.questions.about import About
from steelyard.questions.comparison import Comparison
from steelyard.questions.comparisons import Comparisons
from steelyard.questions.pairs import PairDifference


def comparison(prompt="overall", part=None, notes=()):
    pair = PairDifference(
        a="x",
        b="y",
        difference=0.5,
        standard_error=0.1,
        low=0.3,
        high=0.7,
        simultaneous_low=0.2,
        simultaneous_high=0.8,
        p_value=0.01,
        verdict="a",
        n_items=9,
        identical_items=0,
        n_judgments=18,
        more_judgments=0,
    )
    return Comparison(
        prompt=prompt,
        level=0.95,
        about=About.of("pool", "fixed"),
        margin=None,
        pairs=(pair,),
        ranks=(),
        groups=(("x",), ("y",)),
        notes=notes,
        slice=part,
    )


@pytest.fixture
def found():
    return Comparisons([comparison("fluency", notes=("n",)), comparison(notes=("n", "m"))])


def test_a_prompt_is_an_index_and_it_is_still_a_list(found):
    assert found["overall"] is found[1]
    assert [one.prompt for one in found] == ["fluency", "overall"]
    assert isinstance(found[:1], Comparisons)
    [one] = found[1:]
    assert one is found[1]


def test_an_unknown_prompt_names_those_that_are_there(found):
    with pytest.raises(
        UnknownNameError, match="no comparison has prompt 'z'; there are: fluency; overall"
    ):
        found["z"]


def test_slices_of_a_prompt_are_told_apart_by_name():
    found = Comparisons([comparison(part="topic=a"), comparison(part="topic=b")])
    assert found["overall", "topic=b"] is found[1]
    with pytest.raises(
        UnknownNameError, match=r"name the slice too, such as \['overall', 'topic=a'\]"
    ):
        found["overall"]
    with pytest.raises(UnknownNameError, match="there are: overall, topic=a; overall, topic=b"):
        found["overall", "topic=c"]
    assert str(found).splitlines()[0].split()[:2] == ["prompt", "slice"]


def test_the_frame_has_a_row_for_each_pair(found):
    frame = found.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.select("prompt", "a", "b", "difference").rows() == [
        ("fluency", "x", "y", 0.5),
        ("overall", "x", "y", 0.5),
    ]


def test_the_dictionaries_are_the_documented_ones(found):
    assert found.to_dict() == [one.to_dict() for one in found]


def test_a_notebook_shows_the_answer_and_each_note_once(found):
    page = found._repr_html_()
    assert "prompt overall: x is better than y" in page
    assert page.count("<small>n</small>") == 1
    assert found.notes == ("n", "m")


def test_it_prints_as_a_table_and_is_named_in_one_line(found):
    assert str(found).splitlines()[1].split() == [
        *("fluency", "x", "y", "0.500", "0.300", "0.700", "0.200", "0.800", "0.010", "a"),
    ]
    assert repr(found) == "<Comparisons of 2: prompts fluency, overall; systems x, y>"
