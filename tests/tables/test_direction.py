import polars as pl
import pytest

from steelyard import Study
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.tables import read_judgments


def judgments(prompt="rank", **columns):
    means = {"a": 1, "b": 2, "c": 3}
    return pl.DataFrame(
        [
            {
                "item": i,
                "system": s,
                "prompt": prompt,
                "score": means[s] + (i % 3 - 1) / 2,
                **columns,
            }
            for i in range(12)
            for s in means
        ]
    )


OUTPUTS = pl.DataFrame(
    [{"item": i, "system": s, "length": i % 7} for i in range(40) for s in "abc"]
)


def test_a_rank_is_asked_about_in_one_line_and_ranked_as_said():
    asked = Study.read(OUTPUTS, judgments())
    [question] = [note for note in asked.notes if "lower" in note]
    assert question.startswith(
        "prompt rank: are lower scores better? Then add --lower-is-better rank"
    )
    assert asked.compare()[0].groups[0] == ("c",)
    told = Study.read(OUTPUTS, judgments(), lower_is_better="rank")
    assert not [note for note in told.notes if "lower" in note]
    assert told.compare()[0].groups[0] == ("a",)
    assert told.estimate()["a"].rank_low == 1


def test_a_column_of_the_file_says_the_direction_of_each_prompt():
    told = Study.read(OUTPUTS, judgments(lower_is_better=True))
    assert told.judgments.lower_is_better == {"rank"}
    assert told.compare()[0].groups[0] == ("a",)
    other = read_judgments(judgments(lower_is_better="false"))
    assert (other.lower_is_better, [one for one in other.notes if "lower" in one]) == (
        frozenset(),
        [],
    )


def test_a_name_that_suggests_nothing_and_penalties_below_zero_are_not_asked_about():
    for frame in (judgments("overall"), judgments("mqm").with_columns(-pl.col("score"))):
        assert not [one for one in read_judgments(frame).notes if "lower" in one]


def test_two_directions_of_one_prompt_and_unknown_prompts_are_refused():
    both = judgments().with_columns(lower_is_better=pl.col("item") > 5)
    with pytest.raises(InvalidDataError, match="prompt 'rank' has true and false"):
        read_judgments(both)
    with pytest.raises(
        InvalidArgumentError, match=r"names 'rnak', which has no judgments; .*mean 'rank'"
    ):
        read_judgments(judgments(), lower_is_better=["rnak"])


def test_an_average_has_the_direction_of_its_prompts():
    both = pl.concat([judgments("rank"), judgments("errors")])
    study = Study.read(OUTPUTS, both, lower_is_better=["rank", "errors"])
    assert study.compare(average={"rank": 1, "errors": 2})[0].groups[0] == ("a",)
    mixed = Study.read(OUTPUTS, both, lower_is_better=["rank"])
    with pytest.raises(
        InvalidArgumentError,
        match=r"cannot go over 'rank', whose lower scores are better, and 'errors'",
    ):
        mixed.compare(average={"rank": 1, "errors": 2})
