import numpy as np
import polars as pl
import pytest

from steelyard import Study
from steelyard.arrays import PoolMoments
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.campaign import campaign_means
from steelyard.study import campaign
from steelyard.study.others_judgments import _known_on_pools
from steelyard.tables import read_outputs

SYSTEMS = ("a", "b", "c", "d")
OTHERS = "other systems' judgments"


def world(*, size=150, alike=0.0, common=0.9, seed=0):
    """Outputs of systems whose items differ in difficulty; a share of the texts is the same for all."""
    rng = np.random.default_rng(seed)
    item = rng.standard_normal(size)
    same = rng.random(size) < alike
    parts = []
    for place, system in enumerate(SYSTEMS):
        own = common * item + np.sqrt(1 - common**2) * rng.standard_normal(size)
        parts.append(
            pl.DataFrame(
                {
                    "item": [f"i{one:03}" for one in range(size)],
                    "system": system,
                    "output": [f"{i}" if same[i] else f"{i} {system}" for i in range(size)],
                    "true": np.where(same, item, own + 0.2 * place),
                }
            )
        )
    return pl.concat(parts)


def judged(frame, n, *, same_items, noise=0.3, seed=0):
    """One judgment of each drawn text, the same for all systems that drew it."""
    drawn = Study.read(frame).sample(n, same_items=same_items, each_text_once=False, seed=seed)
    rng = np.random.default_rng(seed)
    texts = frame.select("output").unique(maintain_order=True)
    scores = texts.with_columns(error=pl.Series(noise * rng.standard_normal(texts.height)))
    rows = drawn.frame.join(scores, on="output", maintain_order="left", how="left")
    return rows.select(
        "item",
        "system",
        rater=pl.lit("r"),
        prompt=pl.lit("p"),
        score=pl.col("true") + pl.col("error"),
    )


def test_the_metric_is_the_shrunk_mean_of_others_with_different_texts():
    # by hand: around means and over deviations, a's scores are -1, 0, 1 and b's 1, 0, -1
    outputs = pl.DataFrame(
        {
            "item": ["1", "2", "3"] * 3,
            "system": ["a"] * 3 + ["b"] * 3 + ["c"] * 3,
            "output": ["x", "y", "z", "x", "q", "r", "s", "t", "u"],
        }
    )
    rows = pl.DataFrame(
        {
            "item": ["1", "2", "3", "1", "2", "3"],
            "system": ["a"] * 3 + ["b"] * 3,
            "score": [2.0, 3.0, 4.0, 9.0, 7.0, 5.0],
        }
    )
    found = _known_on_pools(rows, read_outputs(outputs))
    values = {(item, system): x for item, system, x in found.iter_rows()}
    assert ("1", "a") not in values  # b wrote the same text
    assert ("1", "b") not in values
    assert values["3", "a"] == pytest.approx(-1 / 2)
    assert values["3", "b"] == pytest.approx(1 / 2)
    assert values["1", "c"] == pytest.approx((-1 + 1) / 3)
    assert values["2", "c"] == pytest.approx(0)


def test_the_moments_of_the_pool_are_those_of_all_its_outputs(monkeypatch):
    frame = world().with_columns(length=pl.col("true") + 1)
    rows = judged(frame, 40, same_items=False)
    seen = []

    def estimated(systems, **options):
        seen.extend(systems)
        return campaign_means(systems, **options)

    monkeypatch.setattr(campaign, "campaign_means", estimated)
    study = Study.read(frame.drop("true"), rows)
    found = study.estimate(other_systems=True, raters_as="fixed")
    assert found["a"].metrics == ("length", OTHERS)
    assert len(found["a"].slope) == 2
    known = _known_on_pools(rows, study.outputs)
    whole = frame.join(known, on=["item", "system"], how="left", maintain_order="left")
    for system, got in zip(study.systems, seen, strict=True):
        own = whole.filter(pl.col("system") == system).with_columns(pl.col("#others").fill_null(0))
        want = PoolMoments.of(own.select("length", "#others").to_numpy())
        for name in ("size", "mean", "covariance", "low", "high"):
            assert getattr(got.pool, name) == pytest.approx(getattr(want, name)), name
        items = sorted(set(rows.filter(pl.col("system") == system)["item"]))
        at = dict(own.select("item", "#others").iter_rows())
        assert got.metric[:, 1] == pytest.approx([at[item] for item in items])


@pytest.mark.slow
def test_it_shortens_intervals_and_lowers_errors_where_systems_are_drawn_apart():
    errors, widths, hits = [], [], []
    for seed in range(30):
        frame = world(seed=seed)
        study = Study.read(frame.drop("true"), judged(frame, 60, same_items=False, seed=seed))
        ways = [study.estimate(other_systems=own, raters_as="fixed") for own in (False, True)]
        for system, truth in frame.group_by("system").agg(pl.mean("true")).iter_rows():
            errors.append([way[system].estimate - truth for way in ways])
            widths.append([way[system].standard_error for way in ways])
            hits.append([way[system].low <= truth <= way[system].high for way in ways])
    without, with_others = np.mean(np.square(errors), axis=0)
    assert with_others < 0.9 * without
    assert np.mean(widths, axis=0)[1] < np.mean(widths, axis=0)[0]
    assert np.mean(hits, axis=0)[1] > 0.9


def test_systems_judged_on_the_same_items_are_refused():
    frame = world()
    study = Study.read(frame.drop("true"), judged(frame, 40, same_items=True))
    with pytest.raises(InvalidArgumentError, match="a and b were judged on 40 common items"):
        study.estimate(other_systems=True)


def test_on_the_same_items_it_would_show_an_efficiency_that_is_not_there(monkeypatch):
    """What the refusal is for: residuals shrink, the error does not."""
    monkeypatch.setattr(campaign, "check_drawn_apart", lambda *_: None)
    claimed, errors = [], []
    for seed in range(8):
        frame = world(common=0.8, seed=seed)
        study = Study.read(frame.drop("true"), judged(frame, 60, same_items=True, seed=seed))
        truth = frame.filter(pl.col("system") == "a")["true"].mean()
        ways = [
            study.estimate(other_systems=own, systems=["a"], raters_as="fixed")["a"]
            for own in (False, True)
        ]
        claimed.append((ways[0].standard_error / ways[1].standard_error) ** 2)
        errors.append([way.estimate - truth for way in ways])
    assert np.mean(claimed) > 1.3
    without, leaking = np.mean(np.square(errors), axis=0)
    assert leaking > 0.95 * without


def test_a_copy_of_a_judgment_under_another_system_does_not_leak():
    """All texts are shared: the others' judgments are the output's own, and must not count."""
    frame = world(alike=1.0)
    rows = judged(frame, 60, same_items=False, noise=1.0)
    seen = Study.read(frame.drop("true"), rows).estimate(other_systems=True, raters_as="fixed")
    assert all(one.standard_error == pytest.approx(one.baseline.standard_error) for one in seen)
    # the mistake: texts that are not known to be the same
    other = frame.with_columns(output=pl.col("output") + pl.col("system"))
    blind = Study.read(other.drop("true"), rows).estimate(other_systems=True, raters_as="fixed")
    claimed = [(one.baseline.standard_error / one.standard_error) ** 2 for one in blind]
    assert np.mean(claimed) > 1.3


def test_it_needs_texts_and_the_learned_control():
    frame = world()
    rows = judged(frame, 40, same_items=False)
    with pytest.raises(InvalidArgumentError, match="needs the texts"):
        Study.read(frame.drop("true", "output").with_columns(length=1.0), rows).estimate(
            other_systems=True
        )
    with pytest.raises(InvalidArgumentError, match='goes with slope "learned"'):
        Study.read(frame.drop("true"), rows).estimate(other_systems=True, slope="shrunk")
