"""Spread draws through `Study`: what they are spread by, how they are recorded, and read again."""

import numpy as np
import polars as pl
import pytest

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.study import Study
from steelyard.study.sampling import sample
from steelyard.tables import read_judgments, read_outputs


def pool_frame(size=120, systems=("alpha", "beta", "gamma", "delta")):
    """Systems with a metric, one of the opposite sign, and one of no use."""
    rng = np.random.default_rng(0)
    parts = []
    for system in systems:
        quality = rng.normal(size=size)
        parts.append(
            pl.DataFrame(
                {
                    "item": [f"i{item:03}" for item in range(size)],
                    "system": system,
                    "output": [f"text {item} of {system}" for item in range(size)],
                    "good": quality + rng.normal(size=size),
                    "bad": 100 - 30 * (quality + rng.normal(size=size)),
                    "useless": rng.normal(size=size),
                    "quality": quality,
                }
            )
        )
    return pl.concat(parts)


FRAME = pool_frame()
POOL = read_outputs(FRAME.drop("quality"))


def judged(drawn, first=None, *, keep=True):
    """One judgment of each drawn output, or of the first items of the draw."""
    rng = np.random.default_rng(1)
    rows = drawn.join(FRAME.select("item", "system", "quality"), on=["item", "system"])
    if first is not None:
        rows = rows.filter(pl.col("draw") <= first)
    names = [name for name in ("probability", "draw", "design", "signature", "place") if keep]
    return rows.select(
        "item",
        "system",
        *names,
        rater=pl.Series([f"r{number % 6}" for number in range(rows.height)]),
        score=pl.col("quality") + pl.Series(0.5 * rng.normal(size=rows.height)),
    )


def balance(drawn, column):
    """How far the sample's mean is from the pool's, in standard errors of a simple draw of items."""
    items = FRAME.group_by("item").agg(pl.col(column).mean())
    inside = items.filter(pl.col("item").is_in(drawn["item"].unique().implode()))[column]
    n, size = len(inside), items.height
    error = items[column].std() * np.sqrt(1 / n - 1 / size)
    return (inside.mean() - items[column].mean()) / error


def mean_square(column, **options):
    found = [sample(POOL, 20, design="spread", seed=seed, **options).frame for seed in range(25)]
    return np.mean([balance(one, column) ** 2 for one in found])


def test_the_draw_is_balanced_over_what_it_is_spread_by():
    assert mean_square("good", by=["good"]) < 0.15
    assert mean_square("bad", by="bad") < 0.15


def test_several_metrics_are_balanced_at_once():
    assert mean_square("good", by=["good", "useless"]) < 0.4
    assert mean_square("useless", by=["good", "useless"]) < 0.4


def test_metrics_of_opposite_signs_do_not_cancel_by_default():
    # Their mean would leave quality as it is, what they have in common does not.
    assert mean_square("quality") < 0.7


def test_a_pilot_says_what_metrics_are_worth():
    pilot = read_judgments(judged(sample(POOL, 40, seed=1).frame, keep=False))
    assert mean_square("quality", pilot=pilot) < 0.7


def test_the_sample_records_wave_and_place_for_all_systems():
    drawn = sample(POOL, 20, design="spread", by="good", seed=1).frame
    assert drawn["probability"].unique().to_list() == [pytest.approx(20 / 120)]
    assert drawn.group_by("item").agg(pl.col("place").n_unique())["place"].max() == 1
    assert drawn["place"].is_between(1, 2).all()
    larger = sample(POOL, 30, design="spread", by="bad", extend=drawn, seed=2).frame
    assert larger.filter(pl.col("draw") <= 20)["item"].to_list() == drawn["item"].to_list()
    assert larger.filter(pl.col("draw") > 20)["place"].is_between(2, 3).all()
    assert larger["probability"].unique().to_list() == [pytest.approx(30 / 120)]


def test_a_spread_draw_is_estimated_and_compared_as_a_simple_one():
    drawn = sample(POOL, 30, design="spread", seed=1).frame
    study = Study(POOL, read_judgments(judged(drawn)))
    found = study.estimate()
    assert [one.n_outputs for one in found] == [30] * 4
    assert len(study.compare()[0].pairs) == 6
    beside = Study(POOL, read_judgments(judged(drawn, keep=False))).estimate(sample=drawn)
    assert [one.low for one in beside] == pytest.approx([one.low for one in found])


def test_monitor_refuses_a_spread_draw_with_a_way_out():
    study = Study(POOL, read_judgments(judged(sample(POOL, 30, design="spread", seed=1).frame)))
    with pytest.raises(NotEstimableError, match=r"spread draw.*use `steelyard estimate`"):
        study.monitor(half_width=0.1, bounds=(-9, 9))


def test_diagnosis_takes_a_spread_draw_as_a_simple_one():
    once = judged(sample(POOL, 30, design="spread", seed=1).frame)
    again = once.with_columns(rater=pl.lit("again"), score=pl.col("score") + 0.1)
    found = Study(POOL, read_judgments(pl.concat([once, again]))).diagnose(["good"])
    assert [one.refusal for one in found] == [None] * len(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"design": "simple", "by": ["good"]}, "`by` goes with design spread"),
        ({"design": "spread", "by": ["god"]}, "no column 'god'"),
        ({"design": "spread", "by": ["output"]}, "must hold numbers"),
        ({"design": "spread", "strata": "output"}, "go with design stratified"),
        ({"design": "spread", "by": ["good"], "pilot": "pilot"}, "two ways"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    if "pilot" in options:
        options = options | {
            "pilot": read_judgments(judged(sample(POOL, 9, seed=1).frame, keep=False))
        }
    with pytest.raises(InvalidArgumentError, match=message):
        sample(POOL, 20, seed=1, **options)


def test_a_pool_without_metrics_cannot_be_spread():
    texts = read_outputs(FRAME.select("item", "system", "output"))
    with pytest.raises(InvalidArgumentError, match=r"needs a metric.*--by"):
        sample(texts, 20, design="spread", seed=1)
