from functools import partial

import pytest
from tests.collect.queries import entries

from steelyard.collect.store import StoreError
from steelyard.collect.store.raters import session
from steelyard.collect.store.tutorials import record_tutorial_answer, tutorial


@pytest.fixture
def answer(office, make_units):
    office.begin(make_units(1))

    def answer(question, *, correct, **options):
        return office.write(
            record_tutorial_answer,
            rater=office.id("ann"),
            question=question,
            answer="x" if correct else None,
            correct=correct,
            now=office.now,
            **{
                "version": "1",
                "questions": ["a", "b", "c"],
                "pass_mark": 2,
                "tries": 2,
                "bonus": 500_000,
                **options,
            },
        )

    return answer


def test_a_question_has_its_tries_and_the_last_one_counts(office, answer):
    first = answer("a", correct=False)
    assert [(one.question, one.tries, one.correct) for one in first.answered] == [("a", 1, False)]
    second = answer("a", correct=True)
    [one] = second.answered
    assert (one.tries, one.correct, one.answer) == (2, True, "x")
    assert second.passed is None
    kept = office.store.read(partial(tutorial, rater=office.id("ann"), version="1"))
    assert kept == second


def test_enough_right_answers_pass_and_are_paid_once(office, answer):
    answer("a", correct=True)
    answer("b", correct=False)
    answer("b", correct=False)
    assert answer("c", correct=True).passed is True
    [entry] = office.read(entries)
    assert (entry.kind, entry.amount, entry.submission) == ("bonus", 500_000, None)
    rater, visit = office.person("ann")
    seen = office.store.read(lambda connection: session(connection, visit))
    assert seen.rater == rater
    assert office.read(tutorial, rater=rater, version="1").passed
    assert seen.earned == 500_000


def test_too_few_right_answers_fail_and_are_not_paid(office, answer):
    answer("a", correct=True)
    for question in ("b", "c"):
        answer(question, correct=False)
        last = answer(question, correct=False)
    assert last.passed is False
    assert last.correct == 1
    assert office.read(entries) == []


def test_a_new_version_asks_again_and_pays_again(office, answer):
    for version in ("1", "2"):
        for question in ("a", "b", "c"):
            answer(question, correct=True, version=version)
    assert [one.reference for one in office.read(entries)] == ["tutorial 1", "tutorial 2"]


def test_errors_name_what_is_wrong(answer):
    answer("a", correct=True)
    with pytest.raises(StoreError, match="cannot be answered again"):
        answer("a", correct=True)
    with pytest.raises(StoreError, match="the tutorial has no question 'z'"):
        answer("z", correct=True)
    answer("b", correct=False)
    answer("b", correct=False)
    with pytest.raises(StoreError, match="cannot be answered again"):
        answer("b", correct=True)
    answer("c", correct=True)
    with pytest.raises(StoreError, match="cannot be answered again"):
        answer("c", correct=True)
