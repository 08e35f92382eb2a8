import pytest
from pydantic import TypeAdapter, ValidationError

from steelyard.collect.tasks import grade, load_task, shipped_tasks
from steelyard.collect.tasks.tutorial import Question
from steelyard.collect.tasks.widgets import AnyWidget

WIDGET = TypeAdapter(AnyWidget)
SLIDER = {"id": "q", "kind": "slider", "label": "How good?"}
LIKERT = {
    "id": "q",
    "kind": "likert",
    "label": "Good?",
    "levels": [{"value": 1}, {"value": 2, "label": "Fine"}],
}
EDIT = {"id": "q", "kind": "post-edit", "label": "Improve it.", "field": "output"}
PREFERENCE = {"id": "q", "kind": "preference", "label": "Which?"}
SPANS = {
    "id": "q",
    "kind": "spans",
    "label": "Errors",
    "field": "output",
    "severities": [{"value": "minor", "weight": 1}, {"value": "major", "weight": 5}],
    "categories": ["style"],
}
PASSAGES = {
    "id": "q",
    "kind": "passages",
    "label": "Right?",
    "field": "passages",
    "verdicts": [{"value": "right", "highlight": True}, {"value": "neither"}],
}  # fmt: skip


def question(ask, answer, **content):
    made = Question.model_validate(
        {
            "id": "x",
            "content": {"output": "It rain a lot."} | content,
            "ask": ask,
            "answer": answer,
            "hint": "Look.",
            "feedback": "So.",
        }
    )
    made.resolve({})
    return made


@pytest.mark.parametrize(
    ("ask", "accepted", "right", "wrong"),
    [
        (LIKERT, [2], [2, 2.0], [1, "2", True, None, float("nan"), [2], {}]),
        (LIKERT, 2, [2], [1]),
        (
            SLIDER,
            [{"min": 20, "max": 40}, 77],
            [20, 33, 40, 77],
            [19, 41, 78, "33", 33.5, -(10**400)],
        ),
        (SLIDER, {"min": 0, "max": 5}, [0, 5], [6]),
        (PREFERENCE, ["first", "tie"], ["first", "tie"], ["second", "third", 1]),
        (
            EDIT,
            ["It rains a lot."],
            ["It rains a lot.", " it  RAINS a lot", "It rains a lot!"],
            ["It rain a lot.", "It rains", "", 3, chr(0xD800)],
        ),
        (
            EDIT,
            {"has": ["rains"], "lacks": ["lot"], "most": 0.5},
            ["It rains a bit.", "IT RAINS A bit"],
            ["It rains a lot.", "It pours.", "Often it rains heavily in the north of the country."],
        ),
        (
            SPANS,
            [{"quote": "rain", "severity": "minor"}],
            [
                [{"start": 3, "end": 7, "severity": "minor", "category": "style"}],
                [{"start": 6, "end": 9, "severity": "minor", "category": "style"}],
            ],
            [
                [],
                [{"start": 3, "end": 7, "severity": "major", "category": "style"}],
                [{"start": 7, "end": 9, "severity": "minor", "category": "style"}],
                [
                    {"start": 3, "end": 7, "severity": "minor", "category": "style"},
                    {"start": 10, "end": 13, "severity": "minor", "category": "style"},
                ],
                "rain",
                None,
            ],
        ),
        (SPANS, [], [[]], [[{"start": 3, "end": 7, "severity": "minor"}], None]),
    ],
)
def test_answers_are_graded_by_the_kind_of_the_widget(ask, accepted, right, wrong):
    made = question(ask, accepted)
    assert [grade(made, answer) for answer in right] == [True] * len(right)
    assert [grade(made, answer) for answer in wrong] == [False] * len(wrong)


def test_a_verdict_counts_when_a_highlight_touches_what_decides():
    made = question(
        PASSAGES,
        [{"verdict": "right", "quotes": ["it rains", "wet"]}, {"verdict": ["neither", "right"]}],
        passages=["Today it rains. All is wet.", "No word."],
    )

    def marked(*highlights, verdict="right", other="neither"):
        return [
            {"verdict": verdict, "highlights": list(highlights)},
            {"verdict": other, "highlights": []},
        ]

    assert grade(made, marked([6, 14]))
    # one letter of one of them is enough
    assert grade(made, marked([0, 2], [23, 24]))
    assert not grade(made, marked([0, 6]))
    assert not grade(made, marked([14, 23]))
    assert not grade(made, marked([6, 14], verdict="neither"))
    assert not grade(made, marked())
    assert not grade(made, marked([6, 14])[:1])
    assert grade(made, [marked([6, 14])[0], {"verdict": "right", "highlights": [[0, 2]]}])


@pytest.mark.parametrize(
    ("ask", "accepted", "message"),
    [
        (SLIDER, [101], "101 is not an answer to q"),
        (SLIDER, [{"min": 0}], "must have the keys min and max"),
        (SLIDER, [{"min": 0, "max": 200}], "must lie on the slider; got 200"),
        (EDIT, [{"have": ["x"]}], "is not a key here; expected one of has, lacks, most"),
        (EDIT, [{"has": "x"}], "must be a list of texts; got 'x'"),
        (EDIT, [{"most": True}], "must be a number; got true"),
        (EDIT, [3], "3 is not an answer to q"),
        (SPANS, "rain", "must be a list of errors"),
        (SPANS, [{"severity": "minor"}], "must have the key quote"),
        (SPANS, [{"quote": "snow"}], "must be a stretch of the text; got 'snow'"),
        (SPANS, [{"quote": "rain", "severity": "mild"}], "'mild' is not known"),
        (SPANS, [{"quote": "rain", "category": "stile"}], "did you mean `style`"),
        (PASSAGES, [{"verdict": "right"}], "must have an entry for each of the 2 passages"),
        (PASSAGES, [{"verdict": "rihgtt"}, {"verdict": "neither"}], "did you mean `right`"),
        (PASSAGES, [{}, {"verdict": "neither"}], "must have the key verdict"),
        (PASSAGES, [{"verdict": "right", "quotes": "wet"}] * 2, "must be a list of texts"),
        (PASSAGES, [{"verdict": "right", "quotes": ["dry"]}] * 2, "must be a stretch of the text"),
    ],
)
def test_an_impossible_answer_is_refused(ask, accepted, message):
    with pytest.raises(ValueError, match=r"must|is not") as caught:
        question(ask, accepted, passages=["All is wet.", "No word."])
    assert message in str(caught.value)


def test_content_is_text():
    with pytest.raises(ValidationError, match="must be text or a list of texts"):
        question(LIKERT, [2], output=3)


@pytest.mark.parametrize("name", shipped_tasks())
def test_shipped_tutorials_teach(name):
    tutorial = load_task(name).tutorial
    assert tutorial.tries == 2
    for one in tutorial.questions:
        assert len(one.hint) > 20
        assert len(one.feedback) > 40
        assert one.hint != one.feedback
        assert tutorial.named[tutorial.name_of(one.id)] is one
    assert tutorial.name_of("none") is None


def test_the_paper_s_tutorials_have_their_length():
    assert len(load_task("language-quality").tutorial.questions) == 10
    assert len(load_task("answer-correctness").tutorial.questions) == 8
