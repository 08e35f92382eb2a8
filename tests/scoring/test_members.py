import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.scoring.members import with_members

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{}", '{"a": 0.5}'),
        (' { "b":1.50 } \n', '{ "b":1.50, "a": 0.5}'),
        ('{"b": 1e5,\t"c": "\\u00e9", "b": 2}', '{"b": 1e5,\t"c": "\\u00e9", "b": 2, "a": 0.5}'),
        ('{"a": [1, {"a": 2}]}', '{"a": 0.5}'),
        (
            '{"b" : 1.0 , "\\u0061": 3, "c": {"a": 1}, "a": 4}',
            '{"b" : 1.0 , "a": 0.5, "c": {"a": 1}, "a": 0.5}',
        ),
    ],
)
def test_other_members_stay_to_the_letter(line, expected):
    assert with_members(line, {"a": 0.5}) == expected


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=4), st.booleans())
def test_the_object_is_what_an_update_would_make_of_it(found, ascii_only):
    line = json.dumps(found, ensure_ascii=ascii_only)
    new = {"a": None, "b": "x\ny"}
    assert json.loads(with_members(line, new)) == found | new
