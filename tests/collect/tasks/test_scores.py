import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.collect.tasks import Task, derive_scores, score_bounds
from steelyard.collect.tasks.scores import edit_distance

WORDS = st.lists(st.sampled_from(["the", "The", "a", "cat", "sat,", "é", "漢字"]), max_size=8)


def test_a_hand_worked_edit_distance():
    # "the the cat sat" -> "the cat sat down": one word goes, one comes, of four
    assert edit_distance("The the cat sat", "The cat sat down") == 0.5


def test_two_empty_texts_and_case_and_spaces_do_not_differ():
    assert edit_distance(" ", "") == edit_distance("It  Rains", "it rains") == 0


@given(WORDS, WORDS)
def test_it_is_the_metric_edit_between_the_two_texts(original, edited):
    before, after = " ".join(original), " ".join(edited)
    columns = sy.score([before], [after], metrics=["edit"])
    assert edit_distance(before, after) == pytest.approx(float(columns["edit"][0]))


@given(st.text(max_size=40), st.text(max_size=40))
def test_it_is_symmetric_and_between_0_and_1(one, other):
    assert 0 <= edit_distance(one, other) == edit_distance(other, one) <= 1


def pair_task(*, ties=True):
    return Task.model_validate(
        {
            "name": "pair",
            "title": "Which?",
            "pair": True,
            "show": [{"field": "first"}, {"field": "second"}],
            "widgets": [{"id": "better", "kind": "preference", "label": "Which?", "ties": ties}],
            "scores": [{"prompt": "p", "rule": "preference", "from": "better"}],
        }
    )


@pytest.mark.parametrize(
    ("answer", "score", "swapped"), [("first", 1, 0), ("second", 0, 1), ("tie", 0.5, 0.5)]
)
def test_a_preference_is_for_the_first_of_the_unit_wherever_it_is_displayed(answer, score, swapped):
    task, content = pair_task(), {"first": "a", "second": "b"}
    assert derive_scores(task, content, {"better": answer}) == {"p": score}
    assert derive_scores(task, content, {"better": answer}, swapped=True) == {"p": swapped}
    assert score_bounds(task) == {"p": (0, 1)}


def test_verdicts_are_counted_as_the_paper_does():
    # two of the five passages say nothing, two of the other three call the answer right
    verdicts = ["right", "neither", "wrong", "right", "neither"]
    task = Task.model_validate(
        {
            "name": "answers",
            "title": "Right?",
            "show": [{"field": "output"}],
            "widgets": [
                {
                    "id": "verdicts",
                    "kind": "passages",
                    "label": "Right?",
                    "field": "passages",
                    "verdicts": [{"value": "right"}, {"value": "wrong"}, {"value": "neither"}],
                }
            ],
            "scores": [
                {"prompt": "any", "rule": "any", "from": "verdicts", "of": "right"},
                {
                    "prompt": "avg",
                    "rule": "mean",
                    "from": "verdicts",
                    "of": "right",
                    "among": ["right", "wrong"],
                    "otherwise": 0,
                },
                {"prompt": "all", "rule": "mean", "from": "verdicts", "of": "right"},
            ],
        }
    )
    content = {"output": "x", "passages": ["p"] * 5}
    scores = derive_scores(task, content, {"verdicts": [{"verdict": one} for one in verdicts]})
    assert scores == {"any": 1, "avg": pytest.approx(2 / 3), "all": pytest.approx(2 / 5)}
    nothing = derive_scores(task, content, {"verdicts": [{"verdict": "neither"}] * 5})
    assert nothing == {"any": 0, "avg": 0, "all": 0}
