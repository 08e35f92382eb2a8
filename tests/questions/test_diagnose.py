import numpy as np
import polars as pl
import pytest
from benchmarks.judges import World, made, replay
from scipy.stats import binomtest

from steelyard import Study
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.questions.judge_moments import Value
from steelyard.questions.trust_gate import trust_answer
from steelyard.sampling.sample import sample
from steelyard.tables import read_outputs


def diagnosis(world, seed=0, **options):
    return made(world, np.random.default_rng(seed)).study.diagnose(**options)[0]


@pytest.fixture(scope="module")
def biased():
    """A judge that loves words and the last system."""
    world = World("both", long=0.4, favourite=0.8)
    return diagnosis(world, against="length", own=["D", "E"])


def test_a_judge_that_favours_a_system_and_words_is_said_to(biased):
    [judge] = biased.judges
    assert [one.system for one in judge.favours] == ["E"]
    assert [one.column for one in judge.biases if one.is_clear] == ["length"]
    assert judge.sentence.startswith("`judge` favours E by 0.")
    assert "gives more for length than people do" in judge.sentence
    assert "prefers its own family (D, E) by" in judge.sentence
    assert judge.sentence.endswith("of your judgments; do not gate on it alone.")
    assert biased.sentence == judge.sentence


def test_a_fair_judge_shows_no_bias():
    [judge] = diagnosis(World("no bias"), 1, against="length").judges
    assert "shows no bias; it may still favour a system by up to" in judge.sentence
    assert "alone" not in judge.sentence
    assert judge.ranks.wrong == ()
    assert judge.worth.low > 0.05


def test_a_judge_that_compresses_the_scale_is_said_to():
    [judge] = diagnosis(World("compressed", scale=0.4, noise=0.3), 2).judges
    assert judge.is_compressed
    assert "compresses the scale: 1 point among people is 0." in judge.sentence


def test_offsets_are_against_the_other_systems_and_add_to_nothing(biased):
    [judge] = biased.judges
    assert sum(one.offset.value for one in judge.offsets) == pytest.approx(0)
    shown = [one.on_human_scale - one.human.value for one in judge.offsets]
    others = [one - (sum(shown) - one) / 4 for one in shown]
    assert [one.offset.value for one in judge.offsets] == pytest.approx(others)


def test_another_scale_of_the_judge_changes_nothing_but_its_own_numbers():
    study = made(World("any", favourite=0.5), np.random.default_rng(3)).study
    rows = study.outputs.rows(columns=["item", "system", "judge"])
    judged = study.judgments.frame.select("item", "system", "rater", "prompt", "score")
    turned = rows.with_columns(judge=70 - 10 * pl.col("judge"))
    here, there = (Study.read(one, judged).diagnose()[0].judges[0] for one in (rows, turned))
    for one, other in zip(here.offsets, there.offsets, strict=True):
        assert one.offset.value == pytest.approx(other.offset.value, rel=1e-6)
        assert one.on_human_scale == pytest.approx(other.on_human_scale, rel=1e-6)
    assert here.correlation.value == pytest.approx(-there.correlation.value)
    assert here.worth.value == pytest.approx(there.worth.value, abs=1e-4)
    assert here.ranks == there.ranks
    assert here.kappa is not None
    assert (there.kappa, there.scale) == (None, None)


def test_correlations_and_alpha_are_those_of_the_textbook():
    # three outputs judged twice: within 0.5, 0 and 0.5; metric and means go together
    outputs = pl.DataFrame({"item": range(8), "system": "s", "m": [1.0, 2, 4, 5, 7, 3, 3, 3]})
    scores = [1, 2, 2, 2, 4, 5, 4, 4, 6, 7]
    rows = pl.DataFrame({"item": np.repeat(range(5), 2), "system": "s", "prompt": "p"})
    rows = rows.with_columns(score=pl.Series(scores, dtype=pl.Float64))
    [found] = Study.read(outputs, rows).diagnose()
    human = np.array([1.5, 2, 4.5, 4, 6.5])
    noise = 3 * 0.5 / 5
    signal = human.var(ddof=1) - noise / 2
    metric = np.array([1.0, 2, 4, 5, 7])
    both = np.cov(human, metric)[0, 1]
    [judge] = found.judges
    assert judge.correlation.value == pytest.approx(
        min(both / np.sqrt(signal * metric.var(ddof=1)), 1)
    )
    assert found.noise_share.value == pytest.approx(noise / (noise + signal))
    assert found.agreement.value == pytest.approx(1 - noise / (human.var() + noise / 2))


def test_pass_and_fail_have_sensitivity_and_specificity_over_the_pool():
    outputs = pl.DataFrame({"item": range(40), "system": "s", "j": [1.0, 0.0] * 20})
    judged = [(i, r, float((i % 2 == 0) != (i in {2, 5}))) for i in range(12) for r in "ab"]
    rows = pl.DataFrame(judged, ["item", "rater", "score"], orient="row")
    rows = rows.with_columns(system=pl.lit("s"), prompt=pl.lit("p"))
    [judge] = Study.read(outputs, rows).diagnose()[0].judges
    # 5 of 6 outputs that the judge passes are right, and 5 of 6 that it fails
    assert judge.pass_fail.sensitivity.value == pytest.approx(5 / 6)
    assert judge.pass_fail.specificity.value == pytest.approx(5 / 6)
    assert [one.human.value for one in judge.calibration] == pytest.approx([1 / 6, 5 / 6])


def test_without_second_judgments_noise_is_said_to_be_unknown():
    study = made(World("any"), np.random.default_rng(4)).study
    once = study.judgments.frame.unique(["item", "system"], keep="first", maintain_order=True)
    rows = study.outputs.rows(columns=["item", "system", "judge"])
    [found] = Study.read(rows, once.select("item", "system", "rater", "prompt", "score")).diagnose()
    assert any("hardly any output has a second judgment" in note for note in found.notes)
    assert "judged by a second rater" in found.holds_back
    [judge] = found.judges
    assert judge.scale is None
    assert not found.agreement.is_known
    assert judge.correlation.is_known


def test_raters_are_named_with_their_leniency():
    rng = np.random.default_rng(5)
    score = rng.normal(size=60)
    rows = [
        (i, rater, score[i] + (1.0 if rater == "kind" else 0.0) + 0.3 * rng.normal())
        for i in range(60)
        for rater in ("kind", "strict")
    ]
    judged = pl.DataFrame(rows, ["item", "rater", "score"], orient="row")
    judged = judged.with_columns(system=pl.lit("s"), prompt=pl.lit("p"))
    outputs = pl.DataFrame({"item": range(80), "system": "s", "m": np.r_[score, np.zeros(20)]})
    [found] = Study.read(outputs, judged).diagnose()
    assert [one.rater for one in found.raters] == ["kind", "strict"]
    apart = found.raters[0].leniency.value - found.raters[1].leniency.value
    assert apart == pytest.approx(1.0, abs=0.15)
    assert sum(one.share.value for one in found.variances) == pytest.approx(1)


def test_no_metric_and_one_system_are_no_trouble():
    study = made(World("any"), np.random.default_rng(6)).study
    [found] = study.diagnose([])
    assert found.judges == ()
    assert "There is no metric" in found.holds_back
    rows = study.outputs.rows(columns=["item", "system", "judge"]).filter(pl.col("system") == "A")
    judged = study.judgments.frame.select("item", "system", "rater", "prompt", "score")
    [alone] = Study.read(rows, judged.filter(pl.col("system") == "A")).diagnose()
    [judge] = alone.judges
    assert judge.ranks is None
    assert judge.offsets[0].offset is None


def test_a_constant_metric_is_said():
    study = made(World("any"), np.random.default_rng(6)).study
    rows = study.outputs.rows(columns=["item", "system", "judge"]).with_columns(flat=pl.lit(1.0))
    judged = study.judgments.frame.select("item", "system", "rater", "prompt", "score")
    [found] = Study.read(rows, judged).diagnose()
    assert [one.metric for one in found.judges] == ["judge"]
    assert any("flat is constant on the judged outputs" in note for note in found.notes)


def test_judgments_that_are_all_equal_are_refused():
    outputs = pl.DataFrame({"item": range(20), "system": "s", "m": range(20)})
    judged = pl.DataFrame({"item": range(10), "system": "s", "prompt": "p", "score": 3.0})
    with pytest.raises(NotEstimableError, match="all judgments of each system are equal"):
        Study.read(outputs, judged).diagnose()


def drawn_study(**design):
    """A study of a draw of 40 outputs of each system from 100, judged twice each."""
    rng = np.random.default_rng(0)
    outputs = pl.DataFrame(
        [
            {"item": f"i{i}", "system": system, "output": f"{i} {i % 2 and system}", "m": float(m)}
            for system in "AB"
            for i, m in enumerate(rng.uniform(1, 2, size=100))
        ]
    )
    drawn = sample(read_outputs(outputs), 40, seed=1, **design).frame.drop("output", "m")
    metric = drawn.join(outputs, on=["item", "system"], how="left", maintain_order="left")["m"]
    judged = [
        drawn.with_columns(rater=pl.lit(rater), prompt=pl.lit("p")).with_columns(
            score=metric + pl.Series(rng.normal(0, 0.8, size=drawn.height))
        )
        for rater in "rs"
    ]
    return Study.read(outputs, pl.concat(judged))


def test_strata_are_weighted_as_they_were_drawn_and_a_paired_draw_is_refused():
    strata = {"strata": "m:4"}
    simple, weighted = (drawn_study(**one).diagnose()[0].judges[0] for one in ({}, strata))
    assert weighted.worth.low < simple.worth.value < weighted.worth.high
    with pytest.raises(NotEstimableError, match="a paired draw holds only items on which two"):
        drawn_study(pair=("A", "B")).diagnose()


def test_columns_and_systems_that_are_not_there_are_named():
    study = made(World("any"), np.random.default_rng(6)).study
    with pytest.raises(InvalidArgumentError, match="`against` must be columns of"):
        study.diagnose(against="nowhere")
    with pytest.raises(InvalidArgumentError, match="`own` must be systems of"):
        study.diagnose(own="Z")


def test_words_of_texts_are_looked_at_by_themselves():
    study = made(World("long", long=0.6), np.random.default_rng(7)).study
    rows = study.outputs.rows(columns=["item", "system", "judge", "length"])
    texts = rows.with_columns(
        output=pl.concat_str("item", "system", separator=" ")
        + pl.lit(" word").repeat_by(pl.col("length").cast(pl.Int64)).list.join("")
    ).drop("length")
    judged = study.judgments.frame.select("item", "system", "rater", "prompt", "score")
    [found] = Study.read(texts, judged).diagnose()
    [bias] = found.judges[0].biases
    assert (bias.column, bias.is_clear) == ("words", True)
    assert bias.bias.value > 0.2


def test_a_gate_holds_fails_or_says_what_would_decide(biased):
    assert trust_answer([biased], worth=0.005, offset=None)[0] == "holds"
    answer, words = trust_answer([biased], worth=None, offset=0.1)
    assert answer == "fails"
    assert "it favours E by" in words
    [judge] = biased.judges
    answer, words = trust_answer([biased], worth=judge.worth.value * 1.05, offset=None)
    assert answer == "undecided"
    assert "near the limit" in words or "more judgments of all systems would decide" in words


def test_a_value_without_an_interval_is_not_known():
    assert not Value(1.0, float("nan"), 2.0).is_known
    assert not Value(float("nan"), 0.0, 1.0).excludes_zero
    assert Value(1.0, 0.5, 2.0).excludes_zero


def test_disagreements_name_outputs_raters_and_texts():
    study = made(World("any"), np.random.default_rng(8)).study
    rows = study.disagreements(3)
    assert [row.who for row in rows] == ["judge"] * 3 + ["people"] * 3
    sizes = [abs(row.difference) for row in rows]
    assert sizes[:3] == sorted(sizes[:3], reverse=True)
    first = rows[0]
    judged = study.judgments.frame.filter(
        (pl.col("item") == first.item) & (pl.col("system") == first.system)
    )
    assert first.human == pytest.approx(judged["score"].mean())
    assert first.scores.split(", ")[0] == f"{judged['rater'][0]}={judged['score'][0]:g}"
    assert all("," in row.scores for row in rows[3:])


@pytest.mark.slow
def test_intervals_hold_and_biases_are_named_when_they_are_there():
    rng = np.random.default_rng(9)
    found = [replay(World("x", long=0.2, favourite=0.4), rng) for _ in range(60)]
    for name in ("correlation", "scale", "length", "offsets"):
        assert np.mean([one[name] for one, _ in found]) >= 0.88
    assert np.mean([one["length"] for _, one in found]) >= 0.9
    assert np.mean([one["favourite"] for _, one in found]) >= 0.6
    fair = [replay(World("x"), rng)[1] for _ in range(60)]
    for name in ("any system", "family", "compressed"):
        assert binomtest(sum(one[name] for one in fair), 60, 0.05).pvalue > 0.01


@pytest.mark.slow
def test_a_bias_of_length_that_is_not_there_is_named_in_one_case_of_twenty():
    rng = np.random.default_rng([1, 7])
    studies = (made(World("x"), rng).study for _ in range(250))
    found = [one.diagnose(against="length")[0].judges[0].biases[0] for one in studies]
    assert binomtest(sum(one.is_clear for one in found), 250, 0.05).pvalue > 0.01
