"""How the texts of an item are laid out for raters and managers."""

import pytest

from steelyard.collect.tasks.task import Shown, Task
from steelyard.collect.web.presentation import detected, presented, public_content

WIDGET = {"id": "good", "kind": "slider", "label": "Good?"}
SCORE = {"prompt": "good", "rule": "value", "from": "good"}


def task(*show, **keys):
    made = {"name": "t", "title": "T", "show": list(show), "widgets": [WIDGET], "scores": [SCORE]}
    return Task.model_validate(made | keys)


def dialogue(text):
    (made,) = presented(task({"field": "talk", "format": "dialogue"}), None, {"talk": text})["talk"]
    return [
        (turn[2][2] if turn[2][0] == "strong" else None, "shaded" in turn[1]["class"])
        for turn in made[2:]
    ]


def test_fields_that_look_like_markdown_are_laid_out_so():
    contents = [{"input": "Why?", "output": f"1. one\n2. two {n}"} for n in range(9)]
    found, fields = detected(task({"field": "input"}, {"field": "output"}), contents)
    assert fields == ("output",)
    assert [one.format for one in found.show] == ["text", "markdown"]
    (list_,) = presented(found, None, contents[0])["output"]
    assert list_[0] == "ol"


@pytest.mark.parametrize("format_", ["text", "code"])
def test_a_declared_format_stays(format_):
    asked = task({"field": "output", "format": format_})
    assert detected(asked, [{"output": "# A\n\n**b**"}]) == (asked, ())


def test_both_sides_of_a_pair_are_laid_out_alike():
    asked = task(
        {"field": "first"},
        {"field": "second"},
        pair=True,
        widgets=[{"id": "better", "kind": "preference", "label": "Better?"}],
        scores=[{"prompt": "better", "rule": "preference", "from": "better"}],
    )
    found, fields = detected(asked, [{"first": "**very** good", "second": "plain"}])
    assert fields == ("first", "second")
    assert {one.format for one in found.show} == {"markdown"}


def test_only_the_first_texts_of_the_queue_decide():
    contents = [{"output": "plain"}] * 500 + [{"output": "# A"}] * 500
    assert detected(task({"field": "output"}), contents)[1] == ()


def test_steps_and_notes_are_no_speakers():
    text = "User: How?\nAssistant: So.\nStep 1: wash\nNote: warm\nUser: Thanks."
    assert dialogue(text) == [("User", False), ("Assistant", True), ("User", False)]


def test_people_without_roles_are_speakers_and_headings_are_none():
    text = "Ann: Hello.\nSummary: none\nBob Smith: Yes."
    assert dialogue(text) == [("Ann", False), ("Bob Smith", True)]


def test_a_text_without_speakers_is_one_turn():
    assert dialogue("Step 1: a\nStep 2: b") == [(None, False)]


def test_turns_are_laid_out_as_markdown():
    asked = task({"field": "talk", "format": "dialogue"})
    (made,) = presented(asked, None, {"talk": ["A: 1. x\n2. y"]})["talk"]
    assert made[2][3] == [
        "ol",
        {},
        ["li", {"dir": "auto"}, "x"],
        ["li", {"dir": "auto"}, "y"],
    ]


def test_rows_of_a_table_are_between_tabs_or_commas():
    asked = task({"field": "data", "format": "table"})
    for text in ('a,b\n"x, ""y""",2\n', 'a\tb\nx, "y"\t2'):
        (made,) = presented(asked, None, {"data": text})["data"]
        rows = made[2][3][2:]
        assert [[cell[2] for cell in row[2:]] for row in rows] == [['x, "y"', "2"]]


def test_code_and_plain_texts_stay_as_they_are():
    asked = task({"field": "a", "format": "code"}, {"field": "b", "format": "text"})
    found = presented(asked, None, {"a": "*x*\n", "b": ["*y*", "z"]})
    assert found["a"][0][2] == ["code", {}, "*x*\n"]
    assert found["b"] == [["p", {"dir": "auto"}, "*y*"], ["p", {"dir": "auto"}, "z"]]
    assert public_content(asked, None, {"a": "1", "b": "2"}) == {"a": "1", "b": "2"}


def test_every_format_has_a_layout():
    for name in Shown.model_fields["format"].annotation.__args__:
        assert presented(task({"field": "x", "format": name}), None, {"x": "y"})["x"] is not None
