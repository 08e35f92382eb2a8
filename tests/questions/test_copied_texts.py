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


def test_groups_of_copies_have_levels_apart():
    """a and b share easy texts, b and c share hard ones, and c is judged ten times as often as a."""
    rng = np.random.default_rng(6)
    squares, held = [], []
    for _ in range(10):
        group = rng.integers(0, 3, POOL)
        item = 0.5 * rng.normal(size=POOL)
        copied = item + 0.4 * rng.normal(size=POOL) + np.choose(group, [0.0, 2.0, -2.0])
        outputs, judgments, truth = [], [], {}
        for place, (system, n) in enumerate({"a": 20, "b": 60, "c": 200}.items()):
            copies = ((group == 1) & (place < 2)) | ((group == 2) & (place > 0))
            score = np.where(copies, copied, item + 0.4 * rng.normal(size=POOL))
            truth[system] = score.mean()
            outputs += [
                (f"i{i}", system, f"the text of item {i}" if copies[i] else f"{system} of {i}")
                for i in range(POOL)
            ]
            judgments += [
                (f"i{i}", system, score[i] + 0.5 * rng.normal())
                for i in rng.choice(POOL, n, replace=False)
            ]
        study = Study(
            read_outputs(pl.DataFrame(outputs, schema=["item", "system", "output"], orient="row")),
            read_judgments(
                pl.DataFrame(judgments, schema=["item", "system", "score"], orient="row")
            ),
        )
        for one in study.estimate():
            squares.append((one.estimate - truth[one.system]) ** 2)
            held.append(one.low <= truth[one.system] <= one.high)
    # with one level for all groups the mean square was 0.8, and a third held
    assert np.mean(squares) < 0.04
    assert sum(held) >= 24
