import numpy as np
import polars as pl
import pytest

from steelyard import Study
from steelyard.errors import InvalidArgumentError, NotEstimableError


def campaign(n=120, *, size=300, means=(0.0, 0.1, 1.2), seed=0):
    rng = np.random.default_rng(seed)
    item = rng.normal(size=size)
    metric = rng.normal(size=(len(means), size))
    outputs = pl.DataFrame(
        [
            {"item": f"i{one}", "system": "ABC"[number], "length": metric[number, one]}
            for number in range(len(means))
            for one in range(size)
        ]
    )
    rows = [
        {
            "item": f"i{one}",
            "system": "ABC"[number],
            "rater": f"r{rng.integers(6)}",
            "prompt": "p",
            "score": item[one] + mean + metric[number, one] + 0.5 * rng.normal(),
        }
        for one in rng.permutation(size)[:n]
        for number, mean in enumerate(means)
    ]
    return outputs, pl.DataFrame(rows)


@pytest.fixture(scope="module")
def study():
    return Study.read(*campaign())


def test_a_replay_tells_errors_lengths_and_verdicts(study):
    [found] = study.replay(30, runs=30)
    assert (found.n_outputs, found.goal, found.runs) == (30, "none", 30)
    assert found.judgments == 90
    for one in found.systems:
        assert 0.05 < one.error < one.half_width
        assert one.error < one.plain_error
        assert one.coverage > 0.8
    [close, far, _] = found.pairs
    assert (far.a, far.b, far.better_b) == ("A", "C", 1.0)
    assert close.undecided > 0.5
    assert found.wrong < 0.2


def test_more_outputs_are_more_precise(study):
    few, many = study.replay([20, 80], runs=20)
    assert many.systems[0].half_width < 0.7 * few.systems[0].half_width


def test_the_same_seed_gives_the_same_replay(study):
    assert study.replay(20, runs=3, seed=4) == study.replay(20, runs=3, seed=4)
    assert study.replay(20, runs=3, seed=4) != study.replay(20, runs=3, seed=5)


def test_a_race_lets_losers_go_and_costs_less(study):
    [found] = study.replay(100, goal="best", look=20, runs=6)
    by_name = {one.system: one for one in found.systems}
    assert found.reached == 1.0
    assert by_name["C"].best == 1.0
    assert found.judgments < 300
    assert found.wrong == 0


def test_a_half_width_ends_the_collection(study):
    [found] = study.replay(100, half_width=0.6, planned=100, look=20, runs=4)
    assert found.reached == 1.0
    assert found.judgments < 300


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda study: study.replay(1), "`n` must lie between 2 and 300"),
        (lambda study: study.replay(301), "`n` must lie between 2 and 300"),
        (lambda study: study.replay(10, runs=0), "`runs` must be at least 1"),
        (lambda study: study.replay(10, goal="best", look=0), "`look` must be at least 1"),
    ],
)
def test_what_cannot_be_is_refused(study, ask, message):
    with pytest.raises(InvalidArgumentError, match=message):
        ask(study)


def test_unequal_chances_are_refused():
    outputs, judgments = campaign(n=20)
    chances = judgments.with_columns(
        probability=pl.Series(np.where(np.arange(judgments.height) % 2, 0.1, 0.2))
    )
    with pytest.raises(NotEstimableError, match="not drawn simply at random"):
        Study.read(outputs, chances).replay(10)


@pytest.mark.slow
def test_a_replay_agrees_with_campaigns_from_the_whole_pool():
    outputs, judgments = campaign(n=300, seed=3)
    truth = judgments.group_by("system").agg(pl.col("score").mean()).sort("system")["score"]
    finished = judgments.filter(pl.col("item").is_in(judgments["item"].unique().sort()[:300]))
    [replay] = Study.read(outputs, finished).replay(50, runs=200)
    rng = np.random.default_rng(0)
    items = judgments["item"].unique().sort().to_numpy()
    off, width = [], []
    for _ in range(200):
        chosen = rng.choice(items, 50, replace=False)
        found = Study.read(outputs, judgments.filter(pl.col("item").is_in(chosen))).estimate()
        by_name = {one.system: one for one in found}
        ordered = [by_name[one] for one in "ABC"]
        off.append([one.estimate for one in ordered] - truth.to_numpy())
        width.append([one.half_width for one in ordered])
    error = np.sqrt(np.mean(np.square(off)))
    assert np.sqrt(np.mean([one.error**2 for one in replay.systems])) == pytest.approx(
        error, rel=0.08
    )
    assert np.mean([one.half_width for one in replay.systems]) == pytest.approx(
        np.mean(width), rel=0.05
    )
