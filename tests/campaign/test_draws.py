from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from steelyard.campaign.draws import is_designed
from steelyard.errors import InvalidArgumentError, InvalidDataError, NotEstimableError
from steelyard.sampling.sample import sample
from steelyard.study import Study
from steelyard.tables import read_judgments, read_outputs

SIZE = 80
STRATA = {"strata": "length:3"}
BY_SIZE = {"size": "risk"}


@pytest.fixture
def pool():
    rng = np.random.default_rng(0)
    return read_outputs(
        pl.DataFrame(
            {
                "item": [f"i{item:02}" for item in range(SIZE)],
                "system": "s",
                "output": [f"text {item}" for item in range(SIZE)],
                "length": rng.normal(size=SIZE),
                "risk": rng.gamma(2.0, size=SIZE) + 0.2,
            }
        ),
        metrics=["length", "risk"],
    )


def judged(frame, carry=("probability", "stratum", "stratum_size", "design", "signature")):
    """Two judgments of each drawn output, by raters who differ."""
    rng = np.random.default_rng(1)
    twice = pl.concat([frame, frame])
    return read_judgments(
        twice.select(
            "item",
            "system",
            *carry,
            rater=pl.lit("r") + (pl.int_range(pl.len()) % 7).cast(pl.String),
            prompt=pl.lit("p"),
            score=pl.col("length") + pl.Series(rng.normal(size=twice.height)),
        )
    )


@pytest.mark.parametrize("how", [STRATA, BY_SIZE])
def test_each_output_counts_for_those_that_it_stands_for(pool, how):
    judgments = judged(sample(pool, 24, seed=1, **how).frame)
    assert is_designed(judgments)
    [got] = Study(pool, judgments).estimate([])
    frame = judgments.frame
    want = np.average(frame["score"], weights=1 / frame["probability"])
    assert got.baseline.estimate == pytest.approx(want, rel=1e-9)
    assert want != pytest.approx(frame["score"].mean())
    assert got.estimate == pytest.approx(want, abs=0.1 * got.standard_error)


def test_a_stratum_of_high_scores_that_was_drawn_often_moves_no_mean(pool):
    """A simple mean of these judgments would be 1.6; three quarters of the pool have 0."""
    rows = pool.rows().with_columns(high=pl.int_range(pl.len()) < SIZE // 4)
    drawn = pl.concat([rows.filter("high"), rows.filter(~pl.col("high")).head(5)])
    rng = np.random.default_rng(2)
    frame = drawn.select(
        "item",
        "system",
        rater=pl.lit("r"),
        prompt=pl.lit("p"),
        score=2.0 * pl.col("high") + 0.1 * pl.Series(rng.normal(size=drawn.height)),
        probability=pl.when("high").then(1.0).otherwise(5 / 60),
        stratum=pl.when("high").then(pl.lit("h")).otherwise(pl.lit("l")),
        stratum_size=pl.when("high").then(20).otherwise(60),
    )
    [got] = Study(pool, read_judgments(frame)).estimate([])
    assert got.low < 0.5 < got.high
    assert got.estimate == pytest.approx(0.5, abs=0.15)


def test_the_sample_file_brings_what_judgments_do_not_carry(pool):
    drawn = sample(pool, 24, seed=1, **STRATA).frame
    [want] = Study(pool, judged(drawn)).estimate()
    [got] = Study(pool, judged(drawn, carry=()), drawn=drawn).estimate()
    assert (got.estimate, got.low) == pytest.approx((want.estimate, want.low))
    # judgments of the earlier sample take the probabilities of the one that extends it
    larger = sample(pool, 40, seed=2, extend=drawn, **STRATA).frame
    [extended] = Study(pool, judged(larger, carry=()), drawn=larger).estimate()
    assert extended.n_outputs == 40


def test_a_simple_sample_is_one_even_if_not_all_of_it_was_judged(pool):
    drawn = sample(pool, 40, seed=1).frame.head(25)
    [recorded] = Study(pool, judged(drawn)).estimate()
    [bare] = Study(pool, judged(drawn, carry=())).estimate()
    assert (recorded.estimate, recorded.low) == pytest.approx((bare.estimate, bare.low))


def test_what_the_draw_does_not_allow_is_refused(pool):
    drawn = sample(pool, 24, seed=1).frame

    def estimated(judgments, **options):
        return Study(pool, judgments, **options).estimate()

    with pytest.raises(InvalidDataError, match=r"judgments, row 24: .*is judged but was not drawn"):
        estimated(judged(drawn, carry=()), drawn=drawn.head(23))
    with pytest.raises(NotEstimableError, match="draw a simple sample"):
        estimated(judged(drawn.with_columns(design=pl.lit("paired"))))
    cut = sample(pool, 24, seed=1, **STRATA).frame
    other = sample(pool, 24, seed=2, **STRATA).frame
    mixed = pl.concat([cut, other.join(cut, on="item", how="anti")])
    with pytest.raises(InvalidDataError, match="judgments come from two draws"):
        estimated(judged(mixed))
    first = pl.col("stratum") == "length 1/3"
    with pytest.raises(InvalidDataError, match="hold 53 outputs and the pool 80"):
        estimated(judged(cut.filter(~first)))
    one = cut.filter(~first | (pl.int_range(pl.len()).over("stratum") == 0))
    with pytest.raises(NotEstimableError, match="prompt 'p', system 's': stratum 'length 1/3'"):
        estimated(judged(one))


def test_one_output_has_one_probability(pool):
    frame = judged(sample(pool, 24, seed=1, **BY_SIZE).frame).frame
    once = frame.with_columns(
        probability=pl.col("probability") + 0.01 * (pl.int_range(pl.len()) == 0)
    )
    with pytest.raises(InvalidDataError, match="`probability` must be the same for all judgments"):
        Study(pool, read_judgments(once)).estimate()


def test_a_sample_by_size_that_is_judged_in_part_is_the_first_of_the_draw(pool):
    drawn = sample(pool, 24, seed=1, **BY_SIZE).frame
    [got] = Study(pool, judged(drawn.filter(pl.col("draw") <= 18))).estimate()
    assert "18 of 24 drawn outputs are judged" in got.notes[0]


@pytest.mark.parametrize("how", [{}, STRATA])
def test_outputs_that_are_judged_but_were_not_drawn_are_refused(pool, how):
    drawn = sample(pool, 24, seed=1, **how).frame
    study = Study(pool, judged(pool.rows().head(30), carry=()))
    with pytest.raises(InvalidDataError, match="is judged but was not drawn"):
        replace(study, drawn=drawn).estimate()


def test_prompts_may_have_simple_samples_of_their_own(pool):
    parts = [
        judged(sample(pool, n, seed=n).frame).frame.with_columns(prompt=pl.lit(prompt))
        for prompt, n in (("p", 24), ("q", 40))
    ]
    study = Study(pool, read_judgments(pl.concat(parts)))
    assert not is_designed(study.judgments)
    assert [one.n_outputs for one in study.estimate(["length"])] == [24, 40]


def test_prompts_and_systems_are_chosen(pool):
    study = Study(pool, judged(sample(pool, 24, seed=1, **STRATA).frame))
    with pytest.raises(InvalidArgumentError, match="prompt 'q' has no judgments"):
        study.estimate(prompts=["q"])
    assert len(study.estimate(prompts=["p"], systems=["s"])) == 1


@pytest.mark.slow
def test_intervals_cover_when_a_sample_by_size_is_judged_in_part():
    rng = np.random.default_rng(5)
    runs, size, covered = 400, 300, 0
    metric = rng.normal(size=size)
    rows = pl.DataFrame(
        {
            "item": [f"{item:03}" for item in range(size)],
            "system": "s",
            "output": "text",
            "size": np.exp(metric / 2),
        }
    )
    outputs = read_outputs(rows, metrics=["size"])
    for run in range(runs):
        score = metric + rng.normal(size=size)
        drawn = sample(outputs, 200, size="size", seed=run).frame
        scores = rows.select("item", score=pl.Series(score))
        first = drawn.filter(pl.col("draw") <= 110).join(scores, on="item")
        judgments = first.select(
            "item", "system", "score", "probability", "stratum", "stratum_size", "design"
        ).with_columns(first["signature"], rater=pl.lit("r"), prompt=pl.lit("p"))
        [got] = Study(outputs, read_judgments(judgments)).estimate()
        covered += got.low <= score.mean() <= got.high
    # 200 of 300 outputs are drawn, which intervals for unequal chances do not count: they are rather too long
    assert binomtest(covered, runs, 0.95, "less").pvalue > 0.001
