import pytest

from steelyard.collect.rubrics import task_rubrics
from steelyard.collect.tasks.task import Task, load_task
from steelyard.errors import InvalidDataError

LEVELS = [{"value": 1, "label": "Bad"}, {"value": 2, "label": "Good"}]


def made(*widgets, scores, **more):
    return Task.model_validate(
        {
            "name": "t",
            "title": "T",
            "show": [{"field": "output", "label": "Text"}],
            "widgets": list(widgets),
            "scores": scores,
            **more,
        }
    )


def value(widget):
    return {"prompt": "quality", "rule": "value", "from": widget}


def test_a_model_is_asked_what_raters_are_asked():
    rubric = task_rubrics(load_task("language-quality")).rubrics["redundancy"]
    system, user = (message["content"] for message in rubric.messages({"output": "THE TEXT"}))
    assert "Judge how they are\nwritten, not what they say" in system
    assert user.startswith("Is the text free of repetition?\n\n1: Repetitive. A whole sentence")
    assert "\n3: None. Everything is said once." in user
    assert "Summary:\n<output>\nTHE TEXT\n</output>" in user
    assert user.endswith("Reply with one whole number from 1 to 3 and nothing else.")


def test_what_no_number_or_word_answers_is_left_out_with_the_reason():
    found = task_rubrics(load_task("answer-correctness"))
    assert found.rubrics == {}
    assert set(found.left_out) == {"AnyCorrect", "AvgCorrect"}
    found = task_rubrics(load_task("direct-assessment"))
    assert list(found.rubrics) == ["quality"]
    assert found.left_out == {"MQM": "its answer is marks in a text"}
    rubric = found.rubrics["quality"]
    assert (rubric.low, rubric.high) == (0, 100)
    assert "0: No meaning preserved\n100: Perfect meaning and language" in rubric.user


def test_a_pair_is_asked_about_as_a_pair():
    rubric = task_rubrics(load_task("pairwise")).rubrics["preference"]
    assert rubric.compares
    assert rubric.labels == {"first": 1, "tie": 2, "second": 3}
    asked = rubric.messages({"output": "one", "input": "Q", "other_output": "two"})[1]["content"]
    assert "Reply A:\n<first>\none\n</first>" in asked
    assert "Reply B:\n<second>\ntwo\n</second>" in asked


@pytest.mark.parametrize("ties", [True, False])
def test_an_order_is_asked_for_pair_by_pair(ties):
    order = {"id": "o", "kind": "ranking", "label": "Put them in order.", "ties": ties}
    score = {"prompt": "better", "rule": "rank", "from": "o"}
    rubric = task_rubrics(made(order, scores=[score], side_by_side=True)).rubrics["better"]
    assert rubric.compares
    assert set(rubric.labels) == {"first", "second"} | ({"tie"} if ties else set())
    asked = rubric.messages({"output": "one", "other_output": "two"})[1]["content"]
    assert asked.startswith("Put them in order.\n\nfirst: the first one is better")
    assert "Which is the better one?" in asked
    assert "Text A:\n<first>\none\n</first>\n\nText B:\n<second>\ntwo\n</second>" in asked


def test_levels_with_gaps_and_options_are_asked_for_as_words():
    levels = [{"value": 1, "label": "Bad"}, {"value": 5, "label": "Good", "tip": "No error"}]
    widget = {"id": "q", "kind": "likert", "label": "Q?", "levels": levels}
    rubric = task_rubrics(made(widget, scores=[value("q")])).rubrics["quality"]
    assert (rubric.low, rubric.high, rubric.labels) == (1, 5, {"Bad": 1, "Good": 5})
    assert "Bad\nGood: No error" in rubric.user
    gate = {
        "id": "ok",
        "kind": "gate",
        "label": "OK?",
        "options": [{"value": "y", "label": "Yes"}, {"value": "n", "label": "No"}],
    }
    score = {"prompt": "quality", "rule": "any", "from": "ok", "of": "y"}
    assert task_rubrics(made(gate, scores=[score])).rubrics["quality"].labels == {"Yes": 1, "No": 0}


def test_odd_scales_and_later_questions_are_left_out():
    half = [{"value": 0.5}, {"value": 1}]
    first = {"id": "a", "kind": "likert", "label": "A?", "levels": LEVELS}
    later = {**first, "id": "b", "when": "a = 1"}
    odd = {"id": "c", "kind": "likert", "label": "C?", "levels": half}
    fine = {"id": "d", "kind": "slider", "label": "D?", "max": 1, "step": 0.1}
    scores = [{"prompt": name, "rule": "value", "from": name} for name in "abcd"]
    found = task_rubrics(made(first, later, odd, fine, scores=scores))
    assert list(found.rubrics) == ["a"]
    assert found.left_out["b"] == "it is asked only after some answers to another question"
    assert (
        found.left_out["c"] == found.left_out["d"] == "its scale has other numbers than whole ones"
    )


def test_braces_of_a_task_are_text():
    widget = {"id": "q", "kind": "likert", "label": "Is {this} JSON?", "levels": LEVELS}
    task = made(widget, scores=[value("q")], instructions="Write {output} or {x}.")
    rubric = task_rubrics(task).rubrics["quality"]
    assert rubric.placeholders == ("output",)
    assert "Is { this} JSON?" in rubric.messages({"output": "x"})[1]["content"]


def test_names_of_columns_must_differ_and_an_output_must_be_shown():
    widget = {"id": "q", "kind": "likert", "label": "Q?", "levels": LEVELS}
    scores = [{**value("q"), "prompt": name} for name in ("Very Good", "very-good")]
    with pytest.raises(InvalidDataError, match="would name the same column: rename one"):
        task_rubrics(made(widget, scores=scores))
    with pytest.raises(InvalidDataError, match="prompt quality: makes no question to a language"):
        task_rubrics(made(widget, scores=[value("q")], show=[{"field": "input"}]))
