import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from steelyard import control_variates, sample_mean
from steelyard.cli import main
from steelyard.errors import InvalidArgumentError, InvalidDataError, NotEstimableError
from steelyard.estimate.stratified import stratified_mean
from steelyard.estimate.weighted import weighted_mean
from steelyard.sampling.sample import sample
from steelyard.study import Study
from steelyard.study.recorded_draw import is_designed
from steelyard.tables import read_judgments, read_outputs

SIZE = 80


def estimate_design(outputs, judgments, metrics=(), **options):
    """Estimate each system apart."""
    apart = {"slope": "least-squares", "raters_as": "fixed"} | options
    return Study(outputs, judgments).estimate(metrics, **apart)


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


def test_a_stratified_sample_is_estimated_by_its_strata(pool):
    outputs = read_outputs(pool)
    drawn = sample(outputs, 24, design="stratified", metric="length", quantiles=3, seed=1)
    judgments = judged(drawn.frame)
    assert is_designed(judgments)
    [got] = estimate_design(outputs, judgments, ["length"])
    a = arrays(judgments, pool)
    want = stratified_mean(
        a["score"],
        a["frame"]["stratum"].to_numpy(),
        {f"length {one}/3": size for one, size in ((1, 27), (2, 26), (3, 27))},
        metric=a["length"],
        metric_pool=pool["length"].to_numpy(),
        items=a["item"],
    )
    assert (got.system, got.prompt, got.metrics) == ("s", "p", ("length",))
    assert (got.estimate, got.low) == pytest.approx((want.estimate, want.low))


def test_a_sample_by_size_is_estimated_by_its_probabilities(pool):
    outputs = read_outputs(pool, metrics=["length", "risk"])
    drawn = sample(outputs, 24, design="proportional-to-size", size="risk", seed=1)
    judgments = judged(drawn.frame)
    a = arrays(judgments, pool)
    for slope in ("least-squares", 0.9):
        [got] = estimate_design(outputs, judgments, ["length"], slope=slope, level=0.9)
        want = weighted_mean(
            a["score"],
            a["frame"]["probability"].to_numpy(),
            pool_size=SIZE,
            metric=a["length"],
            metric_pool=pool["length"].to_numpy(),
            items=a["item"],
            slope=slope,
            level=0.9,
        )
        assert (got.estimate, got.low) == pytest.approx((want.estimate, want.low))


def test_a_simple_sample_is_control_variates_even_if_not_all_of_it_was_judged(pool):
    outputs = read_outputs(pool)
    drawn = sample(outputs, 40, seed=1).frame.head(25)
    judgments = judged(drawn)
    a = arrays(judgments, pool)
    [got] = estimate_design(outputs, judgments, ["length"])
    want = control_variates(a["score"], a["length"], pool["length"].to_numpy(), items=a["item"])
    assert (got.estimate, got.low) == pytest.approx((want.estimate, want.low))
    [plain] = estimate_design(outputs, judgments)
    want = sample_mean(a["score"], items=a["item"], pool_size=SIZE)
    assert (plain.estimate, plain.low) == pytest.approx((want.estimate, want.low))


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
    [got] = estimate_design(outputs, judged(drawn, carry=("probability",)))
    assert got.method == "weighted-mean/hajek/student"


def test_what_cannot_be_told_is_refused(pool):
    outputs = read_outputs(pool)
    drawn = sample(outputs, 24, seed=1).frame
    with pytest.raises(InvalidDataError, match=r"judgments, row 24: .*is judged but was not drawn"):
        estimate_design(outputs, judged(drawn, carry=()), sample=drawn.head(23))
    cut = sample(outputs, 24, design="stratified", metric="length", quantiles=3, seed=1).frame
    with pytest.raises(InvalidArgumentError, match="`slope` must be a number or least-squares"):
        estimate_design(outputs, judged(cut), ["length"], slope="cross-fit")
    paired = drawn.with_columns(design=pl.lit("paired"))
    with pytest.raises(InvalidDataError, match="draw a simple sample"):
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


def test_raters_of_a_stratified_sample_may_be_a_sample_themselves(pool):
    outputs = read_outputs(pool)
    drawn = sample(outputs, 40, design="stratified", metric="length", quantiles=2, seed=1)
    frame = judged(drawn.frame).frame.with_columns(
        rater=pl.lit("r") + (pl.int_range(pl.len()) % 7).cast(pl.String)
    )
    lenient = frame.with_columns(score=pl.col("score") + (pl.col("rater") == "r0"))
    [fixed] = estimate_design(outputs, read_judgments(lenient), ["length"])
    [random] = estimate_design(outputs, read_judgments(lenient), ["length"], raters_as="random")
    assert random.raters == "random"
    assert random.n_raters == 7
    assert random.estimate == pytest.approx(fixed.estimate)
    assert random.standard_error > fixed.standard_error


@pytest.fixture
def lenient_by_size(pool):
    """80 judgments by 7 raters, one of them lenient, of 40 outputs drawn in proportion to size."""
    outputs = read_outputs(pool, metrics=["length", "risk"])
    drawn = sample(outputs, 40, design="proportional-to-size", size="risk", seed=1)
    frame = judged(drawn.frame).frame.with_columns(
        rater=pl.lit("r") + (pl.int_range(pl.len()) % 7).cast(pl.String)
    )
    return outputs, frame.with_columns(score=pl.col("score") + 2 * (pl.col("rater") == "r0"))


def test_raters_of_a_sample_by_size_may_be_a_sample_themselves(pool, lenient_by_size):
    outputs, frame = lenient_by_size
    judgments = read_judgments(frame)
    [fixed] = estimate_design(outputs, judgments, ["length"])
    [random] = estimate_design(outputs, judgments, ["length"], raters_as="random")
    a = arrays(judgments, pool)
    want = weighted_mean(
        a["score"],
        a["frame"]["probability"].to_numpy(),
        pool_size=SIZE,
        metric=a["length"],
        metric_pool=pool["length"].to_numpy(),
        items=a["item"],
        raters=a["frame"]["rater"].to_numpy(),
        raters_as="random",
    )
    assert (random.raters, random.n_raters) == ("random", 7)
    assert (random.estimate, random.low) == pytest.approx((want.estimate, want.low))
    assert random.estimate == pytest.approx(fixed.estimate)
    assert random.standard_error > fixed.standard_error


@pytest.mark.parametrize(
    ("design", "how"),
    [
        ("stratified", {"metric": "length", "quantiles": 3}),
        ("proportional-to-size", {"size": "risk"}),
    ],
)
def test_the_default_is_weighted_as_outputs_were_drawn(pool, design, how):
    outputs = read_outputs(pool, metrics=["length", "risk"])
    judgments = judged(sample(outputs, 24, design=design, seed=1, **how).frame)
    [want] = estimate_design(outputs, judgments)
    [got] = Study(outputs, judgments).estimate(["length"])
    assert got.baseline.estimate == pytest.approx(want.estimate)
    assert want.estimate != pytest.approx(judgments.frame["score"].mean())


def test_the_command_line_shows_both_views_of_raters_of_a_sample_by_size(
    pool, lenient_by_size, tmp_path, capsys
):
    _, frame = lenient_by_size
    files = [str(tmp_path / name) for name in ("outputs.jsonl", "judgments.jsonl")]
    pool.write_ndjson(files[0])
    frame.write_ndjson(files[1])

    def found(*options):
        with pytest.raises(SystemExit) as stop:
            main(["estimate", *files, "--metric", "length", "--json", *options])
        assert stop.value.code == 0
        return json.loads(capsys.readouterr().out)[0]

    apart = found("--raters", "random", "--slope", "least-squares")
    assert apart["method"] == "weighted-control-variates/least-squares/hajek/student"
    fixed, both, default = found("--raters", "fixed"), found("--raters", "random"), found()
    assert (fixed["raters"], both["raters"], default["raters"]) == ("fixed", "random", "adjusted")
    assert both["fixed_raters"]["low"] == pytest.approx(fixed["low"])
    assert both["low"] < fixed["low"]


def test_what_is_not_known_for_recorded_draws_is_refused_with_the_way_out(pool):
    outputs = read_outputs(pool)
    drawn = sample(outputs, 24, design="stratified", metric="length", quantiles=3, seed=1)
    judgments = judged(drawn.frame)
    for interval, reason in (("betting", "drawn alike"), ("bca", "drawn again by the same design")):
        with pytest.raises(InvalidArgumentError, match=f'"student" for a recorded draw.*{reason}'):
            estimate_design(outputs, judgments, interval=interval, bounds=(-99, 99))
    with pytest.raises(InvalidArgumentError, match='"adjusted" weights judgments by their raters'):
        estimate_design(outputs, judgments, raters_as="adjusted")
    with pytest.raises(InvalidArgumentError, match='"census" speaks of the raters at hand'):
        estimate_design(outputs, judgments, raters_as="random", target="census")
    by_size = judged(sample(outputs, 24, design="proportional-to-size", size="risk", seed=1).frame)
    for options, message in (
        ({"raters_as": "adjusted"}, '"adjusted" weights judgments by their raters'),
        ({"raters_as": "random", "target": "census"}, '"census" speaks of the raters at hand'),
        ({"raters_as": "random", "interval": "bca"}, "drawn again by the same design"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            estimate_design(outputs, by_size, **options)
    alone = read_judgments(by_size.frame.with_columns(rater=pl.lit("r")), on_duplicate="first")
    with pytest.raises(NotEstimableError, match=r"prompt 'p', system 's': .*at least two raters"):
        estimate_design(outputs, alone, raters_as="random")


def test_a_sample_by_size_that_is_judged_in_part_has_as_much_smaller_probabilities(pool):
    outputs = read_outputs(pool, metrics=["length", "risk"])
    drawn = sample(outputs, 24, design="proportional-to-size", size="risk", seed=1).frame
    judgments = judged(drawn.filter(pl.col("draw") <= 18))
    [got] = estimate_design(outputs, judgments, ["length"])
    a = arrays(judgments, pool)
    want = weighted_mean(
        a["score"],
        a["frame"]["probability"].to_numpy() * 18 / 24,
        pool_size=SIZE,
        metric=a["length"],
        metric_pool=pool["length"].to_numpy(),
        items=a["item"],
    )
    assert (got.low, got.high) == pytest.approx((want.low, want.high))
    assert "18 of 24 drawn outputs are judged" in got.notes[0]


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
def test_intervals_cover_when_a_sample_by_size_is_judged_in_part():
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
        [got] = study.estimate(rater_variance=0.0)
        covered += got.low <= score.mean() <= got.high
    assert binomtest(covered, runs, 0.95).pvalue > 0.001


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
