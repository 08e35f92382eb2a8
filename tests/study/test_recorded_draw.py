import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from steelyard.errors import InvalidArgumentError, InvalidDataError, NotEstimableError
from steelyard.study import Study
from steelyard.study.recorded_draw import is_designed
from steelyard.study.sampling import sample
from steelyard.tables import read_judgments, read_outputs

SIZE = 80


def estimate_design(outputs, judgments, metrics=(), **options):
    return Study(outputs, judgments).estimate(metrics, **options)


@pytest.fixture
def pool():
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "item": [f"i{item:02}" for item in range(SIZE)],
            "system": "s",
            "output": [f"text {item}" for item in range(SIZE)],
            "length": rng.normal(size=SIZE),
            "risk": rng.gamma(2.0, size=SIZE) + 0.2,
        }
    )


def judged(frame, carry=("probability", "stratum", "stratum_size", "design", "signature")):
    rng = np.random.default_rng(1)
    twice = pl.concat([frame, frame])
    return read_judgments(
        twice.select(
            "item",
            "system",
            *carry,
            rater=pl.lit("r") + pl.int_range(pl.len()).cast(pl.String),
            prompt=pl.lit("p"),
            score=pl.col("length") + pl.Series(rng.normal(size=twice.height)),
        )
    )


def arrays(judgments, pool):
    frame = judgments.frame.join(pool.select("item", "length"), on="item", maintain_order="left")
    return {name: frame[name].to_numpy() for name in ("score", "item", "length")} | {"frame": frame}


def test_the_sample_file_brings_what_judgments_do_not_carry(pool):
    outputs = read_outputs(pool)
    drawn = sample(outputs, 24, design="stratified", metric="length", quantiles=3, seed=1).frame
    [want] = estimate_design(outputs, judged(drawn), ["length"])
    [got] = estimate_design(outputs, judged(drawn, carry=()), ["length"], sample=drawn)
    assert got.low == pytest.approx(want.low)
    # judgments of the earlier sample take the probabilities of the one that extends it
    options = {"design": "stratified", "metric": "length", "quantiles": 3, "seed": 2}
    larger = sample(outputs, 40, extend=drawn, **options).frame
    [extended] = estimate_design(outputs, judged(larger, carry=()), ["length"], sample=larger)
    assert extended.n_outputs == 40


def test_prompts_and_systems_are_chosen(pool):
    outputs = read_outputs(pool)
    judgments = judged(sample(outputs, 24, seed=1).frame)
    with pytest.raises(InvalidArgumentError, match="prompt 'q' has no judgments"):
        estimate_design(outputs, judgments, prompts=["q"])
    assert len(estimate_design(outputs, judgments, prompts=["p"], systems=["s"])) == 1


def test_probabilities_alone_suffice(pool):
    outputs = read_outputs(pool)
    drawn = sample(outputs, 24, design="proportional-to-size", size="risk", seed=1).frame
    [want] = estimate_design(outputs, judged(drawn))
    [got] = estimate_design(outputs, judged(drawn, carry=("probability",)))
    assert (got.estimate, got.low) == pytest.approx((want.estimate, want.low))


def test_what_cannot_be_told_is_refused(pool):
    outputs = read_outputs(pool)
    drawn = sample(outputs, 24, seed=1).frame
    with pytest.raises(InvalidDataError, match=r"judgments, row 24: .*is judged but was not drawn"):
        estimate_design(outputs, judged(drawn, carry=()), sample=drawn.head(23))
    cut = sample(outputs, 24, design="stratified", metric="length", quantiles=3, seed=1).frame
    paired = drawn.with_columns(design=pl.lit("paired"))
    with pytest.raises(NotEstimableError, match="a paired draw holds only items"):
        estimate_design(outputs, judged(paired))
    other = sample(outputs, 24, design="stratified", metric="length", quantiles=3, seed=2).frame
    mixed = pl.concat([cut, other.join(cut, on="item", how="anti")])
    with pytest.raises(InvalidDataError, match="judgments come from two draws"):
        estimate_design(outputs, judged(mixed))
    with pytest.raises(InvalidDataError, match="hold 53 outputs and the pool 80"):
        estimate_design(outputs, judged(cut.filter(pl.col("stratum") != "length 1/3")))
    one = cut.filter(
        (pl.col("stratum") != "length 1/3") | (pl.int_range(pl.len()).over("stratum") == 0)
    )
    with pytest.raises(NotEstimableError, match="prompt 'p', system 's': stratum 'length 1/3'"):
        estimate_design(outputs, judged(one))


def test_a_part_of_an_extended_sample_with_certain_outputs_is_refused(pool):
    outputs = read_outputs(pool, metrics=["length", "risk"])
    how = {"design": "proportional-to-size", "size": "risk", "seed": 1}
    earlier = sample(outputs, 24, **how).frame
    larger = sample(outputs, 60, extend=earlier, **how).frame
    assert (larger["probability"] == 1).any()
    part = judged(larger.filter(pl.col("draw") <= 40))
    with pytest.raises(InvalidDataError, match="40 of 60 drawn outputs are judged, and the sample"):
        estimate_design(outputs, part)
    assert estimate_design(outputs, judged(larger))[0].n_outputs == 60


@pytest.mark.slow
def test_intervals_hold_when_a_sample_by_size_is_judged_in_part():
    rng = np.random.default_rng(5)
    runs, size, covered = 400, 300, 0
    metric = rng.normal(size=size)
    pool = pl.DataFrame(
        {
            "item": [f"{item:03}" for item in range(size)],
            "system": "s",
            "output": "text",
            "size": np.exp(metric / 2),
        }
    )
    outputs = read_outputs(pool, metrics=["size"])
    for run in range(runs):
        score = metric + rng.normal(size=size)
        drawn = sample(outputs, 200, design="proportional-to-size", size="size", seed=run).frame
        scores = pool.select("item", score=pl.Series(score))
        first = drawn.filter(pl.col("draw") <= 110).join(scores, on="item")
        judgments = first.select(
            "item", "system", "score", "probability", "stratum", "stratum_size", "design"
        ).with_columns(first["signature"], rater=pl.lit("r"), prompt=pl.lit("p"))
        study = Study(outputs, read_judgments(judgments))
        [got] = study.estimate()
        covered += got.low <= score.mean() <= got.high
    # rater noise is not known from single judgments, so they may hold more often
    assert binomtest(covered, runs, 0.95, alternative="less").pvalue > 0.001


@pytest.mark.parametrize("design", ["simple", "stratified"])
def test_outputs_that_are_judged_but_were_not_drawn_are_refused(pool, design):
    outputs = read_outputs(pool, metrics=["length"])
    how = {"metric": "length", "quantiles": 2} if design == "stratified" else {}
    drawn = sample(outputs, 24, design=design, seed=1, **how).frame
    study = Study(outputs, judged(pool.head(30), carry=()))
    with pytest.raises(InvalidDataError, match="is judged but was not drawn"):
        study.estimate(sample=drawn)


def test_prompts_may_have_simple_samples_of_their_own(pool):
    outputs = read_outputs(pool, metrics=["length"])
    parts = [
        judged(sample(outputs, n, seed=n).frame).frame.with_columns(prompt=pl.lit(prompt))
        for prompt, n in (("p", 24), ("q", 40))
    ]
    study = Study(outputs, read_judgments(pl.concat(parts)))
    assert not is_designed(study.judgments)
    assert [one.n_outputs for one in study.estimate(["length"])] == [24, 40]
