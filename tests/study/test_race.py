import numpy as np
import polars as pl
import pytest

from steelyard.design.race import Race, RaceControl, RaceOptions
from steelyard.errors import (
    InvalidArgumentError,
    InvalidDataError,
    NotEstimableError,
    UnknownNameError,
)
from steelyard.study import Study

MEANS = {"alpha": 0.7, "beta": 0.4, "gamma": 0.66}


@pytest.fixture
def tables():
    """Three systems of 300 items, all judged, with the number of each item in the draw."""
    rng = np.random.default_rng(0)
    draw = rng.permutation(300) + 1
    outputs, judgments = [], []
    for system, mean in MEANS.items():
        for item in range(300):
            outputs.append({"item": f"i{item}", "system": system, "output": f"{system} {item}"})
            judgments.append(
                {
                    "item": f"i{item}",
                    "system": system,
                    "rater": f"r{item % 4}",
                    "prompt": "overall",
                    "score": float(np.clip(mean + 0.2 * rng.normal(), 0, 1)),
                    "draw": int(draw[item]),
                }
            )
    return pl.DataFrame(outputs), pl.DataFrame(judgments)


def study(outputs, judgments):
    return Study.read(outputs, judgments)


def test_losers_are_out_and_the_best_is_named(tables):
    outputs, judgments = tables
    found = study(outputs, judgments).race()["overall"]
    assert (found.decided, found.stop, found.winner) == (True, True, "alpha")
    assert found.answer == "alpha is the best of 3 systems."
    states = {one.system: (one.state, one.out_by) for one in found.systems}
    assert states["alpha"] == ("in", None)
    assert states["gamma"] == ("out", "alpha")
    beta = found.systems[-1]
    assert beta.system == "beta"
    assert beta.out_at < 50
    assert beta.n_items == beta.out_at
    assert found.expected_more == 0
    assert found.judgments == sum(one.n_items for one in found.systems)
    assert "exactly" in found.claim


def test_judgments_are_needed_only_of_those_that_are_in(tables):
    outputs, judgments = tables
    whole = study(outputs, judgments).race()["overall"]
    gone = {one.system: one.out_at or 300 for one in whole.systems}
    kept = judgments.filter(
        pl.col("draw") <= pl.col("system").replace_strict(gone, return_dtype=pl.Int64)
    )
    again = study(outputs, kept).race()["overall"]
    assert again.systems == whole.systems


def test_a_race_waits_for_a_system_that_is_in(tables):
    outputs, judgments = tables
    held = judgments.filter(
        (pl.col("draw") <= 12) & ~((pl.col("draw") == 5) & (pl.col("system") == "beta"))
    )
    found = study(outputs, held).race()["overall"]
    assert found.n_items == 4
    assert not found.stop
    assert found.expected_more > 0
    assert any("is not complete for beta" in note for note in found.notes)


def test_money_is_that_of_the_judgments_that_are_left(tables):
    outputs, judgments = tables
    early = study(outputs, judgments.filter(pl.col("draw") <= 30))
    found = early.race(judgment_price=0.25)["overall"]
    assert found.expected_cost == pytest.approx(0.25 * found.expected_more)
    twice = pl.concat([judgments, judgments.with_columns(rater=pl.col("rater") + "x")])
    each = study(outputs, twice.filter(pl.col("draw") <= 30)).race(judgments_per_output=2)[
        "overall"
    ]
    assert each.expected_more == 2 * found.expected_more
    assert each.judgments == 2 * found.judgments


def test_order_and_difference_decide_pairs(tables):
    outputs, judgments = tables
    [order] = study(outputs, judgments).race("order")
    assert order.answer == "The order is known: alpha > gamma > beta."
    assert {(one.a, one.b): one.verdict for one in order.pairs} == {
        ("alpha", "beta"): "a",
        ("alpha", "gamma"): "a",
        ("beta", "gamma"): "b",
    }
    assert [(one.rank_low, one.rank_high) for one in order.systems] == [(1, 1), (2, 2), (3, 3)]
    [pairs] = study(outputs, judgments).race("difference", margin=0.2)
    assert {(one.a, one.b): one.verdict for one in pairs.pairs}["alpha", "gamma"] == "equivalent"
    assert pairs.n_items < order.n_items


def test_systems_with_the_same_texts_are_equally_good_and_end_a_race(tables):
    outputs, judgments = tables
    same = outputs.with_columns(
        output=pl.when(pl.col("system") == "beta").then("output").otherwise("item")
    )
    scores = judgments.filter(pl.col("system") == "alpha").select("item", alpha="score")
    shared = judgments.join(scores, on="item", maintain_order="left").with_columns(
        score=pl.when(pl.col("system") == "beta").then("score").otherwise("alpha")
    )
    found = study(same, shared.drop("alpha")).race()["overall"]
    assert (found.decided, found.winner) == (True, "alpha")
    assert found.n_items < 100
    assert found.answer == "alpha is the best of 3 systems, as is gamma with the same texts."
    ranks = {one.system: (one.rank_low, one.rank_high) for one in found.systems}
    assert ranks == {"alpha": (1, 2), "gamma": (1, 2), "beta": (3, 3)}
    assert any("same text for every item" in note for note in found.notes)
    order = study(same, shared.drop("alpha")).race("order")["overall"]
    assert order.answer == "The order is known: alpha = gamma > beta."
    verdicts = {(one.a, one.b): one.verdict for one in order.pairs}
    assert verdicts["alpha", "gamma"] == "equivalent"


def test_a_tie_that_only_the_whole_pool_shows_is_said(tables):
    outputs, judgments = tables
    turned = judgments.with_columns(
        score=pl.when(pl.col("system") == "beta")
        .then(0.0)
        .otherwise((pl.col("draw") + (pl.col("system") == "gamma")) % 2)
    )
    found = study(outputs, turned).race()["overall"]
    assert (found.decided, found.stop, found.expected_more) == (False, True, 0)
    assert found.answer == "Everything is judged, and alpha is tied for the best with gamma."
    order = study(outputs, turned).race("order")["overall"]
    assert order.answer == "Everything is judged, and 1 of 3 pairs are tied."


def test_the_count_of_open_pairs_and_the_table_go_by_what_is_known(tables):
    outputs, judgments = tables
    found = study(outputs, judgments.filter(pl.col("draw") <= 60)).race("difference", margin=0.05)
    [race] = found
    undecided = sum(one.verdict == "undecided" for one in race.pairs)
    assert undecided > 0
    assert race.answer == f"Not known yet: {undecided} of 3 pairs are not decided."
    ranks = [(one.rank_low, one.rank_high) for one in race.systems]
    assert ranks == sorted(ranks)
    assert race.systems[0].behind == 0


def test_nothing_complete_is_no_error_and_levels_are_said_as_they_are(tables):
    outputs, judgments = tables
    found = study(outputs, judgments).race(judgments_per_output=2, level=0.999)["overall"]
    assert found.answer == "Not known yet: no item is complete for all systems."
    assert found.expected_more is None
    assert found.claim.startswith("In 99.9% of campaigns")


def test_scores_without_bounds_run_an_asymptotic_race(tables):
    outputs, judgments = tables
    wide = study(outputs, judgments.with_columns(score=100 * pl.col("score")))
    [found] = wide.race(method="asymptotic", bounds=None)
    assert found.guarantee == "asymptotic"
    assert "approximately" in found.claim
    assert found.systems[0].system == "alpha"
    assert all(one.out_at is None or one.out_at >= 50 for one in found.systems)


def test_the_order_of_the_file_counts_where_no_draw_is_recorded(tables):
    outputs, judgments = tables
    drawn = study(outputs, judgments).race()["overall"]
    plain = judgments.sort("draw", maintain_order=True).drop("draw")
    assert study(outputs, plain).race()["overall"].systems == drawn.systems


def test_races_print_as_a_table_and_are_indexed_by_prompt(tables):
    found = study(*tables).race()
    assert "alpha" in str(found)
    assert found.to_frame()["system"].to_list()[0] == "alpha"
    assert repr(found) == "<Races of 1: prompt overall>"
    with pytest.raises(UnknownNameError, match="no race has prompt 'other'; there are: overall"):
        found["other"]


def test_what_cannot_be_raced_is_refused(tables):
    outputs, judgments = tables
    with pytest.raises(InvalidArgumentError, match="at least two that are judged"):
        study(outputs, judgments).race(systems=["alpha"])
    with pytest.raises(InvalidDataError, match="outputs of all systems for the same items"):
        study(
            outputs.filter((pl.col("item") != "i7") | (pl.col("system") != "beta")),
            judgments.filter(pl.col("item") != "i7"),
        ).race()
    apart = judgments.with_columns(
        draw=pl.when(pl.col("system") == "beta").then(301 - pl.col("draw")).otherwise("draw")
    )
    with pytest.raises(InvalidDataError, match="the same items in the same order"):
        study(outputs, apart).race()
    with pytest.raises(InvalidArgumentError, match="`judgment_price` must not be negative"):
        study(outputs, judgments).race(judgment_price=-1)
    with pytest.raises(InvalidArgumentError, match="lies outside `bounds`"):
        study(outputs, judgments).race(bounds=(0, 0.5))
    sized = judgments.with_columns(
        probability=1 / (1 + pl.col("draw")), design=pl.lit("proportional-to-size")
    )
    with pytest.raises(NotEstimableError):
        study(outputs, sized).race()
    spread = judgments.with_columns(
        probability=pl.lit(1.0), design=pl.lit("spread"), place=1 + pl.col("draw") / 301
    )
    with pytest.raises(NotEstimableError, match="spread draw, whose order balances the sample"):
        study(outputs, spread).race()


def with_metric(outputs, judgments, correlation=0.9):
    """The same outputs with a metric that nearly is the score."""
    rng = np.random.default_rng(3)
    scores = outputs.join(judgments, on=["item", "system"], maintain_order="left")["score"]
    noise = rng.normal(size=outputs.height) * np.sqrt(1 / correlation**2 - 1) * 0.2
    return outputs.with_columns(likeness=scores + pl.Series(noise), length=pl.lit(7.0))


def test_a_race_with_metrics_is_that_of_their_control(tables):
    outputs, judgments = tables
    scored = study(with_metric(outputs, judgments), judgments)
    plain, used = scored.race()["overall"], scored.race(metrics=["likeness", "length"])["overall"]
    rows = with_metric(outputs, judgments).join(judgments, on=["item", "system"]).sort("draw")
    shape = 300, 3
    values = rows.sort("draw", "system").select("likeness", "score").to_numpy().reshape(*shape, 2)
    again = Race(
        300 * (1 - np.eye(3, dtype=int)), 300, RaceOptions(), control=RaceControl(values[..., :1])
    )
    for row in values[..., 1]:
        if again.running[0]:
            again.judge(row[np.newaxis])
    stops = dict(zip(("alpha", "beta", "gamma"), again.out_at[0].tolist(), strict=True))
    assert {one.system: one.out_at or 0 for one in used.systems} == stops
    assert used.systems != plain.systems
    assert used.metrics == ("likeness", "length")
    assert used.to_dict()["metrics"] == ["likeness", "length"]
    assert any("the metrics foretold " in note and "% of the" in note for note in used.notes)
    assert plain.metrics == ()
    # what is judged is what is shown
    alpha = next(one for one in used.systems if one.system == "alpha")
    rows = judgments.filter((pl.col("system") == "alpha") & (pl.col("draw") <= used.n_items))
    assert alpha.estimate == pytest.approx(rows["score"].mean())


def test_a_metric_without_information_leaves_a_race_as_it_was(tables):
    outputs, judgments = tables
    scored = study(with_metric(outputs, judgments), judgments)
    plain, used = scored.race()["overall"], scored.race(metrics="length")["overall"]
    assert used.systems == plain.systems
    assert "the metrics foretold nothing of the differences so far" in used.notes


def test_a_gap_of_a_metric_is_noted_and_an_unknown_one_refused(tables):
    outputs, judgments = tables
    scored = with_metric(outputs, judgments).with_columns(
        likeness=pl.when(pl.col("item") != "i3").then("likeness")
    )
    found = study(scored, judgments).race(metrics="likeness")["overall"]
    assert (
        "beta: metric likeness is missing on 1 outputs, which count as the mean of their system"
        in found.notes
    )
    with pytest.raises(InvalidArgumentError, match="liking"):
        study(scored, judgments).race(metrics="liking")
