import polars as pl
import pytest
from polars.testing import assert_frame_equal

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.sampling.sample import sample
from steelyard.sampling.texts_once import for_all_writers
from steelyard.tables import read_outputs


def pool(size=12):
    """Three systems: items 0, 3, 6, 9 have one text, 1, 4, 7, 10 one of a and c, the others three."""
    rows = []
    for item in range(size):
        for system in ("a", "b", 'c, "d"'):
            alike = item % 3 == 0 or (item % 3 == 1 and system != "b")
            text = f"text {item}" if alike else f"text {item} of {system}"
            rows.append({"item": f"i{item:02}", "system": system, "output": text, "length": item})
    return pl.DataFrame(rows)


def test_a_text_that_several_systems_wrote_is_in_the_sample_once():
    found = sample(read_outputs(pool()), 12, seed=1)
    assert found.frame.height == 4 * 1 + 4 * 2 + 4 * 3
    assert found.frame.select("item", "output").is_unique().all()
    shared = dict(found.frame.filter(pl.col("system") == "a").select("item", "also_by").iter_rows())
    assert shared["i00"] == '["b", "c, \\"d\\""]'
    assert shared["i01"] == '["c, \\"d\\""]'
    assert shared["i02"] is None


def test_all_outputs_of_the_draw_can_be_read_from_it_again():
    once = sample(read_outputs(pool()), 7, seed=1).frame
    every = sample(read_outputs(pool()), 7, each_text_once=False, seed=1).frame
    assert_frame_equal(for_all_writers(once).sort("draw", "system"), every.sort("draw", "system"))


@pytest.mark.parametrize("options", [{"same_items": False}, {"pair": ("a", "b")}])
def test_systems_drawn_each_on_its_own_and_pairs_that_differ_keep_every_output(options):
    assert "also_by" not in sample(read_outputs(pool()), 4, seed=1, **options).frame.columns


def test_without_texts_or_shared_ones_nothing_is_left_out():
    frames = pool().drop("output"), pool().with_columns(output=pl.col("output") + pl.col("system"))
    for frame in frames:
        found = sample(read_outputs(frame), 5, seed=1).frame
        assert found.height == 15
        assert "also_by" not in found.columns


def test_a_sample_of_texts_is_extended_and_begins_with_the_earlier_one():
    outputs = read_outputs(pool())
    earlier = sample(outputs, 4, seed=1).frame
    larger = sample(outputs, 9, extend=earlier, seed=2).frame
    columns = ["item", "system", "output", "also_by", "draw"]
    assert_frame_equal(larger.head(earlier.height).select(columns), earlier.select(columns))


def test_a_pool_with_a_column_of_that_name_is_refused():
    with pytest.raises(InvalidArgumentError, match="'also_by', which the sample records itself"):
        sample(read_outputs(pool().with_columns(also_by=pl.lit("x"))), 4, seed=1)


@pytest.mark.parametrize("value", ["b, c", '{"b": 1}', "[1]"])
def test_a_damaged_list_of_systems_is_named(value):
    broken = pool(1).with_columns(also_by=pl.lit(value))
    with pytest.raises(InvalidDataError, match="column also_by, item 'i00': expected a list"):
        for_all_writers(broken)
