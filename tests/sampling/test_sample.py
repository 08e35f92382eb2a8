import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.sampling.sample import DRAW_COLUMNS, sample
from steelyard.sampling.texts_once import for_all_writers
from steelyard.tables import read_outputs


def pool_frame(size=60, systems=("alpha", "beta")):
    rng = np.random.default_rng(0)
    parts = []
    for number, system in enumerate(systems):
        parts.append(
            pl.DataFrame(
                {
                    "item": [f"i{item:03}" for item in range(size)],
                    "system": system,
                    # every third item has the same text whatever the system
                    "output": [
                        f"text {item}" + ("" if item % 3 == 0 else f" of {system}")
                        for item in range(size)
                    ],
                    "topic": [f"t{item % 4}" for item in range(size)],
                    "length": rng.normal(size=size) + number,
                    "risk": rng.gamma(2.0, size=size) + 0.1,
                }
            )
        )
    return pl.concat(parts)


@pytest.fixture
def outputs():
    return read_outputs(pool_frame())


def test_a_simple_sample_keeps_the_rows_and_records_the_draw(outputs):
    found = sample(outputs, 15, same_items=False, seed=3)
    frame = found.frame
    assert frame.columns == [*pool_frame().columns, *DRAW_COLUMNS]
    assert frame.group_by("system").len()["len"].to_list() == [15, 15]
    assert frame["probability"].unique().to_list() == [0.25]
    assert frame["stratum"].is_null().all()
    assert frame["stratum_size"].unique().to_list() == [60]
    assert frame["share"].unique().to_list() == [1.0]
    assert frame.filter(pl.col("system") == "beta")["draw"].to_list() == list(range(1, 16))
    assert frame["signature"][0].startswith("simple|n=15|N=60|seed=3,")
    kept = frame.select(pool_frame().columns)
    assert_frame_equal(
        kept.sort("item", "system"),
        pool_frame().join(kept, on=["item", "system"], how="semi").sort("item", "system"),
    )
    first, second = (set(part["item"]) for part in frame.partition_by("system"))
    assert first != second


@pytest.mark.parametrize("same_items", [True, False])
def test_neither_order_of_rows_nor_other_systems_change_a_draw(outputs, same_items):
    options = {"same_items": same_items, "each_text_once": False, "seed": 3}
    want = sample(outputs, 15, **options).frame
    shuffled = read_outputs(pool_frame().sample(fraction=1, shuffle=True, seed=1))
    got = sample(shuffled, 15, systems=["beta"], **options).frame
    assert got["item"].to_list() == want.filter(pl.col("system") == "beta")["item"].to_list()


def test_the_same_items_are_drawn_for_all_systems_unless_told_otherwise(outputs):
    found = sample(outputs, 15, each_text_once=False, seed=3)
    [draw] = found.draws.values()
    assert (draw.systems, draw.differing) == (2, None)
    frame = found.frame
    assert frame["signature"].unique().to_list() == [found.draws["alpha, beta"].signature]
    assert "|systems=2|" in frame["signature"][0]
    assert frame.height == 30
    assert frame.group_by("item").len()["len"].unique().to_list() == [2]
    assert frame["draw"].to_list() == [one for one in range(1, 16) for _ in range(2)]


def test_strata_of_a_column_and_of_quantiles(outputs):
    options = {"each_text_once": False, "seed": 1}
    by_topic = sample(outputs, 16, strata="topic", **options)
    counts = by_topic.frame.group_by("system", "stratum").len()
    assert counts["len"].unique().to_list() == [4]
    assert by_topic.frame["stratum_size"].unique().to_list() == [15]
    assert (by_topic.frame["stratum"] == by_topic.frame["topic"]).all()
    cut = sample(outputs, 12, strata="length:3", **options).frame
    assert sorted(cut["stratum"].unique()) == ["length 1/3", "length 2/3", "length 3/3"]
    means = cut.group_by("stratum").agg(pl.col("length").mean()).sort("stratum")["length"]
    assert means.is_sorted()


def test_sizes_make_probabilities(outputs):
    frame = sample(outputs, 20, size="risk", same_items=False, seed=1).frame
    alpha = pool_frame().filter(pl.col("system") == "alpha")
    rows = frame.filter(pl.col("system") == "alpha")
    want = 20 * rows["risk"] / alpha["risk"].sum()
    assert rows["probability"].to_list() == pytest.approx(want.clip(0, 1).to_list(), rel=1e-9)


def test_pairs_are_drawn_where_systems_differ(outputs):
    found = sample(outputs, 10, pair=("alpha", "beta"), seed=1)
    frame = found.frame
    assert frame.height == 20
    assert frame["share"].unique().to_list() == pytest.approx([40 / 60])
    assert frame["probability"].unique().to_list() == [0.25]
    assert not any(int(item[1:]) % 3 == 0 for item in frame["item"])
    larger = sample(outputs, 14, pair=("alpha", "beta"), extend=frame, seed=2).frame
    assert larger["item"].to_list()[:20] == frame["item"].to_list()
    [draw] = found.draws.values()
    assert draw.pool_size - draw.differing == 20


@pytest.mark.parametrize(
    "options",
    [{}, {"same_items": False}, {"strata": "topic"}],
)
def test_an_extension_contains_the_earlier_sample_and_updates_probabilities(outputs, options):
    earlier = sample(outputs, 16, seed=1, **options).frame
    larger = sample(outputs, 30, extend=earlier, seed=2, **options).frame
    earlier, larger = for_all_writers(earlier), for_all_writers(larger)
    for system in ("alpha", "beta"):
        before, after = (one.filter(pl.col("system") == system) for one in (earlier, larger))
        assert after["item"].to_list()[:16] == before["item"].to_list()
        assert after.height == after["item"].n_unique() == 30
        assert after["probability"].mean() == pytest.approx(0.5, abs=0.01)
        assert "extended=16" in after["signature"][0]


def test_the_draw_of_each_system_says_what_was_drawn(outputs):
    found = sample(outputs, 16, seed=1, strata="topic", same_items=False)
    assert found.frame.height == 32
    first = found.draws["alpha"]
    assert first.by_stratum[0] == ("t0", 4, 15)
    assert first.probability.min() == pytest.approx(4 / 15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 61}, "`n` must be from 1 to the size of the pool, 60; got 61"),
        ({"systems": ["gamma"]}, "system 'gamma' is not in outputs; there are: alpha, beta"),
        ({"strata": "theme"}, "no column 'theme' in outputs; there are"),
        ({"strata": "theme:3"}, "no column 'theme' in outputs; there are"),
        ({"strata": "topic", "size": "risk"}, "`strata` and `size` are two ways to draw"),
        ({"size": "topic"}, "column 'topic' of outputs must hold numbers; got String"),
        ({"pair": ("alpha", "beta"), "systems": ["alpha"]}, "`pair` names its two systems"),
        ({"pair": ("alpha", "alpha")}, "`pair` must name two systems; got alpha"),
        ({"n": 5, "clusters": "topic"}, "`n` must be from 1 to the 4 clusters; got 5"),
        ({"seed": -1}, "`seed` must not be negative; got -1"),
    ],
)
def test_wrong_options_are_named(outputs, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        sample(outputs, **({"n": 10, "seed": 0} | options))


def test_wrong_data_are_named():
    frame = pool_frame()
    missing = frame.with_columns(
        topic=pl.when(pl.col("item") == "i004").then(None).otherwise("topic")
    )
    with pytest.raises(
        InvalidDataError, match="column topic: expected one stratum for item 'i004'"
    ):
        sample(read_outputs(missing), 10, strata="topic", seed=0)
    hole = frame.with_columns(
        length=pl.when(pl.col("item") == "i004").then(None).otherwise("length")
    )
    with pytest.raises(InvalidDataError, match=r"column length: expected a finite number.*'i004'"):
        sample(read_outputs(hole), 10, strata="length:2", seed=0)
    uneven = frame.slice(1)
    with pytest.raises(InvalidDataError, match=r"item 'i000' has no output .* --independent"):
        sample(read_outputs(uneven), 10, seed=0)
    split = frame.with_columns(topic=pl.col("topic") + pl.col("system"))
    with pytest.raises(InvalidDataError, match="the same for all systems that are drawn together"):
        sample(read_outputs(split), 10, strata="topic", seed=0)
    named = frame.with_columns(draw=pl.lit(1))
    with pytest.raises(InvalidArgumentError, match="has a column 'draw', which the sample records"):
        sample(read_outputs(named), 10, seed=0)
    bare = frame.drop("output")
    with pytest.raises(InvalidDataError, match="no column `output`"):
        sample(read_outputs(bare), 10, pair=("alpha", "beta"), seed=0)


def test_wrong_earlier_samples_are_named(outputs):
    apart = sample(outputs, 16, same_items=False, seed=1).frame
    with pytest.raises(InvalidDataError, match=r"did not draw the same items .* --independent"):
        sample(outputs, 20, extend=apart, seed=2)
    earlier = sample(outputs, 16, seed=1).frame
    with pytest.raises(InvalidDataError, match="the earlier sample has no column `draw`"):
        sample(outputs, 20, extend=earlier.drop("draw"), seed=2)
    with pytest.raises(InvalidDataError, match="no output of system 'alpha'"):
        sample(outputs, 20, extend=earlier.filter(pl.col("system") == "beta"), seed=2)
    other = earlier.with_columns(item=pl.col("item") + "x")
    with pytest.raises(
        InvalidDataError, match="which is not in outputs: it must come from the same"
    ):
        sample(outputs, 20, extend=other, seed=2)
    smaller = read_outputs(pool_frame(size=59))
    inside = earlier.filter(pl.col("item") != "i059")
    with pytest.raises(InvalidArgumentError, match="drawn from 60 outputs and there are 59"):
        sample(smaller, 20, extend=inside, seed=2)
    by_topic = sample(outputs, 16, strata="topic", seed=2).frame
    with pytest.raises(InvalidDataError, match="other strata than this pool"):
        sample(outputs, 20, extend=by_topic, strata="length:3", seed=2)
    with pytest.raises(InvalidArgumentError, match="same design; got stratified for simple"):
        sample(outputs, 20, extend=by_topic, seed=2)
    with pytest.raises(InvalidArgumentError, match=r"`n` counts the earlier draw in.*16; got 12"):
        sample(outputs, 12, extend=earlier, seed=2)
    with pytest.raises(InvalidArgumentError, match="proportional-to-size cannot be extended"):
        sample(outputs, 20, extend=earlier, size="risk", seed=2)


def test_whole_clusters_are_drawn_with_one_chance(outputs):
    found = sample(outputs, 2, clusters="topic", each_text_once=False, seed=1)
    topics = pool_frame()["topic"].n_unique()
    assert found.frame["cluster"].n_unique() == 2
    assert found.frame["probability"].unique().to_list() == [2 / topics]
    drawn = pool_frame().filter(pl.col("topic").is_in(found.frame["topic"].unique().to_list()))
    assert found.frame.height == drawn.height
