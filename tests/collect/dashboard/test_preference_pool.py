import polars as pl
import pytest

from steelyard.collect.dashboard.preference_pool import preference_pool
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.tables import read_outputs


def outputs(**columns):
    rows = {
        "item": ["1", "1", "2", "2", "3", "3", "4"],
        "system": ["a", "b", "a", "b", "a", "b", "a"],
        "output": ["x", "y", "z", "z", "u", "v", "w"],
        "length": [1.0, 3.0, 2.0, 2.0, 5.0, 1.0, 9.0],
    }
    return read_outputs(pl.DataFrame(rows | columns))


def test_metrics_become_differences_with_opposite_signs_for_the_two_systems():
    pool = preference_pool(outputs(), ("a", "b"), differing=True)
    assert pool.pool_values("a").ravel().tolist() == [-2.0, 4.0]
    assert pool.pool_values("b").ravel().tolist() == [2.0, -4.0]


def test_items_of_both_systems_are_kept_when_all_were_drawn_from():
    pool = preference_pool(outputs(), ("b", "a"), differing=False)
    assert dict(pool.sizes) == {"b": 3, "a": 3}


def test_a_system_that_is_not_there_is_refused():
    with pytest.raises(InvalidArgumentError, match="`systems` must be in outputs; got 'c'"):
        preference_pool(outputs(), ("a", "c"), differing=True)


def test_without_texts_it_cannot_be_told_where_systems_differ():
    bare = read_outputs(outputs().rows().drop("output"))
    with pytest.raises(InvalidDataError, match="no column `output`"):
        preference_pool(bare, ("a", "b"), differing=True)
    assert dict(preference_pool(bare, ("a", "b"), differing=False).sizes) == {"a": 3, "b": 3}


def test_systems_that_never_differ_leave_nothing_to_compare():
    same = outputs(output=["x"] * 7)
    with pytest.raises(InvalidDataError, match="no item to compare"):
        preference_pool(same, ("a", "b"), differing=True)
