from dataclasses import asdict

import numpy as np
import polars as pl
import pytest

from steelyard import Study
from steelyard.errors import InvalidArgumentError, InvalidDataError, NotEstimableError
from steelyard.questions.preferences import PreferenceComparison
from steelyard.tables import read_judgments, read_outputs


def preferences(strength=(1.0, 0.0, -1.0), *, size=60, n=30, raters=6, order=0.0, same=0, seed=0):
    """Outputs and preferences of systems A, B, ..., one row a judgment."""
    rng = np.random.default_rng(seed)
    names = "ABCDEF"[: len(strength)]
    outputs, rows = [], []
    for item in range(size):
        for name in names:
            text = f"same {item}" if item < same else f"{item} of {name}"
            outputs.append({"item": item, "system": name, "output": text, "length": rng.normal()})
    for item in rng.permutation(size)[:n]:
        for a, first in enumerate(names):
            for b in range(a + 1, len(names)):
                ahead = rng.random() < 0.5
                lead = strength[a] - strength[b] + (order if ahead else -order)
                lead += rng.logistic()
                score = 1.0 if lead > 0.5 else 0.0 if lead < -0.5 else 0.5
                rows.append(
                    {
                        "item": int(item),
                        "system": first,
                        "other_system": names[b],
                        "rater": f"r{rng.integers(raters)}",
                        "prompt": "better",
                        "score": score,
                        "first_system": first if ahead else names[b],
                    }
                )
    return pl.DataFrame(outputs), pl.DataFrame(rows)


def study(outputs, rows):
    return Study(read_outputs(outputs), read_judgments(rows))


def mirrored(rows):
    other = rows.with_columns(
        system="other_system", other_system="system", score=1 - pl.col("score")
    )
    return pl.concat([rows, other.select(rows.columns)])


def test_preferences_are_compared_with_strengths_and_a_sentence():
    outputs, rows = preferences(n=60)
    [got] = study(outputs, rows).compare()
    assert isinstance(got, PreferenceComparison)
    assert [one.system for one in got.strengths] == ["A", "B", "C"]
    assert [(pair.a, pair.b) for pair in got.pairs] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert got.pairs[1].verdict == "a"
    assert "A" in got.sentence
    assert got.about.raters == "raters like these"
    found = got.to_dict()
    assert {"prompt", "pairs", "strengths", "order_effect"} <= set(found)
    assert list(found["pairs"][0]["win"]) == ["value", "low", "high"]
    assert list(found["strengths"][0]) == ["system", "strength", "standard_error", "low", "high"]


def test_a_judgment_may_be_there_once_or_for_both_systems():
    outputs, rows = preferences()
    [once] = study(outputs, rows).compare()
    [twice] = study(outputs, mirrored(rows)).compare()
    assert twice.to_dict() == once.to_dict()


def test_the_order_of_rows_does_not_matter():
    outputs, rows = preferences()
    [got] = study(outputs, rows).compare(pair=("A", "B"))
    [shuffled] = study(outputs, rows.sample(fraction=1, shuffle=True, seed=1)).compare(
        pair=("A", "B")
    )
    one, other = got.pairs[0], shuffled.pairs[0]
    assert asdict(one.win) == pytest.approx(asdict(other.win), rel=1e-4)
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-4)


def test_a_pair_is_seen_from_the_system_that_is_named_first():
    outputs, rows = preferences()
    [got] = study(outputs, rows).compare(pair=("A", "B"))
    [turned] = study(outputs, rows).compare(pair=("B", "A"))
    [one], [other] = got.pairs, turned.pairs
    assert (other.a, other.b) == ("B", "A")
    assert other.difference == pytest.approx(-one.difference)
    assert asdict(other.win) == pytest.approx(asdict(one.loss))
    assert turned.strengths == ()
    assert turned.order_effect.effect == pytest.approx(got.order_effect.effect)


def test_a_baseline_is_compared_with_every_other_system():
    outputs, rows = preferences()
    [got] = study(outputs, rows).compare(baseline="B")
    assert [(pair.a, pair.b) for pair in got.pairs] == [("A", "B"), ("C", "B")]


def test_identical_outputs_tie_without_a_judgment_and_judged_ones_are_left_out():
    outputs, rows = preferences(same=20)
    [got] = study(outputs, rows).compare()
    dropped = rows.filter(pl.col("item") < 20).height
    assert any(f"{dropped} judgments are of identical outputs" in note for note in got.notes)
    assert all(pair.identical_items == 20 for pair in got.pairs)
    assert all(pair.tie.low >= 1 / 3 for pair in got.pairs)


def test_a_copy_of_a_system_ties_with_it_for_sure():
    outputs, rows = preferences((1.0, 0.0))
    copy = outputs.filter(pl.col("system") == "A").with_columns(system=pl.lit("Z"))
    judged = rows.with_columns(system=pl.col("system").replace("A", "Z"))
    judged = judged.with_columns(first_system=pl.col("first_system").replace("A", "Z"))
    everything = pl.concat([rows, judged])
    [got] = study(pl.concat([outputs, copy]), everything).compare()
    [pair] = [one for one in got.pairs if {one.a, one.b} == {"A", "Z"}]
    assert (pair.low, pair.high, pair.verdict, pair.words) == (0, 0, "equivalent", "identical")


def test_an_order_effect_is_found_and_said():
    outputs, rows = preferences((0.0, 0.0), n=60, order=2.0)
    [got] = study(outputs, rows).compare()
    assert got.order_effect.effect > 0.2
    assert got.order_sentence.startswith("Order: the output shown first is preferred more often")
    assert "about equally often" in got.order_sentence


def test_an_unknown_or_unchanging_or_unbalanced_order_is_said():
    outputs, rows = preferences((0.0, 0.0), n=60, order=1.0)
    [got] = study(outputs, rows.drop("first_system")).compare()
    assert got.order_effect is None
    assert "is not known (column first_system)" in got.order_sentence
    [got] = study(outputs, rows.with_columns(first_system=pl.lit("A"))).compare()
    assert "always shown first" in got.order_sentence
    assert any("A was shown first in 100%" in note for note in got.notes)
    index = pl.int_range(pl.len())
    mostly = rows.with_columns(
        first_system=pl.when(index % 6 == 0).then(pl.lit("A")).otherwise(pl.lit("B"))
    )
    [got] = study(outputs, mostly).compare()
    assert any("that moved its wins minus losses by about" in note for note in got.notes)


def test_preferences_that_go_round_in_a_circle_are_said_to():
    outputs, rows = preferences((1.0, 0.0, -1.0), n=60)
    beaten = (pl.col("system") == "A") & (pl.col("other_system") == "C")
    turned = rows.with_columns(
        score=pl.when(beaten).then(1 - pl.col("score")).otherwise(pl.col("score"))
    )
    [straight], [circle] = study(outputs, rows).compare(), study(outputs, turned).compare()
    assert not any("in a circle" in note for note in straight.notes)
    [said] = [note for note in circle.notes if "in a circle" in note]
    assert said.startswith(
        "preferences go round in a circle: A is preferred to B, B to C, and C to A."
    )


def test_shares_of_clear_wins_stay_between_0_and_1():
    outputs, rows = preferences((9.0, -9.0), n=20)
    [pair] = study(outputs, rows).compare()[0].pairs
    assert (pair.win.value, pair.tie.value, pair.loss.value) == (1.0, 0.0, 0.0)
    assert pair.low <= pair.difference <= pair.high == 1.0


def test_a_system_that_never_won_has_a_strength_too():
    outputs, rows = preferences()
    beaten = rows.with_columns(
        score=pl.when(pl.col("other_system") == "C").then(1.0).otherwise("score")
    )
    [got] = study(outputs, beaten).compare()
    assert got.strengths[-1].system == "C"
    assert len(got.pairs) == 3
    assert sum(one.strength for one in got.strengths) == pytest.approx(0)


def test_a_system_that_stands_only_as_the_other_one_is_there_like_any_other():
    outputs, rows = preferences()
    assert "C" not in set(rows["system"])
    [got] = study(outputs, rows).compare()
    assert {one.system for one in got.strengths} == {"A", "B", "C"}
    [alone] = study(outputs, rows).compare(baseline="C")
    assert [(pair.a, pair.b) for pair in alone.pairs] == [("A", "C"), ("B", "C")]


def test_wins_ties_and_losses_are_shown_as_they_were_judged():
    outputs, rows = preferences((1.0, 0.0), n=40)
    [pair] = study(outputs, rows).compare()[0].pairs
    shares = [(rows["score"] == score).mean() for score in (1.0, 0.5, 0.0)]
    assert [one.value for one in (pair.win, pair.tie, pair.loss)] == pytest.approx(shares)
    assert all(one.low < one.value < one.high for one in (pair.win, pair.tie, pair.loss))


def test_groups_that_were_never_compared_have_no_strengths():
    outputs, rows = preferences((0.0, 0.0, 0.0, 0.0))
    pairs = rows.filter(
        ((pl.col("system") == "A") & (pl.col("other_system") == "B"))
        | ((pl.col("system") == "C") & (pl.col("other_system") == "D"))
    )
    [got] = study(outputs, pairs).compare()
    assert any("no judgment compares any of A, B with any of C, D" in note for note in got.notes)
    assert got.sentence.startswith("A and B cannot be told apart: they differ by ")
    with pytest.raises(NotEstimableError, match="no judgment compares 'A' with 'C'"):
        study(outputs, pairs).compare(pair=("A", "C"))


def test_prompts_with_scores_and_with_preferences_stand_side_by_side():
    outputs, rows = preferences((1.0, 0.0))
    scores = pl.DataFrame(
        {
            "item": [item for item in range(20) for _ in "AB"],
            "system": ["A", "B"] * 20,
            "rater": "r1",
            "prompt": "overall",
            "score": np.random.default_rng(0).normal(size=40),
        }
    )
    both = study(outputs, pl.concat([scores, rows], how="diagonal"))
    scored, preferred = both.compare(raters="fixed")
    assert (scored.prompt, preferred.prompt) == ("overall", "better")
    assert not isinstance(scored, PreferenceComparison)
    assert {one.prompt for one in both.estimate()} == {"overall"}
    with pytest.raises(NotEstimableError, match="use `steelyard compare`"):
        both.estimate(prompts=["better"])
    with pytest.raises(NotEstimableError, match="use `steelyard compare`"):
        both.plan(prompt="better", half_width=0.1)


def broken(column, value, *, row=3):
    index = pl.int_range(pl.len())
    outputs, rows = preferences()
    changed = pl.when(index == row).then(pl.lit(value)).otherwise(column)
    return outputs, rows.with_columns(changed.alias(column))


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("score", 0.7, "row 4, column score: expected 1 if the system was preferred"),
        ("score", -1.0, "column score"),
        ("other_system", None, "column other_system: expected the system that this one"),
        ("first_system", "Q", "column first_system: expected one of the two systems"),
    ],
)
def test_a_row_that_is_no_preference_is_named(column, value, words):
    with pytest.raises(InvalidDataError, match=words):
        study(*broken(column, value)).compare()


def test_a_system_against_itself_is_refused():
    outputs, rows = preferences((1.0, 0.0))
    itself = rows.with_columns(other_system=pl.lit("A"), first_system=pl.lit("A"))
    with pytest.raises(InvalidDataError, match="another system than in column system"):
        study(outputs, itself).compare()


def test_two_rows_of_one_judgment_must_agree():
    outputs, rows = preferences((1.0, 0.0))
    both = mirrored(rows).with_columns(score=pl.lit(1.0))
    with pytest.raises(InvalidDataError, match="contradict each other"):
        study(outputs, both).compare()


def test_an_output_that_is_not_in_the_pool_is_named():
    outputs, rows = preferences((1.0, 0.0))
    item = str(rows["item"][0])
    pool = outputs.filter(~((pl.col("item") == rows["item"][0]) & (pl.col("system") == "B")))
    with pytest.raises(InvalidDataError, match=f"item '{item}' by system 'B' is judged but not in"):
        study(pool, rows).compare()


def test_draws_with_unequal_probabilities_are_refused():
    outputs, rows = preferences((1.0, 0.0))
    chance = np.linspace(0.1, 0.9, rows.height)
    with pytest.raises(NotEstimableError, match="unequal probabilities"):
        study(outputs, rows.with_columns(probability=chance)).compare()


def test_a_rater_may_compare_one_output_with_several_but_each_once():
    outputs, rows = preferences()
    one = rows.with_columns(rater=pl.lit("ann"))
    assert study(outputs, one).judgments.systems == ("A", "B", "C")
    with pytest.raises(InvalidDataError, match="already on"):
        study(outputs, pl.concat([one, one[:1]]))


def test_one_rater_is_exactly_this_one():
    outputs, rows = preferences((1.0, 0.0), raters=1)
    [got] = study(outputs, rows).compare()
    assert got.about.raters == "exactly these raters"
    assert any("only one rater is known" in note for note in got.notes)


def test_slices_and_clusters_of_preferences_are_refused():
    outputs, rows = preferences((1.0, 0.0))
    with pytest.raises(InvalidArgumentError, match="`by` cannot go with prompt 'better'"):
        study(outputs, rows).compare(by="length")


def test_an_unbalanced_order_moves_no_difference():
    outputs, rows = preferences((0.0, 0.0), n=60, order=1.5, seed=3)
    lead = pl.when(pl.col("first_system") == "A").then(pl.col("item") % 10 != 0)
    mostly = rows.filter(lead.otherwise(pl.col("item") % 10 == 0))
    [got] = study(outputs, mostly).compare()
    [pair] = got.pairs
    raw = pair.win.value - pair.loss.value
    assert abs(pair.difference) < abs(raw)
    assert pair.low < 0 < pair.high
    assert any("which the difference is corrected for" in note for note in got.notes)
