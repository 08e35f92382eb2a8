import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.collect.tasks import (
    Problem,
    Task,
    check_answer,
    derive_scores,
    is_storable,
    score_bounds,
    visible_widgets,
)

WIDGETS = [
    {
        "id": "sense",
        "kind": "gate",
        "label": "Does it make sense?",
        "options": [{"value": "yes", "label": "Yes"}, {"value": "no", "label": "No"}],
    },
    {
        "id": "fluency",
        "kind": "likert",
        "label": "Fluent?",
        "when": "sense = yes",
        "levels": [{"value": -1}, {"value": 0}, {"value": 1.5, "label": "Good"}],
    },
    {
        "id": "edit",
        "kind": "post-edit",
        "label": "Improve it.",
        "field": "output",
        "required": "fluency < 1.5",
    },
    {
        "id": "verdicts",
        "kind": "passages",
        "label": "Is it right?",
        "field": "passages",
        "when": "sense = yes",
        "verdicts": [
            {"value": "right", "label": "Right", "highlight": True},
            {"value": "wrong", "highlight": True, "confirm": "Not {output}: {highlights}"},
            {"value": "neither"},
        ],
        "confirm": "{output}, because {highlights}",
    },
    {"id": "quality", "kind": "slider", "label": "How good?", "min": -1, "max": 1, "step": 0.1},
    {
        "id": "errors",
        "kind": "spans",
        "label": "Errors",
        "field": "output",
        "severities": [{"value": "minor", "weight": 1}, {"value": "major", "weight": 5}],
        "categories": ["accuracy", "style"],
        "most": 3,
    },
    {
        "id": "sure",
        "kind": "confirm",
        "label": "Sure?",
        "text": "You gave {quality}.",
        "when": "quality < -0.5",
    },
    {"id": "comment", "kind": "comment", "label": "More?"},
]
SCORES = [
    {"prompt": "fluency", "rule": "value", "from": "fluency"},
    {"prompt": "Edit", "rule": "edit-distance", "from": "edit", "otherwise": 0},
    {"prompt": "any", "rule": "any", "from": "verdicts", "of": "right", "otherwise": 0},
    {
        "prompt": "mean",
        "rule": "mean",
        "from": "verdicts",
        "of": "right",
        "among": ["right", "wrong"],
    },
    {"prompt": "share", "rule": "mean", "from": "verdicts", "of": "right", "otherwise": -1},
    {"prompt": "sense", "rule": "any", "from": "sense", "of": "yes"},
    {"prompt": "quality", "rule": "value", "from": "quality"},
    {"prompt": "MQM", "rule": "weights", "from": "errors"},
]
# 🙂 and the flag lie outside the first plane: each counts once, the flag of two letters twice
CONTENT = {
    "output": "It rain 🙂 lot 🇳🇴.",
    "passages": ["It rains.", "It snows a lot 🙂."],
}
GOOD = {
    "sense": "yes",
    "fluency": 0,
    "edit": "It rains a lot.",
    "verdicts": [
        {"verdict": "right", "highlights": [[0, 2], [3, 8]], "confirmed": True},
        {"verdict": "neither", "highlights": [], "confirmed": False},
    ],
    "quality": 0.3,
    "errors": [{"start": 3, "end": 7, "severity": "minor", "category": "style"}],
}


TASK = Task.model_validate(
    {
        "name": "all",
        "title": "All",
        "show": [{"field": "output"}],
        "widgets": WIDGETS,
        "scores": SCORES,
    }
)


TEXTS = st.text(max_size=30)
PAIRS = st.tuples(st.integers(-1, 20), st.integers(-1, 20)).map(list)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXTS
    | st.text(st.characters(), max_size=5)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(), max_size=6), inner, max_size=3)
    ),
    max_leaves=10,
)


def _often(good):
    return st.one_of(good, good, good, JSON)


def _passage():
    return st.fixed_dictionaries(
        {
            "verdict": st.sampled_from(["right", "wrong", "neither", None, "maybe"]),
            "highlights": st.lists(PAIRS, max_size=2),
            "confirmed": st.booleans(),
        }
    )


# A mixture of what a page sends and of what nobody would.
ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "sense": _often(st.sampled_from(["yes", "no"])),
        "fluency": _often(st.sampled_from([-1, 0, 1.5, 1])),
        "edit": _often(TEXTS),
        "verdicts": _often(
            st.just(GOOD["verdicts"])
            | st.lists(_passage(), min_size=1, max_size=3)
            | st.tuples(st.just({"verdict": "neither"}), st.just({"verdict": "neither"})).map(list)
        ),
        "quality": _often(st.integers(-10, 10).map(lambda tenth: tenth / 10)),
        "errors": _often(
            st.lists(
                st.fixed_dictionaries(
                    {
                        "start": st.integers(0, 12),
                        "end": st.integers(0, 18),
                        "severity": st.sampled_from(["minor", "major"]),
                        "category": st.sampled_from([None, "style", "other"]),
                    }
                ),
                max_size=4,
            )
        ),
        "sure": _often(st.just(True)),
        "comment": _often(st.text("abc", max_size=25)),
        "other": JSON,
    },
)


def problems(answer, content=CONTENT, task=TASK):
    return check_answer(task, content, answer)


def test_a_complete_answer_has_no_problem_and_gives_every_score():
    assert problems(GOOD) == []
    assert derive_scores(TASK, CONTENT, GOOD) == {
        "fluency": 0,
        # rain -> rains, 🙂 -> a, lot -> lot., and the flag goes: 4 of 5 words
        "Edit": pytest.approx(4 / 5),
        "any": 1,
        "mean": 1,
        "share": 0.5,
        "sense": 1,
        "quality": 0.3,
        "MQM": 1,
    }


def test_a_hidden_widget_gives_what_otherwise_says_or_no_judgment():
    answer = {"sense": "no", "quality": 0, "errors": []}
    assert problems(answer) == []
    assert derive_scores(TASK, CONTENT, answer) == {
        "Edit": 0,
        "any": 0,
        "share": -1,
        "sense": 0,
        "quality": 0,
        "MQM": 0,
    }


def test_a_mean_over_no_passage_is_what_otherwise_says():
    neither = [{"verdict": "neither"}, {"verdict": "neither"}]
    scores = derive_scores(TASK, CONTENT, GOOD | {"verdicts": neither})
    assert "mean" not in scores
    assert (scores["any"], scores["share"]) == (0, 0)


def test_without_passages_nothing_is_asked_of_them():
    content = CONTENT | {"passages": []}
    for verdicts in ([], None):
        answer = GOOD | {"verdicts": verdicts}
        assert problems(answer, content) == []
        assert derive_scores(TASK, content, answer)["share"] == -1


@pytest.mark.parametrize(
    ("changed", "widget", "message"),
    [
        ({"sense": None}, "sense", "An answer is needed."),
        ({"sense": "maybe"}, "sense", "Choose one of the answers."),
        ({"sense": True}, "sense", "Choose one of the answers."),
        ({"sense": ["yes"]}, "sense", "Choose one of the answers."),
        ({"fluency": True}, "fluency", "Choose one of the answers."),
        ({"fluency": "0"}, "fluency", "Choose one of the answers."),
        ({"fluency": float("nan")}, "fluency", "Choose one of the answers."),
        ({"fluency": 10**400}, "fluency", "Choose one of the answers."),
        ({"fluency": {}}, "fluency", "Choose one of the answers."),
        ({"edit": None}, "edit", "An answer is needed."),
        ({"edit": ""}, "edit", "An answer is needed."),
        ({"edit": "It  rain 🙂 lot 🇳🇴. "}, "edit", "The text must be changed"),
        ({"edit": "x" * 20_001}, "edit", "The text must have at most 20000 characters."),
        ({"edit": chr(0xD800)}, "edit", "characters that cannot be kept"),
        ({"edit": "a" + chr(0)}, "edit", "characters that cannot be kept"),
        ({"edit": 7}, "edit", "characters that cannot be kept"),
        ({"quality": 1.1}, "quality", "Choose a number from -1 to 1."),
        ({"quality": 10**400}, "quality", "Choose a number from -1 to 1."),
        ({"quality": float("nan")}, "quality", "Choose a number from -1 to 1."),
        ({"quality": float("inf")}, "quality", "Choose a number from -1 to 1."),
        ({"quality": True}, "quality", "Choose a number from -1 to 1."),
        ({"quality": 0.15}, "quality", "Choose a number in steps of 0.1."),
        ({"quality": -1}, "sure", "An answer is needed."),
        ({"quality": -1, "sure": False}, "sure", "Confirm, or change an earlier answer."),
        ({"quality": -1, "sure": 1}, "sure", "Confirm, or change an earlier answer."),
        ({"sure": True}, "sure", "This question is not asked here."),
        ({"comment": "x" * 2_001}, "comment", "The text must have at most 2000 characters."),
        ({"comment": ["x"]}, "comment", "characters that cannot be kept"),
        ({"other": 1}, "other", "There is no such question."),
        ({chr(0xD800): 1}, "\\ud800", "There is no such question."),
    ],
)
def test_a_bad_value_is_named_with_its_widget(changed, widget, message):
    (problem,) = problems(GOOD | changed)
    assert problem.widget == widget
    assert message in problem.message


@pytest.mark.parametrize(
    ("verdicts", "message"),
    [
        (None, "An answer is needed."),
        ([], "An answer is needed."),
        ({}, "Give a verdict on each of the 2 passages."),
        ([{"verdict": "neither"}], "Give a verdict on each of the 2 passages."),
        ([{"verdict": "neither"}] * 3, "Give a verdict on each of the 2 passages."),
        ([{"verdict": "neither"}] * 100_000, "Give a verdict on each of the 2 passages."),
        ([{"verdict": "neither"}, {"verdict": None}], "Passage 2: give a verdict."),
        ([{"verdict": "neither"}, {"verdict": "maybe"}], "Passage 2: give a verdict."),
        ([{"verdict": ["right"]}, {"verdict": "neither"}], "Passage 1: give a verdict."),
        (["neither", "neither"], "Passage 1: give a verdict."),
        ([{"verdict": "neither", "more": 1}, {"verdict": "neither"}], "Passage 1: give a verdict."),
        ([{"verdict": "right"}, {"verdict": "neither"}], "Passage 1: highlight at least one"),
    ],
)
def test_passages_need_a_verdict_each(verdicts, message):
    (problem,) = problems(GOOD | {"verdicts": verdicts})
    assert problem.widget == "verdicts"
    assert message in problem.message


@pytest.mark.parametrize(
    ("highlights", "is_fine"),
    [
        ([[0, 17]], True),
        # the last character, counted in code points: in UTF-16 it would end at 18
        ([[16, 17]], True),
        ([[0, 2], [2, 4]], True),
        ([[0, 18]], False),
        ([[3, 3]], False),
        ([[4, 3]], False),
        ([[-1, 3]], False),
        ([[0, 4], [3, 6]], False),
        ([[5, 6], [0, 2]], False),
        ([[0, True]], False),
        ([[0.0, 2]], False),
        ([[0, 2, 4]], False),
        ([["0", "2"]], False),
        ([[0, 10**30]], False),
        ([0, 2], False),
        ("all", False),
        ({"0": 2}, False),
        ([[0, 1]] * 100_000, False),
    ],
)
def test_highlights_lie_in_the_text_in_order_and_apart(highlights, is_fine):
    entry = {"verdict": "wrong", "highlights": highlights, "confirmed": True}
    found = problems(GOOD | {"verdicts": [{"verdict": "neither"}, entry]})
    assert (found == []) is is_fine
    assert is_fine or "Passage 2: " in found[0].message


@pytest.mark.parametrize("confirmed", [False, None, "yes", 1])
def test_what_is_read_back_must_be_confirmed(confirmed):
    entry = {"verdict": "wrong", "highlights": [[0, 2]], "confirmed": confirmed}
    (problem,) = problems(GOOD | {"verdicts": [entry, {"verdict": "neither"}]})
    assert problem == Problem("verdicts", "Passage 1: confirm what is read back.")


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        ([], None),
        ([{"start": 0, "end": 2, "severity": "major", "category": "style"}], None),
        ([{"start": 0, "end": 2, "severity": "major"}], "Error 1: choose a cat"),
        ([{"start": 8, "end": 9, "severity": "minor", "category": "style"}], None),
        ([{"start": 16, "end": 17, "severity": "major", "category": "style"}], None),
        ([{"start": 16, "end": 18, "severity": "major"}], "Error 1: mark a stretch"),
        ([{"start": 2, "end": 2, "severity": "major"}], "Error 1: mark a stretch"),
        ([{"start": False, "end": 2, "severity": "major"}], "Error 1: mark a stretch"),
        ([{"end": 2, "severity": "major"}], "Error 1: mark a stretch"),
        ([{"start": 0, "end": 2, "severity": "huge"}], "Error 1: choose a severity"),
        ([{"start": 0, "end": 2, "severity": ["major"]}], "Error 1: choose a severity"),
        ([{"start": 0, "end": 2}], "Error 1: choose a severity"),
        ([{"start": 0, "end": 2, "severity": "minor", "category": "x"}], "Error 1: choose a cat"),
        ([{"start": 0, "end": 2, "severity": "minor", "category": 1}], "Error 1: choose a cat"),
        ([{"start": 0, "end": 2, "severity": "minor", "x": 1}], "Error 1: mark a stretch"),
        ([3], "Error 1: mark a stretch"),
        ("none", "The errors must be a list."),
        ([{"start": k, "end": k + 1, "severity": "minor"} for k in range(4)], "Mark at most 3"),
        (
            [
                {"start": 3, "end": 9, "severity": "minor", "category": "style"},
                {"start": 0, "end": 4, "severity": "minor", "category": "style"},
            ],
            "Errors must not overlap.",
        ),
    ],
)
def test_errors_are_stretches_with_a_severity(errors, message):
    found = problems(GOOD | {"errors": errors})
    assert (found == []) is (message is None)
    assert message is None or message in found[0].message


def test_hidden_but_answered_is_a_problem_unless_it_is_empty():
    hidden = {"sense": "no", "quality": 0, "errors": [], "fluency": 1.5}
    hidden["verdicts"] = GOOD["verdicts"]
    assert {problem.widget for problem in problems(hidden)} == {"fluency", "verdicts"}
    assert problems(hidden | {"fluency": None, "verdicts": []}) == []


def test_a_value_that_is_no_answer_neither_shows_nor_requires_others():
    # were 0.5 an answer, the edit would be required
    found = problems(
        {name: GOOD[name] for name in ("sense", "quality", "verdicts", "errors")} | {"fluency": 0.5}
    )
    assert [problem.widget for problem in found] == ["fluency"]


@pytest.mark.parametrize("answer", [None, [], "x", 3, True, [GOOD]])
def test_what_is_no_object_is_one_problem(answer):
    assert [problem.widget for problem in problems(answer)] == [None]


def test_a_million_names_do_not_become_a_million_problems():
    assert len(problems({str(k): k for k in range(100_000)})) == 100
    (problem, *_) = problems({"x" * 10_000: 1} | GOOD)
    assert len(problem.widget) == 60


@given(ANSWERS | JSON)
def test_no_answer_makes_it_raise_and_every_problem_can_be_sent(answer):
    for problem in check_answer(TASK, CONTENT, answer):
        json.dumps([problem.widget, problem.message], ensure_ascii=False).encode()


@given(ANSWERS)
def test_what_is_accepted_scores_within_the_bounds(answer):
    if check_answer(TASK, CONTENT, answer):
        return
    bounds = score_bounds(TASK)
    for prompt, score in derive_scores(TASK, CONTENT, answer).items():
        low, high = bounds[prompt]
        assert low <= score <= high
    # and can be kept
    assert is_storable(answer)
    shown = visible_widgets(TASK, answer)
    assert all(name in shown for name, value in answer.items() if value not in (None, "", []))


@given(st.data())
def test_answers_of_the_right_shape_are_accepted(data):
    levels = data.draw(st.sampled_from([-1, 0, 1.5]))
    entries = []
    for text in CONTENT["passages"]:
        verdict = data.draw(st.sampled_from(["right", "wrong", "neither"]))
        points = sorted(data.draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
        marks = [list(pair) for pair in zip(points[::2], points[1::2], strict=False)]
        entries.append({"verdict": verdict, "highlights": marks, "confirmed": True})
    answer = GOOD | {
        "fluency": levels,
        "verdicts": entries,
        "quality": data.draw(st.integers(-5, 10)) / 10,
        "comment": data.draw(st.text("a é漢🙂", max_size=20)),
    }
    assert problems(answer) == []


@given(JSON)
def test_storable_is_what_utf_8_and_postgresql_take(value):
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
        expected = "\\u0000" not in text
    except UnicodeEncodeError:
        expected = False
    assert is_storable(value) is expected
