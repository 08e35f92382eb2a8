import copy

import numpy as np
import polars as pl
import pytest
from steelyard.estimate import Estimate

from steelyard.errors import SteelyardError, UnknownNameError
from steelyard.questions.estimates import Estimates
from steelyard.results import Results


def named(system, prompt="overall", scores=(1, 2, 3), baseline=None):
    mean, error = float(np.mean(scores)), float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
    return Estimate(
        system=system,
        prompt=prompt,
        estimate=mean,
        standard_error=error,
        low=mean - 2 * error,
        high=mean + 2 * error,
        level=0.95,
        target="pool",
        raters="fixed",
        method="mean",
        n_outputs=len(scores),
        n_raters=None,
        n_judgments=len(scores),
        pool_size=None,
        degrees_of_freedom=len(scores) - 1,
        baseline=baseline,
    )


@pytest.fixture
def found():
    return Estimates([named("a"), named("b", scores=(2, 4, 6))], {("overall", "c"): "too few"})


@pytest.fixture
def two_prompts():
    return Results([named("a", "fluency"), named("a", "overall"), named("b", "overall")])


def test_a_system_is_an_index(found):
    assert found["b"] is found[1]
    assert found["b", "overall"] is found[1]
    assert found[-1] is found[1]


def test_a_slice_is_a_collection_of_the_same_kind(found):
    part = found[1:]
    assert isinstance(part, Estimates)
    assert part["b"].estimate == 4


def test_an_unknown_system_names_those_that_are_there(found):
    with pytest.raises(UnknownNameError, match=r"^no result has system 'z'; there are: a; b$"):
        found["z"]
    with pytest.raises(KeyError):
        found["z"]
    with pytest.raises(SteelyardError):
        found["a", "fluency"]


def test_a_system_under_several_prompts_needs_the_prompt(two_prompts):
    with pytest.raises(UnknownNameError, match=r"2 results have system 'a': name the prompt too"):
        two_prompts["a"]
    assert two_prompts["a", "fluency"].prompt == "fluency"
    assert two_prompts["b"].prompt == "overall"


def test_results_of_one_name_are_told_apart_by_position():
    with pytest.raises(UnknownNameError, match="choose among them by position"):
        Results([named("a"), named("a")])["a", "overall"]


def test_prints_as_a_plain_table(found):
    lines = str(found).splitlines()
    assert lines[0].split()[:3] == ["system", "prompt", "estimate"]
    assert lines[2].split()[:3] == ["b", "overall", "4.000"]
    assert repr(found) == "<Estimates of 2: systems a, b; prompt overall>"


def test_an_empty_collection_prints_and_has_an_empty_frame():
    assert str(Results([])) == ""
    assert Results([]).to_frame().is_empty()


def test_text_is_escaped_in_a_notebook():
    page = Results([named("<b>&x")], columns=["system"])._repr_html_()
    assert "&lt;b&gt;&amp;x" in page
    assert "<b>" not in page


def test_nested_values_become_columns_joined_by_dots():
    plain = named("a")
    frame = Estimates([named("a", baseline=plain), named("b")]).to_frame()
    assert frame["baseline.estimate"].to_list() == [2.0, None]
    assert "baseline" not in frame.columns
    assert frame["system"].to_list() == ["a", "b"]
    assert frame.schema["notes"].is_nested()


def test_the_dictionaries_are_the_documented_ones(found):
    assert found.to_dict() == [one.to_dict() for one in found]


def test_a_collection_survives_copying(found):
    again = copy.deepcopy(found)
    assert again["a"] == found["a"]
    assert again.left_out == found.left_out
    assert str(again) == str(found)


def test_frames_are_of_polars(found):
    assert isinstance(found.to_frame(), pl.DataFrame)
