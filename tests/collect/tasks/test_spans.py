"""Errors with categories, missing content and suggestions: what is valid, and what it scores."""

import pytest

from steelyard.collect.tasks import (
    check_answer,
    check_content,
    derive_scores,
    load_task,
    score_bounds,
)
from steelyard.collect.tasks.spans import read_suggestions
from steelyard.errors import InvalidDataError

TASK = """\
name: marks
title: Marks
show: [{field: output, label: Text}]
widgets:
  - id: errors
    kind: spans
    field: output
    label: Mark the errors.
    severities: [{value: minor, weight: 1}, {value: major, weight: 5}]
    categories: [grammar, {value: comma, weights: {minor: 0.1}}, {value: nonsense, weights: {major: 25}}]
    missing: true
    suggested: found
    most: 4
scores:
  - {prompt: MQM, rule: mqm, from: errors}
  - {prompt: points, rule: weights, from: errors}
"""
CONTENT = {"output": "Two hiker was lost.", "found": [{"start": 0, "end": 3, "severity": "major"}]}


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    path = tmp_path_factory.mktemp("spans") / "task.yaml"
    path.write_text(TASK)
    return load_task(path)


def error(**keys):
    return {"start": 4, "end": 9, "severity": "minor", "category": "grammar"} | keys


def gap(**keys):
    return {"missing": True, "severity": "major", "category": "grammar"} | keys


@pytest.mark.parametrize(
    ("errors", "points"),
    [
        ([], 0),
        ([error()], 1),
        ([error(category="comma")], 0.1),
        ([error(category="comma", severity="major")], 5),
        ([error(category="nonsense", severity="major"), gap()], 30),
        ([gap(), gap(severity="minor")], 6),
        ([error(suggested=0)], 1),
    ],
)
def test_the_score_is_minus_the_sum_of_weights(task, errors, points):
    answer = {"errors": errors}
    assert check_answer(task, CONTENT, answer) == []
    found = derive_scores(task, CONTENT, answer)
    assert found == pytest.approx({"MQM": -points, "points": points})
    assert str(found["MQM"]) != "-0.0"


def test_the_heaviest_category_bounds_the_score(task):
    assert score_bounds(task) == {"MQM": (-100, 0), "points": (0, 100)}


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        (None, "An answer is needed."),
        ([error(category=None)], "Error 1: choose a category."),
        ([error(category="style")], "Error 1: choose a category."),
        ([gap(start=1, end=2)], "Error 1: mark a stretch of the text."),
        ([gap(missing="yes")], "Error 1: mark a stretch of the text."),
        ([error(unsettled=True)], "Error 1: mark a stretch of the text."),
        ([error(suggested=1)], "Error 1: there is no such suggestion."),
        ([error(suggested=True)], "Error 1: there is no such suggestion."),
        ([error(suggested=0), gap(suggested=0)], "A suggestion can be kept once."),
        ([error(), error(start=6, end=12)], "Errors must not overlap."),
        ([gap()] * 5, "Mark at most 4 errors."),
    ],
)
def test_what_is_wrong_with_an_answer_is_said(task, errors, message):
    answer = {} if errors is None else {"errors": errors}
    assert [problem.message for problem in check_answer(task, CONTENT, answer)] == [message]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ("x", "`found` must be a list of errors"),
        ([{"start": 0, "end": 99}], "error 1: must have a start and an end in the 19 characters"),
        ([{"start": 0, "end": 3, "severity": "grave"}], "error 1: severity 'grave' is not known"),
        ([{"start": 0, "end": 3, "kind": "x"}], "error 1: 'kind' is not a key here"),
        ([{"start": 0, "end": 3}, {"start": 2, "end": 5}], "has errors that overlap"),
        ([{"missing": True}] * 5, "has 5 errors, and errors takes at most 4"),
    ],
)
def test_what_is_wrong_with_suggestions_is_said(task, found, message):
    assert message in check_content(task, CONTENT | {"found": found})


def test_suggestions_may_be_none_or_json_in_a_cell(task):
    for value in (
        None,
        "",
        [],
        '[{"start": 0, "end": 3, "severity": null}]',
        '[{"missing": true}]',
    ):
        assert check_content(task, CONTENT | {"found": value}) is None
    assert read_suggestions('[{"start": 0, "end": 3, "severity": null}]') == [
        {"start": 0, "end": 3}
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("weights: {minor: 0.1}", "weights: {tiny: 0.1}", "is no severity"),
        ("categories: [grammar,", "categories: [comma,", "'comma' is there twice"),
        ("suggested: found", "suggested: output", "output has another use"),
    ],
)
def test_mistakes_are_named(tmp_path, old, new, message):
    (tmp_path / "task.yaml").write_text(TASK.replace(old, new))
    with pytest.raises(InvalidDataError, match=message):
        load_task(tmp_path / "task.yaml")
