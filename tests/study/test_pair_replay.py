import numpy as np
import polars as pl
import pytest
from paired_worlds import Pairs

from steelyard import Study
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.study.sampling import sample
from steelyard.tables import read_outputs


def finished(kind, *, n=None, each=2, seed=1):
    """A campaign that judged all items of both systems, or n pairs."""
    rng = np.random.default_rng(seed)
    outputs = kind.outputs(rng)
    pool = read_outputs(outputs)
    size = kind.size if n is None else n
    drawn = sample(pool, size, each_text_once=False, seed=1).frame
    return outputs.drop("true"), kind.judged(drawn, rng, each=each)


def independent_replay(outputs, judgments, n, *, runs, seed=0):
    """Draw n items that differ with one judgment of each output, and compare through the front door."""
    rng = np.random.default_rng(seed)
    texts = outputs.group_by("item").agg(pl.col("output").n_unique() > 1)
    differing = texts.filter("output")["item"].sort().to_list()
    means = (
        judgments.filter(pl.col("item").is_in(differing))
        .group_by("system")
        .agg(pl.col("score").mean())
    )
    means = dict(means.rows())
    truth = len(differing) / texts.height * (means["A"] - means["B"])
    found = []
    for _ in range(runs):
        items = rng.choice(differing, n, replace=False)
        shuffled = judgments[rng.permutation(judgments.height)]
        one = shuffled.filter(pl.col("item").is_in(items)).unique(
            ["item", "system"], keep="first", maintain_order=True
        )
        [got] = Study.read(outputs, one).compare(pair=("A", "B"))
        found.append((got.pairs[0].difference - truth, got.pairs[0].high - got.pairs[0].low))
    errors, lengths = np.array(found).T
    return truth, float(np.sqrt(np.mean(errors**2))), float(lengths.mean() / 2)


@pytest.mark.parametrize(
    "kind",
    [
        Pairs(size=160, identical=0.2, metric=0.7, raters=4),
        pytest.param(Pairs(size=160, identical=0.5, leniency=0.5), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_replay_agrees_with_one_through_the_front_door(kind):
    outputs, judgments = finished(kind)
    study = Study.read(outputs, judgments)
    ours, plain = study.simulate_pair(("A", "B"), [40], runs=150, seed=2)
    truth, error, width = independent_replay(outputs, judgments, 40, runs=60)
    assert ours.difference == pytest.approx(truth)
    # A replay adds what rater noise may put the truth off: two judgments of variance 1/2 each.
    noise = kind.noise + kind.leniency**2
    doubt = (1 - kind.identical) * np.sqrt(noise / ours.pool_size / (1 - kind.identical))
    assert ours.error == pytest.approx(np.hypot(error, doubt), rel=0.2)
    assert ours.half_width == pytest.approx(width, rel=0.03)
    assert ours.coverage > 0.9
    shares = (ours.better_a, ours.better_b, ours.equivalent, ours.undecided)
    assert sum(shares) == pytest.approx(1)
    assert ours.relative_judgments == pytest.approx((ours.error / plain.error) ** 2)
    assert (plain.relative_judgments, plain.judgments) == (1, 80)
    assert ours.half_width < plain.half_width


def test_replays_are_drawn_from_a_pool_of_the_real_size():
    # All but a tenth of the items are unjudged: more of them can be judged than were.
    outputs, judgments = finished(Pairs(size=400, raters=4), n=40)
    study = Study.read(outputs, judgments)
    ours, _ = study.simulate_pair(("A", "B"), [200], runs=40)
    assert (ours.n_items, ours.pool_size) == (200, 400)
    assert ours.half_width == pytest.approx(1.96 * np.sqrt(2 / 200), rel=0.25)


def test_verdicts_need_a_difference_or_a_margin():
    outputs, judgments = finished(Pairs(size=100, raters=4))
    better = judgments.with_columns(pl.col("score") + 3 * (pl.col("system") == "A"))
    ours, plain = Study.read(outputs, better).simulate_pair(("A", "B"), [50], runs=20)
    assert (ours.better_a, plain.better_a) == (1, 1)
    ours, plain = Study.read(outputs, judgments).simulate_pair(
        ("A", "B"), [90], margin=5.0, runs=20
    )
    assert (ours.equivalent, plain.equivalent) == (1, 1)


def test_the_seed_decides_and_progress_is_told():
    outputs, judgments = finished(Pairs(size=60, raters=4))
    study = Study.read(outputs, judgments)
    steps = []
    options = {"runs": 20, "progress": lambda done, all_of: steps.append((done, all_of))}
    first = study.simulate_pair(("A", "B"), [20, 40], **options)
    assert first == study.simulate_pair(("A", "B"), [20, 40], runs=20)
    assert first != study.simulate_pair(("A", "B"), [20, 40], runs=20, seed=1)
    assert steps == [(10, 40), (20, 40), (30, 40), (40, 40)]


def test_what_cannot_be_replayed_is_named():
    outputs, judgments = finished(Pairs(size=60, raters=4))
    study = Study.read(outputs, judgments)
    with pytest.raises(InvalidArgumentError, match="`n` must be from 2 to 60"):
        study.simulate_pair(("A", "B"), [61])
    with pytest.raises(InvalidArgumentError, match="`runs` must be at least 1"):
        study.simulate_pair(("A", "B"), runs=0)
    with pytest.raises(InvalidArgumentError, match="`pair` must name two systems"):
        study.simulate_pair(("A", "A"))
    first = judgments["item"].unique().sort()[:30].to_list()
    apart = judgments.filter(pl.col("item").is_in(first) == (pl.col("system") == "A"))
    with pytest.raises(NotEstimableError, match="judged for both 'A' and 'B'; got 0"):
        Study.read(outputs, apart).simulate_pair(("A", "B"))


def test_plain_means_without_error_compare_with_nothing():
    study = Study.read(*finished(Pairs(size=40), each=1))
    ours, plain = study.simulate_pair(("A", "B"), [40], runs=3)
    assert plain.error == pytest.approx(0, abs=1e-9)
    assert (ours.relative_judgments, plain.relative_judgments) == (None, None)
