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


def test_order_of_rows_and_systems_does_not_matter():
    outputs, judgments = frames()
    mixed = Study.read(
        outputs.sample(fraction=1, shuffle=True, seed=1),
        judgments.sample(fraction=1, shuffle=True, seed=2),
    )
    same(mixed.estimate(), Study.read(outputs, judgments).estimate())


def test_files_may_be_merged():
    outputs, judgments = frames()
    parts = [judgments.filter(pl.col("system") == system) for system in "EBDAC"]
    same(
        Study.read(outputs, pl.concat(parts)).estimate(),
        Study.read(outputs, judgments).estimate(),
    )


def test_names_of_raters_do_not_matter():
    outputs, judgments = frames()
    renamed = judgments.with_columns(
        pl.col("rater").replace({f"r{i}": name for i, name in enumerate("zaqwcb")})
    )
    same(Study.read(outputs, renamed).estimate(), Study.read(outputs, judgments).estimate(), 1e-7)


def test_what_is_asked_for_does_not_change_what_is_lent():
    study = Study.read(*frames())
    every = by_system(study.estimate())
    alone = study.estimate(systems=["B"])[0]
    assert (alone.estimate, alone.low, alone.high) == (
        every["B"].estimate,
        every["B"].low,
        every["B"].high,
    )


def test_raters_are_a_sample_from_five_on():
    assert {one.raters for one in Study.read(*frames()).estimate()} == {"adjusted"}
    found = Study.read(*frames(raters=3)).estimate()
    assert {one.raters for one in found} == {"fixed"}
    assert all(any("only 3 raters are known" in note for note in one.notes) for one in found)
    found = Study.read(*frames(raters=1)).estimate()
    assert all(any("only one rater is known" in note for note in one.notes) for one in found)
    outputs, judgments = frames(raters=1)
    found = Study.read(outputs, judgments.drop("rater")).estimate()
    assert all(any("raters are unknown" in note for note in one.notes) for one in found)


def test_one_rater_for_each_system_is_no_sample_of_raters():
    outputs, judgments = frames()
    study = Study.read(outputs, judgments.with_columns(rater=pl.col("system")))
    for one in study.estimate():
        assert one.raters == "fixed"
        assert any("leniency cannot be told apart" in note for note in one.notes)


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


def test_a_system_without_spread_has_a_width():
    outputs, judgments = frames()
    score = pl.when(pl.col("system") == "A").then(1.0).otherwise(pl.col("score"))
    found = by_system(Study.read(outputs, judgments.with_columns(score=score)).estimate())
    assert found["A"].high - found["A"].low > 0.3


def test_singleton_clusters_change_nothing():
    outputs, judgments = frames()
    alone = outputs.with_columns(document=pl.col("item"))
    study = Study.read(alone, judgments)
    same(study.estimate(cluster_by="document"), study.estimate())


def test_a_learned_control_has_students_interval_only():
    study = Study.read(*frames())
    with pytest.raises(InvalidArgumentError, match='`interval` must be "student" with slope'):
        study.estimate(interval="bca")


def test_nothing_varies_in_a_lone_system():
    outputs, judgments = frames(systems="A")
    study = Study.read(outputs, judgments.with_columns(score=pl.lit(1.0)))
    with pytest.raises(NotEstimableError, match="no honest width"):
        study.estimate()
