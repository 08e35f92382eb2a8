import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.collect.web.messages import plain_json


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text("abcé😀"),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3)
        ),
        max_leaves=5,
    )
)
def test_whatever_passes_can_be_stored_and_read_again(value):
    try:
        passed = plain_json(value)
    except ValueError as refused:
        assert "too deep" in str(refused)  # noqa: PT017
    else:
        assert json.loads(json.dumps(passed).encode()) == value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        (10**400, "finite"),
        (-(2**53) - 1, "finite"),
        ("a\0b", "null character"),
        ("\ud83d", "surrogate"),
        ({"\ud83d": 1}, "surrogate"),
        ({"a\0": 1}, "null character"),
    ],
)
def test_what_a_database_cannot_hold_is_refused_however_deep(value, said):
    for wrapped in (value, [value], {"a": [{"b": value}]}):
        with pytest.raises(ValueError, match=said):
            plain_json(wrapped)


def test_nesting_beyond_any_answer_is_refused_without_recursion():
    value = 0
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="too deep"):
        plain_json(value)
    # taken apart here: the interpreter itself recurses when it frees so deep a list
    while isinstance(value, list):
        value = value.pop()
