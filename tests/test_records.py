import pytest

from steelyard.records import Judgment, Output, optional_columns, required_columns


def test_a_field_without_a_default_is_a_required_column():
    assert required_columns(Output) == ("item", "system", "output")
    assert required_columns(Judgment) == ("item", "system", "score")


def test_a_field_with_a_default_is_an_optional_column():
    assert optional_columns(Output) == ("input", "reference")
    assert optional_columns(Judgment) == (
        *("rater", "prompt", "seconds", "time", "probability"),
        *("other_system", "first_system", "lower_is_better"),
    )


@pytest.mark.parametrize("record", [Output, Judgment])
def test_the_key_is_made_of_columns(record):
    assert set(record.key) < {*required_columns(record), *optional_columns(record)}


def test_records_are_frozen():
    judgment = Judgment(item="1", system="a", rater="r", prompt="p", score=1.0)
    with pytest.raises(AttributeError):
        judgment.score = 2.0
