import numpy as np
import polars as pl

from steelyard.study import Study
from steelyard.study.answer import prompt_answer


def study(quality, *, items=40, same=()):
    """Return a study in which each system has a mean of its own; those in `same` share their texts."""
    rng = np.random.default_rng(5)
    hard = rng.normal(size=items)
    outputs, judgments = [], []
    for system, mean in quality.items():
        for item in range(items):
            text = f"{'shared' if system in same else system} {item}"
            outputs.append({"item": item, "system": system, "output": text})
            score = hard[item] + mean + 0.2 * (0 if system in same else rng.normal())
            row = {"item": item, "system": system, "rater": f"r{item % 6}", "prompt": "p"}
            judgments.append(row | {"score": score})
    return Study.read(pl.DataFrame(outputs), pl.DataFrame(judgments))


def answer(one, **options):
    return prompt_answer(one, "p", one.systems, **options)


def test_the_answer_is_the_sentence_of_the_comparison():
    one = study({"a": 1.0, "b": 1.0, "c": 0.0})
    found = answer(one, level=0.9)
    [compared] = one.compare(level=0.9)
    assert found.comparison == compared
    assert found.sentence == "a and b are not told apart; both are better than c."
    assert found.basis == (
        "About these outputs, by raters like these. Holds at 90% for all 3 pairs together."
    )
    assert found.refusal is None


def test_two_systems_need_no_order():
    found = answer(study({"new": 1.0, "old": 0.0}))
    assert found.sentence == "new is better than old."
    assert found.basis.endswith("Holds at 95%.")


def test_identical_outputs_are_said_to_be_identical():
    found = answer(study({"a": 0.0, "b": 0.0}, same=("a", "b")))
    assert found.sentence == "a and b have identical outputs."


def test_one_system_has_no_answer_and_no_refusal():
    found = answer(study({"a": 0.0}))
    assert (found.sentence, found.basis, found.refusal) == (None, None, None)


def test_a_refusal_keeps_its_reason_and_leaves_out_the_prompt():
    one = study({"a": 1.0, "b": 0.0})
    frame = one.judgments.frame
    few = frame.filter((pl.col("system") == "a") | (pl.col("item") == "3"))
    found = answer(Study.read(one.outputs.rows(), few))
    assert (found.comparison, found.sentence, found.basis) == (None, None, None)
    assert found.refusal.startswith("a comparison needs judgments of two systems; b: ")


def test_where_lower_is_better_the_answer_is_the_other_way_round():
    def turned(quality):
        one = study(quality)
        return answer(Study(one.outputs, one.judgments.directed(["p"])))

    assert turned({"a": 1.0, "b": 1.0, "c": 0.0}).sentence == (
        "c is better than b and a; b and a are not told apart."
    )
    assert turned({"new": 1.0, "old": 0.0}).sentence == "old is better than new."
