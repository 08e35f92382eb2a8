"""Texts that several systems wrote: their level is one, whoever's judgments show it, and each pool has its share of them."""

import numpy as np
import polars as pl
import pytest

from steelyard import Study
from steelyard.tables import read_judgments, read_outputs

POOL = 300


def study_of(rng, *, judged, level):
    """Two systems, half of whose texts are the same and lie `level` above their own; and the true means."""
    shared = rng.random(POOL) < 0.5
    item = 0.5 * rng.normal(size=POOL)
    copied = item + 0.4 * rng.normal(size=POOL) + level
    outputs, judgments, truth = [], [], {}
    for system, ahead in (("a", 0.0), ("b", 0.6)):
        score = np.where(shared, copied, item + 0.4 * rng.normal(size=POOL) + ahead)
        truth[system] = score.mean()
        outputs += [
            (f"i{i}", system, f"the text of item {i}" if shared[i] else f"{system} wrote of {i}")
            for i in range(POOL)
        ]
        judgments += [
            (f"i{i}", system, score[i] + 0.5 * rng.normal())
            for i in rng.choice(POOL, judged[system], replace=False)
        ]
    tables = (
        pl.DataFrame(outputs, schema=["item", "system", "output"], orient="row"),
        pl.DataFrame(judgments, schema=["item", "system", "score"], orient="row"),
    )
    return Study(read_outputs(tables[0]), read_judgments(tables[1])), truth


@pytest.mark.parametrize("judged", [{"a": 20, "b": 100}, {"a": 60, "b": 60}])
def test_copied_texts_of_another_level_leave_the_means_where_they_are(judged):
    rng = np.random.default_rng(5)
    held, scores, plain = [], [], []
    for _ in range(12):
        study, truth = study_of(rng, judged=judged, level=3.0)
        for one in study.estimate():
            held.append(one.low <= truth[one.system] <= one.high)
            scores.append(one.estimate - truth[one.system])
            plain.append(one.baseline.estimate - truth[one.system])
    # 24 intervals; with copied texts weighed as they were judged, under a third of them held
    assert sum(held) >= 20
    # half of a pool is 3 above the other: their share is known, whoever's draw they came from
    assert np.mean(np.square(scores)) < 0.03
    assert np.mean(np.square(plain)) < 0.03
