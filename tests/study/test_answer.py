import numpy as np
import polars as pl

from steelyard.study import Study
from steelyard.study.answer import prompt_answers


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
    return prompt_answers(one, "p", one.estimate(), **options)[None]


def test_the_answer_is_the_sentence_of_the_comparison():
    one = study({"a": 1.0, "b": 1.0, "c": 0.0})
    found = answer(one, level=0.9)
    [compared] = one.compare(level=0.9)
    assert found.comparison == compared
    assert found.sentence == compared.sentence
    assert found.basis == (
        "About these outputs, by raters like these. Holds at 90% for all 3 pairs together."
    )


def test_one_system_has_its_mean_for_an_answer():
    found = answer(study({"a": 0.0}))
    assert (found.sentence.startswith("a scores "), found.basis) == (True, None)


def test_a_refusal_keeps_its_reason_and_leaves_out_the_prompt():
    one = study({"a": 1.0, "b": 0.0})
    frame = one.judgments.frame
    few = frame.filter((pl.col("system") == "a") | (pl.col("item") == "3"))
    thin = Study.read(one.outputs.rows(), few)
    found = prompt_answers(thin, "p", [], systems=["a", "b"])[None]
    assert found.comparison is None
    opening = (
        "Which system is better is not known: a comparison needs judgments of two systems; b: "
    )
    assert found.sentence.startswith(opening)


def test_every_slice_has_its_answer():
    one = study({"a": 1.0, "b": 0.0})
    outputs = one.outputs.rows().with_columns(
        topic=pl.when(pl.col("item").cast(pl.Int64) < 20).then(pl.lit("x")).otherwise(pl.lit("y"))
    )
    cut = Study.read(
        outputs, one.judgments.frame.select("item", "system", "rater", "prompt", "score")
    )
    found = prompt_answers(cut, "p", cut.estimate(by="topic"), by="topic")
    assert list(found) == ["x", "y"]
    assert found["x"].sentence.startswith("a is better than b by ")
