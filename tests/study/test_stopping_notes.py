"""What `monitor` says of an interval that may be read as more than it is."""

import numpy as np
import polars as pl
import pytest

from steelyard import Study

POOL = 200


def study(scores):
    items = [str(i) for i in range(POOL)]
    outputs = pl.DataFrame({"item": items, "system": "s", "output": items})
    judged = pl.DataFrame(
        {
            "item": [str(i) for i in range(len(scores))],
            "system": "s",
            "rater": "r",
            "prompt": "p",
            "score": scores,
            "time": np.arange(len(scores)),
        }
    )
    return Study.read(outputs, judged)


def notes(scores, **options):
    [found] = study(scores).monitor(half_width=0.01, **options)
    return " ".join(found.notes)


def test_from_half_of_the_pool_on_it_is_said_which_mean_the_interval_is_about():
    scores = np.random.default_rng(1).uniform(size=POOL)
    assert "census" not in notes(scores[:99])
    said = notes(scores[:100])
    # Hoeffding for 200 judgments with a tenth of the doubt: sqrt(log(2 / 0.005) / 400) = 0.1224.
    assert "100 of 200 outputs are judged: the interval is about a census" in said
    assert "up to 0.122 beyond it" in said
    assert "beyond it" not in notes(scores[:100], target="pool")


@pytest.mark.parametrize(("method", "warns"), [("asymptotic", True), ("betting", False)])
def test_strongly_skewed_scores_are_noted_for_the_asymptotic_sequence(method, warns):
    rng = np.random.default_rng(2)
    assert ("skewed" in notes(rng.beta(0.3, 8, size=60), method=method)) == warns
    assert "skewed" not in notes(rng.uniform(size=60), method=method)


def test_a_draw_by_unequal_probabilities_is_always_noted():
    rng = np.random.default_rng(3)
    whole = study(rng.uniform(size=40))
    drawn = whole.judgments.frame.with_columns(
        probability=pl.Series(np.linspace(0.1, 0.4, 40)), design=pl.lit("proportional-to-size")
    )
    [found] = Study.read(whole.outputs.rows(), drawn).estimate([])
    assert any("drawn with unequal probabilities" in note for note in found.notes)
