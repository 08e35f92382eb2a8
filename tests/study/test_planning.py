import numpy as np
import polars as pl
import pytest

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.components import variance_components
from steelyard.single.crossed import crossed_components
from steelyard.study import Study
from steelyard.study.mean_pilot import MeanPilot
from steelyard.study.planning import difference_assumptions
from steelyard.tables import read_judgments


def pilot(rng, *, systems="ABC", outputs=60, leniency=0.0, paired=False):
    """Systems one apart in score and metric, which tells nothing within a system."""
    rows, judged = [], []
    own = leniency * rng.normal(size=2)
    for apart, system in enumerate(systems):
        metric, score = apart + 0.5 * rng.normal(size=(2, 200))
        rows += [{"item": i, "system": system, "m": metric[i]} for i in range(200)]
        judged += [
            {"item": int(i), "system": system, "rater": f"r{r}", "prompt": "p"}
            | {"score": float(score[i] + own[r] + 0.5 * rng.normal())}
            for i in (range(outputs) if paired else rng.permutation(200)[:outputs])
            for r in range(2)
        ]
    return Study.read(pl.DataFrame(rows), pl.DataFrame(judged))


def assumed(study, metrics, systems=None):
    return MeanPilot.of(study, metrics, prompt="p", systems=systems or study.systems).assumed


def test_several_systems_are_learnt_from_within_each():
    # Item variance 1/4 and correlation 0 in each; as one pool they would be 11/12 and 0.7.
    study = pilot(np.random.default_rng(1), outputs=150)
    found = assumed(study, ["m"])
    assert found.item_variance.value == pytest.approx(0.25, abs=0.05)
    assert found.rater_variance.value == pytest.approx(0.25, abs=0.05)
    assert abs(found.correlation.value) < 0.15
    mean = np.mean([assumed(study, ["m"], [one]).item_variance.value for one in "ABC"])
    assert found.item_variance.value == pytest.approx(mean, rel=0.05)


def test_without_a_metric_the_components_are_the_same():
    study = pilot(np.random.default_rng(1))
    found, with_metric = assumed(study, []), assumed(study, ["m"])
    assert found.item_variance.value == pytest.approx(with_metric.item_variance.value, rel=0.02)
    assert found.correlation.value == 0


def test_leniency_does_not_shrink_the_item_variance_of_a_pilot():
    study = pilot(np.random.default_rng(2), systems="A", leniency=2.0)
    frame = study.judgments.frame
    found = assumed(study, [])
    crossed = crossed_components(frame["score"], frame["item"], frame["rater"])
    plain = variance_components(frame["score"], frame["item"], level=0.8)
    assert found.item_variance.value == pytest.approx(crossed.item, rel=0.25)
    assert found.item_variance.value > plain.item.value + 0.1
    # That of the raters at hand: two raters tell next to nothing of others.
    assert found.rater_variance.value == pytest.approx(plain.rater.value, rel=0.1)
    assert found.leniency.value == 0


def test_a_tiny_pilot_neither_promises_much_nor_asks_for_a_handful_of_outputs():
    # Raters who disagree more than outputs differ: unbiased, the item variance would be below zero.
    rng = np.random.default_rng(4)
    rows = pl.DataFrame({"item": range(500), "system": "A", "m": rng.normal(size=500)})
    fewest, efficiencies = [], []
    for _ in range(15):
        items = np.repeat(rng.permutation(500)[:20], 2)
        judged = pl.DataFrame(
            {"item": items, "system": "A", "rater": ["a", "b"] * 20, "prompt": "p"}
        ).with_columns(score=pl.Series(0.3 * rng.normal(size=40) + rng.normal(size=40)))
        made = Study.read(rows, judged).plan(half_width=0.15, output_price=5.0)
        fewest.append(made.expected.outputs)
        efficiencies.append(made.data_efficiency.high)
    assert min(fewest) > 16
    assert np.quantile(efficiencies, 0.9) < 3


def test_a_difference_knows_both_its_raters():
    # Both raters judge both systems, so leniency cancels; a rater with a favourite does not.
    study = pilot(np.random.default_rng(3), systems="AB", leniency=2.0, paired=True)
    fair, _ = difference_assumptions(study, ["m"], prompt="p", pair=("A", "B"))
    favoured = (pl.col("rater") == "r0") & (pl.col("system") == "A")
    frame = study.judgments.frame.with_columns(pl.col("score") + 3.0 * favoured)
    partial = Study(study.outputs, read_judgments(frame))
    unfair, _ = difference_assumptions(partial, ["m"], prompt="p", pair=("A", "B"))
    assert fair.item_variance.value == pytest.approx(0.5, abs=0.2)
    assert unfair.item_variance.value == pytest.approx(0.5, abs=0.2)
    assert unfair.rater_variance.value > fair.rater_variance.value + 3


def test_more_raters_reach_more():
    rng = np.random.default_rng(7)
    own = 0.5 * rng.normal(size=8)
    rows = pl.DataFrame({"item": range(300), "system": "A", "m": rng.normal(size=300)})
    items = np.repeat(rng.permutation(300)[:60], 2)
    rater = np.concatenate([rng.permutation(8)[:2] for _ in range(60)])
    score = rng.normal(size=300)[items] + own[rater] + 0.5 * rng.normal(size=120)
    judged = pl.DataFrame(
        {"item": items, "system": "A", "rater": [f"r{one}" for one in rater], "prompt": "p"}
    ).with_columns(score=pl.Series(score))
    study = Study.read(rows, judged)
    few, many = (study.plan(budget=200.0, n_raters=raters).expected for raters in (None, 40))
    assert many.half_width < 0.8 * few.half_width
    with pytest.raises(NotEstimableError, match="or ask more raters"):
        study.plan(half_width=0.1)
    with pytest.raises(InvalidArgumentError, match="`n_raters` must be at least 5"):
        study.plan(half_width=0.1, n_raters=2)
    unknown = Study.read(rows, judged.drop("rater"))
    with pytest.raises(InvalidArgumentError, match="`n_raters` counts where raters are a sample"):
        unknown.plan(half_width=0.5, n_raters=10)


def rated_by_many(rng, *, items, each):
    """Judgments by eight raters of whom each is asked as often."""
    own = 0.6 * np.linspace(-1, 1, 8)
    unit = np.repeat(np.arange(items), each)
    rater = np.concatenate([rng.permutation(8)[:each] for _ in range(items)])
    score = rng.normal(size=items)[unit] + own[rater] + 0.5 * rng.normal(size=len(unit))
    rows = pl.DataFrame({"item": range(300), "system": "A", "m": rng.normal(size=300)})
    judged = {"item": unit, "system": "A", "rater": [f"r{one}" for one in rater], "prompt": "p"}
    return Study.read(rows, pl.DataFrame(judged).with_columns(score=pl.Series(score)))


def test_a_promise_that_rests_on_leniency_which_is_hardly_known_says_so():
    small, large = (
        rated_by_many(np.random.default_rng(3), items=items, each=2).plan(budget=150.0)
        for items in (25, 250)
    )
    told = "raters' leniency makes up"
    assert any(told in note and "may be 10 to 20 points off" in note for note in small.notes)
    assert not any(told in note for note in large.notes)


def test_raters_of_a_closed_team_are_all_seen_and_those_of_a_crowd_are_not():
    rng = np.random.default_rng(0)
    team = MeanPilot.of(rated_by_many(rng, items=40, each=2), ["m"], prompt="p", systems=["A"])
    assert team.judged.raters.number == pytest.approx(8, rel=0.1)
    assert team.pilot.new_raters == 0
    # 40 judgments by raters of whom 30 gave one and 5 gave two: Chao has 35 + 30 * 29 / 12 raters.
    unit = np.repeat(np.arange(20), 2)
    second = [*range(20, 30), *range(30, 35), *range(30, 35)]
    rater = np.column_stack([np.arange(20), second]).ravel()
    judged = pl.DataFrame(
        {"item": unit, "system": "A", "rater": [f"r{one}" for one in rater], "prompt": "p"}
    ).with_columns(score=pl.Series(rng.normal(size=40)))
    rows = pl.DataFrame({"item": range(300), "system": "A", "m": rng.normal(size=300)})
    crowd = MeanPilot.of(Study.read(rows, judged), ["m"], prompt="p", systems=["A"])
    assert crowd.pilot.new_raters == pytest.approx(1 - 35 / 107.5)


def test_a_text_that_several_systems_wrote_is_planned_and_priced_once():
    # Three systems, the third of which repeats the first on every second item: 2.5 texts per item.
    study = pilot(np.random.default_rng(1), paired=True)
    text = pl.format(
        "{} {}",
        "item",
        pl.when(pl.col("item").cast(pl.Int64) % 2 == 0).then(pl.lit("A")).otherwise("system"),
    )
    apart = pl.format("{} {}", "item", "system")
    outputs = study.outputs.rows()
    notes = []
    for written in (apart, pl.when(pl.col("system") == "C").then(text).otherwise(apart)):
        frame = outputs.with_columns(output=written)
        made = Study.read(frame, study.judgments.frame).plan(
            half_width=0.15, output_price=2.0, judgments_per_output=1
        )
        [note] = [one for one in made.notes if one.startswith("numbers are of one system")]
        notes.append((note, made.assured))
    (alone, case), (shared, same) = notes
    assert same == case
    assert f"all 3 need {3 * case.judgments:,} judgments" in alone
    assert "different texts" not in alone
    assert f"all 3 need {round(2.5 * case.judgments):,} judgments" in shared
    assert f"price {2.5 * case.cost:,.2f}" in shared
    assert "2.5 different texts per item" in shared


def test_a_spread_draw_is_planned_with_the_degrees_of_freedom_of_neighbours():
    study = pilot(np.random.default_rng(1))
    simple = study.plan(budget=20.0, judgments_per_output=1)
    spread = study.plan(budget=20.0, judgments_per_output=1, design="spread")
    assert 1 < spread.expected.half_width / simple.expected.half_width < 1.05
    assert any("`steelyard sample --design spread`" in note for note in spread.notes)
    with pytest.raises(InvalidArgumentError, match='`design` "spread" goes with means'):
        study.plan(half_width=0.15, compare=("A", "B"), design="spread")
    with pytest.raises(InvalidArgumentError, match="`design` must be simple or spread"):
        study.plan(half_width=0.15, design="paired")
