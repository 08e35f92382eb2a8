import polars as pl
import pytest

from steelyard.tables.rules import typed


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-2", None], [1, -2, None]),
        (["1", "2.0"], [1.0, 2.0]),
        ([" 1 ", "", None], [1, None, None]),
        (["0.5", "0", "-0.25"], [0.5, 0.0, -0.25]),
        (["true", "FALSE"], [1.0, 0.0]),
    ],
)
def test_text_that_is_numbers_throughout_becomes_numbers(cells, expected):
    got = typed(pl.Series("a", cells, dtype=pl.String))
    assert got.to_list() == expected
    assert got.name == "a"
    assert got.dtype == (pl.Float64 if any(type(x) is float for x in expected) else pl.Int64)


@pytest.mark.parametrize("cells", [["007", "8"], ["1", "one"], ["", None], ["1,5"], ["0x10"]])
def test_other_text_stays_as_it_is(cells):
    assert typed(pl.Series(cells, dtype=pl.String)).to_list() == cells
