import numpy as np
import polars as pl
import pytest
from scipy import stats

from steelyard import Study
from steelyard.data import read_judgments, read_outputs
from steelyard.estimate.ledger import Ledger, PlainInterval, rough_ledger, total_ledger
from steelyard.study.ledger_words import means_ledger, pairs_ledger


def campaign(n, *, seed=0, systems=4, items=200, each=1, shared=0.0, scores=np.asarray):
    """A study whose metric is useful, and what judges any output once more."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=items)
    quality = 0.6 * common + 0.8 * rng.normal(size=(systems, items))
    alike = int(shared * items)
    quality[1:2, :alike] = quality[0, :alike]
    metric = 0.7 * quality + 0.7 * rng.normal(size=quality.shape)
    texts = np.array([[f"text {i} by {s}" for i in range(items)] for s in range(systems)])
    texts[1:2, :alike] = texts[0, :alike]
    lenient = 0.3 * rng.normal(size=12)

    def judge(system, item, rater):
        return float(scores(quality[system, item] + lenient[rater] + 0.7 * rng.normal()))

    outputs = pl.DataFrame(
        [
            {"item": str(i), "system": f"s{s}", "output": texts[s, i], "m": metric[s, i]}
            for s in range(systems)
            for i in range(items)
        ]
    )
    drawn = rng.choice(items, n, replace=False)
    judgments = pl.DataFrame(
        [
            {
                "item": str(i),
                "system": f"s{s}",
                "rater": str(rater),
                "prompt": "p",
                "score": judge(s, i, rater),
            }
            for s in range(systems)
            for i in drawn
            for rater in rng.choice(12, each, replace=False)
        ]
    )
    fresh = lambda system, m: [  # noqa: E731
        judge(system, rng.integers(items), rng.integers(12)) for _ in range(m)
    ]
    return Study(read_outputs(outputs), read_judgments(judgments)), fresh


def test_a_half_as_long_interval_is_worth_four_times_the_judgments_and_what_student_adds():
    plain = PlainInterval(100, 0.1, 1e9, 0.95)
    assert plain.half_width(100) == pytest.approx(0.1959964, rel=1e-6)
    assert plain.judgments(0.1959964 / 2) == pytest.approx(400, rel=1e-6)
    few = PlainInterval(10, 0.1, 9, 0.95)
    # By hand: t(19) = 2.0930 at 20 judgments, so s sqrt(10 / 20) t = 0.147997.
    assert few.half_width(20) == pytest.approx(stats.t.ppf(0.975, 18) * 0.1 * np.sqrt(0.5))
    assert few.judgments(few.half_width(20)) == pytest.approx(20)


def test_devices_add_up_in_the_order_in_which_they_are_added():
    plain = PlainInterval(100, 0.1, np.inf, 0.95)
    start = plain.half_width(100)
    stages = [("pairing", start / np.sqrt(2)), ("identity", start / np.sqrt(2)), ("raters", start)]
    found = plain.ledger(stages, used=80.0)
    assert found.saved == pytest.approx(
        {"pairing": 100, "identity": 0, "raters": -100, "sharing": 20}, abs=1e-6
    )
    assert found.plain - found.used == pytest.approx(sum(found.saved.values()))
    assert plain.ledger([("pairing", 0.0)]) is None


def test_a_total_adds_every_device():
    one, other = Ledger(30, 20, {"raters": 10.0}), Ledger(50, 30, {"control": 15.0, "raters": 5.0})
    assert total_ledger([one, other]) == Ledger(80, 50, {"control": 15.0, "raters": 15.0})


@pytest.mark.parametrize("options", [{}, {"raters_as": "fixed"}, {"target": "superpopulation"}])
@pytest.mark.parametrize("each", [1, 2])
def test_the_ledger_of_every_interval_adds_up(options, each):
    study, _ = campaign(40, each=each, shared=0.3)
    rows = [
        *study.estimate(**options, ledger=True),
        *study.compare(**options, ledger=True)[0].pairs,
    ]
    for one in rows:
        found = one.ledger
        assert found.plain - found.used == pytest.approx(sum(found.saved.values()))
        assert ("repeats" in found.saved) == (each == 2)
    assert rows[4].ledger.saved["identity"] > 0
    assert "identity" not in rows[5].ledger.saved


def test_a_text_judged_once_for_two_systems_is_half_of_each():
    study, _ = campaign(40, shared=0.5)
    shared = (pl.col("system") == "s1") & (pl.col("item").cast(pl.Int64) < 100)
    once = study.judgments.frame.filter(~shared)
    found = Study.read(study.outputs.rows(), once)
    rows = found.estimate(ledger=True)
    assert sum(one.ledger.used for one in rows) == pytest.approx(once.height)
    assert rows["s0"].ledger.saved["sharing"] == pytest.approx((160 - once.height) / 2)
    [pair] = found.compare(pair=("s0", "s1"), ledger=True)[0].pairs
    assert pair.ledger.saved["sharing"] == pytest.approx(160 - once.height)
    for one in (*rows, pair):
        assert one.ledger.plain - one.ledger.used == pytest.approx(sum(one.ledger.saved.values()))


def test_a_spread_draw_is_a_device():
    study, _ = campaign(40)
    frame = study.outputs.rows().join(study.judgments.frame, on=["item", "system"])
    place = pl.col("m").rank() / pl.len()
    first = frame.filter(pl.col("system") == "s0").select("item", place=place)
    frame = frame.join(first, on="item").with_columns(
        probability=0.2, design=pl.lit("spread"), draw=pl.lit(1)
    )
    found = Study(study.outputs, read_judgments(frame.drop("m", "output")))
    for one in (*found.estimate(ledger=True), *found.compare(ledger=True)[0].pairs):
        assert "spread" in one.ledger.saved
        assert one.ledger.plain - one.ledger.used == pytest.approx(sum(one.ledger.saved.values()))


def test_without_metrics_raters_and_others_the_plain_mean_needs_what_was_used():
    study, _ = campaign(30, systems=1)
    [one] = study.estimate([], raters_as="fixed", target="superpopulation", ledger=True)
    assert one.ledger.plain == pytest.approx(30)
    assert one.ledger.used == 30


def test_two_plain_means_on_independent_items_are_welchs():
    study, _ = campaign(30, systems=2)
    scores = [
        study.judgments.frame.filter(pl.col("system") == name)["score"].to_numpy()
        for name in ("s0", "s1")
    ]
    welch = stats.ttest_ind(*scores, equal_var=False).confidence_interval()
    [pair] = study.compare([], raters_as="fixed", ledger=True)[0].pairs
    paired = stats.ttest_rel(*scores).confidence_interval()
    assert pair.high - pair.low == pytest.approx(paired.high - paired.low)
    freedom = stats.ttest_ind(*scores, equal_var=False).df
    plain = PlainInterval(
        60, (welch.high - welch.low) / 2 / stats.t.ppf(0.975, freedom), freedom, 0.95
    )
    assert pair.ledger.plain == pytest.approx(plain.judgments((paired.high - paired.low) / 2))


def test_long_tails_are_noted_where_a_few_judgments_do_not_show_the_spread():
    # By hand: of 19 zeros and a one, the fourth power over the squared second is 18.05, so
    # half the root of (18.05 - 3 + 2)/20 is 46%.
    assert "within 46% only" in rough_ledger(np.array([1.0] + [0.0] * 19))[0]
    assert rough_ledger(np.zeros(5)) == ()
    notes = [
        [note for one in campaign(20, scores=scores)[0].estimate(ledger=True) for note in one.notes]
        for scores in (np.asarray, np.exp)
    ]
    assert not any("the ledger is rough" in note for note in notes[0])
    assert any("the ledger is rough" in note for note in notes[1])


def test_a_stratified_draw_has_no_ledger():
    study, _ = campaign(40)
    frame = study.judgments.frame.with_columns(
        probability=0.2,
        stratum=pl.when(pl.col("item").cast(pl.Int64) < 100)
        .then(pl.lit("a"))
        .otherwise(pl.lit("b")),
        stratum_size=100,
        design=pl.lit("stratified"),
    )
    found = Study(study.outputs, read_judgments(frame)).estimate(ledger=True)
    assert all(one.ledger is None for one in found)
    assert means_ledger(found) is None


def test_nobody_pays_for_a_ledger_that_was_not_asked_for():
    study, _ = campaign(20)
    assert all(one.ledger is None for one in (*study.estimate(), *study.compare()[0].pairs))


def test_money_and_ratios_are_told():
    study, _ = campaign(40, shared=0.3)
    said = means_ledger(study.estimate(ledger=True), price=0.5)
    assert "and 160 were used (price " in said
    assert said.endswith(tuple("0123456789"))
    compared = study.compare(ledger=True)[0]
    assert "times the judgments" in pairs_ledger(compared)
    [pair] = study.compare(pair=("s0", "s1"), ledger=True)
    assert "for this difference plain means would need about" in pairs_ledger(pair)


@pytest.mark.slow
@pytest.mark.parametrize("each", [1, 2])
@pytest.mark.parametrize("scores", [np.asarray, lambda z: z > 0.3], ids=["normal", "binary"])
@pytest.mark.parametrize("n", [20, 60])
def test_a_plain_mean_of_the_named_judgments_has_the_same_half_width(n, scores, each):
    means, pairs = [], []
    for seed in range(12):
        study, fresh = campaign(n, seed=seed, scores=scores, each=each)
        for number, one in enumerate(study.estimate(raters_as="fixed", ledger=True)):
            m = round(one.ledger.plain)
            interval = stats.t.interval(0.95, m - 1, scale=stats.sem(fresh(number, m)))
            means.append((interval[1] - interval[0]) / (one.high - one.low))
        for one in study.compare(raters_as="fixed", ledger=True)[0].pairs:
            m = round(one.ledger.plain / 2)
            plain = stats.ttest_ind(
                fresh(int(one.a[1]), m), fresh(int(one.b[1]), m), equal_var=False
            ).confidence_interval()
            pairs.append((plain.high - plain.low) / (one.high - one.low))
    # 3% on average, and the standard error of 48 and 72 ratios.
    assert np.mean(means) == pytest.approx(1, abs=0.06)
    assert np.mean(pairs) == pytest.approx(1, abs=0.05)
