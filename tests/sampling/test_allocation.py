import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import InvalidArgumentError
from steelyard.sampling.allocation import allocate


def test_whole_shares_are_met_exactly():
    assert allocate(20, {"a": 50, "b": 30, "c": 20}) == {"a": 10, "b": 6, "c": 4}


def test_two_each_and_never_more_than_there_are():
    assert allocate(10, {"a": 1000, "b": 3, "c": 1}) == {"a": 7, "b": 2, "c": 1}
    assert allocate(9, {"a": 5, "b": 4}) == {"a": 5, "b": 4}


def test_an_extension_keeps_what_was_drawn():
    kept = {"a": 9, "b": 2}
    assert allocate(12, {"a": 50, "b": 50}, at_least=kept) == {"a": 9, "b": 3}


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4),
    n=st.integers(2, 30),
)
def test_no_other_whole_numbers_have_less_variance(sizes, n):
    least = sum(min(2, size) for size in sizes)
    n = min(max(n, least), sum(sizes))
    found = allocate(n, dict(enumerate(sizes)))
    assert sum(found.values()) == n

    def variance(counts):
        return sum(N**2 / k for N, k in zip(sizes, counts, strict=True))

    choices = itertools.product(*(range(min(2, size), size + 1) for size in sizes))
    best = min(variance(counts) for counts in choices if sum(counts) == n)
    assert variance(found.values()) == pytest.approx(best)


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (31, {}, "`n` must not exceed the pool; got 31 of 30 outputs"),
        (3, {}, "`n` must be at least 4, two outputs in each of 2 strata.*got 3"),
        (9, {"at_least": {"a": 11}}, "`at_least` must not exceed the stratum; 11 of 10 in 'a'"),
    ],
)
def test_wrong_arguments_are_named(n, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        allocate(n, {"a": 10, "b": 20}, **options)
