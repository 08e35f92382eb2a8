import numpy as np
import polars as pl
import pytest

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.study import Study

SIZE, JUDGED = 60, 15


def frames(seed=0, *, systems="ABCDE", raters=6, gaps=False):
    """Outputs with two metrics, and judgments of some of them under one prompt."""
    rng = np.random.default_rng(seed)
    outputs, judgments = [], []
    for system in systems:
        quality = rng.normal(size=SIZE)
        for item, score in enumerate(quality):
            row = {"item": f"i{item:02}", "system": system, "m1": score + rng.normal()}
            missing = gaps and (system == "A" or item % 7 == 0)
            row["m2"] = None if missing else score + 2 * rng.normal()
            outputs.append(row)
        for item in rng.choice(SIZE, JUDGED, replace=False):
            judgments.append(
                {
                    "item": f"i{item:02}",
                    "system": system,
                    "rater": f"r{rng.integers(raters)}",
                    "prompt": "p",
                    "score": quality[item] + 0.5 * rng.normal(),
                }
            )
    return pl.DataFrame(outputs), pl.DataFrame(judgments)


def by_system(found):
    return {one.system: one for one in found}


def same(got, want, rel=1e-9):
    got, want = by_system(got), by_system(want)
    assert got.keys() == want.keys()
    for system, one in got.items():
        for name in ("estimate", "low", "high", "standard_error"):
            assert getattr(one, name) == pytest.approx(getattr(want[system], name), rel=rel)


def test_what_is_asked_for_does_not_change_what_is_lent():
    study = Study.read(*frames())
    every = by_system(study.estimate())
    alone = study.estimate(systems=["B"])[0]
    same([alone], [every["B"]], rel=1e-12)


def test_raters_are_a_sample_from_two_on():
    for raters, words in ((2, "raters like these"), (1, "exactly these raters")):
        found = Study.read(*frames(raters=raters)).estimate()
        assert {one.about.raters for one in found} == {words}
        assert any("only one rater is known" in note for note in found.notes) == (raters == 1)


def test_gaps_are_counted_and_end_nothing():
    found = by_system(Study.read(*frames(gaps=True)).estimate())
    assert len(found) == 5
    assert "metric m2 is missing: this system is corrected by the others" in found["A"].notes
    assert any("m2 is missing on 9 of 60 outputs" in note for note in found["B"].notes)
    assert all(np.isfinite([one.low, one.high]).all() for one in found.values())


def test_a_constant_metric_changes_nothing():
    outputs, judgments = frames()
    more = outputs.with_columns(m3=pl.lit(4.0))
    same(Study.read(more, judgments).estimate(), Study.read(outputs, judgments).estimate())


def test_one_judged_output_is_left_out_with_the_reason():
    outputs, judgments = frames()
    first = judgments.filter(pl.col("system") == "A").head(1)
    rest = judgments.filter(pl.col("system") != "A")
    found = Study.read(outputs, pl.concat([first, rest])).estimate()
    assert set(by_system(found)) == set("BCDE")
    assert "at least 2 judged outputs" in str(found.left_out["p", "A"])


@pytest.mark.parametrize("zeros", [1, 5])
def test_errors_of_shares_stay_when_other_systems_are_all_right(zeros):
    right = {"A": [0.0] * zeros + [1.0] * (20 - zeros), "B": [1.0] * 20, "C": [1.0] * 20}
    rows = [(f"i{i:02}", s, "p", x) for s, own in right.items() for i, x in enumerate(own)]
    judgments = pl.DataFrame(rows, ["item", "system", "prompt", "score"], orient="row")
    pool = [(f"i{i:02}", s, f"{s} {i}") for s in "ABC" for i in range(60)]
    outputs = pl.DataFrame(pool, ["item", "system", "output"], orient="row")
    found = by_system(Study.read(outputs, judgments).estimate())
    share = zeros / 20
    # of 20 outputs of 60
    usual = np.sqrt(share * (1 - share) / 19 * 2 / 3)
    assert 0.6 * usual < found["A"].standard_error < 1.4 * usual
    assert all(0 < found[one].standard_error < 0.05 for one in "BC")


@pytest.mark.parametrize("systems", ["AB", "ABC", "ABCDE"])
def test_ratings_that_are_all_equal_leave_room_for_the_rule_of_three(systems):
    outputs, judgments = frames(systems=systems)
    rating = (pl.col("score") + 3).round().clip(1, 5)
    score = pl.when(pl.col("system") == "A").then(5.0).otherwise(rating)
    found = by_system(Study.read(outputs, judgments.with_columns(score=score)).estimate([]))
    # 3 of 18 judgments could be others
    assert 0.1 < found["A"].high - found["A"].estimate < 0.8


def test_a_system_without_spread_has_a_width():
    outputs, judgments = frames()
    score = pl.when(pl.col("system") == "A").then(1.0).otherwise(pl.col("score"))
    found = by_system(Study.read(outputs, judgments.with_columns(score=score)).estimate())
    assert found["A"].high - found["A"].low > 0.3


def test_singleton_clusters_change_nothing():
    outputs, judgments = frames()
    alone = outputs.with_columns(cluster=pl.col("item"))
    same(Study.read(alone, judgments).estimate(), Study.read(outputs, judgments).estimate())


def test_nothing_varies_in_a_lone_system():
    outputs, judgments = frames(systems="A")
    with pytest.raises(NotEstimableError, match=r"give the ends of the scale \(--bounds\)"):
        Study.read(outputs, judgments.with_columns(score=pl.lit(2.0))).estimate()
    shares = Study.read(outputs, judgments.with_columns(score=pl.lit(1.0)))
    [one] = shares.estimate()
    assert (one.estimate, one.high) == (1, 1)
    assert 0.5 < one.low < 0.9


def test_lower_is_better_turns_ranks_and_verdicts_and_no_number():
    study = Study.read(*frames())
    turned = Study.read(*frames(), lower_is_better=["p"])
    [one], [other] = study.compare(), turned.compare()
    for pair, back in zip(one.pairs, other.pairs, strict=True):
        assert (pair.difference, pair.low) == (back.difference, back.low)
        assert back.verdict == {"a": "b", "b": "a"}.get(pair.verdict, pair.verdict)
    assert [rank.system for rank in other.ranks] == [rank.system for rank in one.ranks][::-1]
    numbers = {one.system: (one.estimate, one.low, one.high) for one in study.estimate()}
    best = by_system(turned.estimate())
    assert {name: (e.estimate, e.low, e.high) for name, e in best.items()} == numbers
    assert best[other.ranks[0].system].rank_low == 1
    with pytest.raises(InvalidArgumentError, match="names 'q', which has no judgments"):
        Study.read(*frames(), lower_is_better=["q"])


def test_monitor_is_about_the_systems_of_today():
    study = Study.read(*frames(systems="AB"), earlier=[("v1", *frames(1, systems="AB"))])
    looks = study.monitor(half_width=0.1)[0]
    assert {one.system for one in looks.systems} == {"A", "B"}
    old = study.monitor(gate="better", pair=("A", "A@v1"))[0]
    assert [(one.a, one.b) for one in old.pairs] == [("A", "A@v1")]
