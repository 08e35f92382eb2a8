from dataclasses import replace

import polars as pl
import pytest

from steelyard.campaign.score_bounds import check_bounds
from steelyard.errors import InvalidArgumentError
from steelyard.study import Study
from steelyard.tables import read_judgments


@pytest.fixture
def study():
    """Two systems under two prompts; the second prompt's scores reach 7."""
    outputs = [
        {"item": f"i{n}", "system": s, "length": n % 7} for n in range(40) for s in ("a", "b")
    ]
    judgments = [
        {
            "item": f"i{n}",
            "system": s,
            "rater": r,
            "prompt": prompt,
            "score": (n % 3) / 2 if prompt == "p" else float((n + 3) % 8),
        }
        for n in range(20)
        for s in ("a", "b")
        for r in ("x", "y")
        for prompt in ("p", "q")
    ]
    return Study.read(pl.DataFrame(outputs), pl.DataFrame(judgments))


SAYS = (
    r"judgments, row 2: score 3 of item 'i0' of system 'a' lies outside `bounds` \[0, 1\], as do "
    r"64 of 80 judgments in all"
)


def test_only_what_is_asked_about_must_lie_within(study):
    assert len(replace(study, bounds=(0, 1)).estimate("length", prompts="p")) == 2
    with pytest.raises(InvalidArgumentError, match="as do 64 of 160 judgments"):
        replace(study, bounds=(0, 1)).estimate("length")


def test_a_recorded_draw_is_checked_too(study):
    drawn = study.judgments.frame.filter(pl.col("prompt") == "q").with_columns(
        probability=pl.when(pl.col("item") < "i2").then(0.2).otherwise(0.5)
    )
    unequal = Study(study.outputs, read_judgments(drawn))
    with pytest.raises(InvalidArgumentError, match="lies outside `bounds`"):
        replace(unequal, bounds=(0, 1)).estimate("length")


def test_rounding_is_no_score_outside(study):
    scores = study.judgments.frame.with_columns(score=pl.lit(0.1 + 0.2))
    check_bounds(read_judgments(scores), (0, 0.3))
    check_bounds(read_judgments(scores), None)


@pytest.mark.parametrize("bounds", [(1, 0), (0, float("inf")), (0, float("nan"))])
def test_bounds_must_be_two_finite_numbers(study, bounds):
    with pytest.raises(InvalidArgumentError, match="two finite numbers, the lower first"):
        check_bounds(study.judgments, bounds)
