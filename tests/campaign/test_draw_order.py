import numpy as np
import polars as pl
import pytest

from steelyard.errors import InvalidDataError
from steelyard.sampling.sample import sample
from steelyard.study import Study
from steelyard.study.monitoring import monitor

OUTPUTS = pl.DataFrame({"item": [f"i{i}" for i in range(400)], "system": "s", "length": range(400)})


@pytest.fixture
def drawn():
    """A simple draw of 200, judged by one rater; whoever scores 1 comes back three times as fast."""
    rng = np.random.default_rng(0)
    study = Study.read(OUTPUTS, judged(OUTPUTS.head(2), [0.0, 1.0]))
    found = sample(study.outputs, 200, seed=1).frame
    score = (rng.uniform(size=200) < 0.5).astype(float)
    rows = judged(found, score)
    return rows.with_columns(time=rng.exponential(size=200) * np.where(score > 0, 1, 3))


def judged(rows, score):
    return rows.with_columns(
        rater=pl.lit("r"), prompt=pl.lit("p"), score=pl.Series(score, dtype=pl.Float64)
    )


def monitored(rows, **options):
    [found] = monitor(Study.read(OUTPUTS, rows), half_width=0.05, **options)
    return found


def test_monitor_goes_by_the_draw_and_not_by_arrival(drawn):
    early = drawn.sort("time").head(120)
    gap = next(n for n in range(1, 201) if n not in set(early["draw"]))
    found = monitored(early)
    assert found.n == gap - 1
    assert found.notes[0] == (
        f"{120 - found.n} judged outputs wait for those drawn before them: the order is that of "
        f"the draw, and its number {gap} is not complete"
    )
    # with all back, arrival does not matter
    whole = drawn.sort("draw").drop("time")
    by_file = monitored(whole.drop("draw"))
    assert monitored(drawn.sort("time")).to_dict() == monitored(whole).to_dict()
    assert monitored(whole).to_dict() == by_file.to_dict()


def test_a_sample_lends_its_order(drawn):
    early = drawn.sort("time").head(120)
    own = early.select("item", "system", "rater", "prompt", "score", "time")
    assert monitored(own).n == 120
    assert monitored(own, sample=drawn).to_dict() == monitored(early).to_dict()


def test_monitor_of_what_is_easy_first_covers_only_by_the_draw():
    # mean of the pool 1/2; of what is back first more
    misses = {"draw": 0, "arrival": 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        score = rng.permutation(np.repeat([0.0, 1.0], 200))
        time = rng.exponential(size=400) * np.where(score > 0, 1, 3)
        rows = judged(
            OUTPUTS.with_columns(draw=pl.Series(rng.permutation(400) + 1), time=pl.Series(time)),
            score,
        )
        early = rows.sort("time").head(300)
        for name, part in (("draw", early), ("arrival", early.drop("draw"))):
            found = monitored(part)
            misses[name] += not found.low <= 0.5 <= found.high
    assert misses == {"draw": 0, "arrival": 40}


def test_judgments_that_say_whether_they_are_used_are_taken_at_their_word(drawn):
    # as a campaign exports them: number 3 waits for a replacement, number 9 is ahead
    rows = drawn.filter(pl.col("draw").is_in([1, 2, 4, 5, 9])).with_columns(
        submission=pl.int_range(5), use=pl.when(pl.col("draw") == 9).then(pl.lit("ahead"))
        .otherwise(pl.lit("used")),
    )  # fmt: skip
    found = monitored(rows)
    assert found.n == 4
    assert found.notes[0] == "1 judgments are not used, as their column use says"
    [estimate] = Study.read(OUTPUTS, rows).estimate()
    assert not any("of the draw are not judged" in note for note in estimate.notes)


def test_estimate_says_that_outputs_are_missing(drawn):
    early = drawn.sort("time").head(120)
    last = early["draw"].max()
    [found] = Study.read(OUTPUTS, early).estimate()
    note = f"{last - 120} of the first {last} outputs of the draw are not judged"
    assert any(one.startswith(note) for one in found.notes)
    plain = early.select("item", "system", "rater", "prompt", "score")
    [lent] = Study.read(OUTPUTS, plain).estimate(sample=drawn)
    assert any(one.startswith(note) for one in lent.notes)
    [whole] = Study.read(OUTPUTS, drawn.filter(pl.col("draw") <= 120)).estimate()
    assert not any("of the draw" in one for one in whole.notes)


def test_bad_draw_numbers_are_refused(drawn):
    some = drawn.with_columns(draw=pl.when(pl.col("draw") != 7).then("draw"))
    item = drawn.filter(pl.col("draw") == 7)["item"][0]
    with pytest.raises(InvalidDataError, match=f"column draw: item '{item}' of system 's' is judg"):
        monitored(some)
    twice = drawn.with_columns(draw=pl.col("draw").clip(1, 150))
    with pytest.raises(
        InvalidDataError, match="two outputs of system 's' have the draw number 150"
    ):
        monitored(twice)
