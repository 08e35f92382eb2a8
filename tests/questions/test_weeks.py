"""Weeks: a change has its right name, and years without one are quiet."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from steelyard.cli import main
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.questions.weeks import Stream, Week, read_weeks, weeks


def test_a_change_is_dated_and_sized_by_the_weeks_before_and_since():
    # errors of 1: 4 weeks at 0 and 4 at 6 differ by 6, with error sqrt(1/4 + 1/4)
    mean = np.array([0.0, 0, 0, 0, 6, 6, 6, 6])
    noticed, since, size, error = Stream(mean, np.ones(8)).alarm(0.05)
    # sqrt(1/4 + 1) = 1.118 is the error of one week beside four: 6 / 1.118 = 5.4 passes 3.66 at once
    assert (noticed, since, size) == (4, 4, 6)
    assert error == pytest.approx(np.sqrt(5 / 4))
    # 4 / 1.118 = 3.58 does not, and two weeks do: 4 / sqrt(1/4 + 1/2) = 4.6
    assert Stream(mean * 4 / 6, np.ones(8)).alarm(0.05)[:2] == (5, 4)
    # a week without judgments is left out
    gap = Stream(np.insert(mean, 2, np.nan), np.insert(np.ones(8), 2, np.nan))
    assert gap.alarm(0.05)[:2] == (5, 5)
    assert Stream(mean / 6, np.ones(8)).alarm(0.05) is None


def test_a_year_without_a_change_has_an_alarm_in_at_most_a_share():
    rng = np.random.default_rng(4)
    years = 400
    for share in (0.05, 0.01):
        alarms = sum(
            Stream(rng.standard_normal(52), np.ones(52)).alarm(share) is not None
            for _ in range(years)
        )
        assert binomtest(alarms, years, share).pvalue > 0.01


def made(change, *, count=16, start=8, anchors=4, seed=3):
    """Weeks of two systems, with 30 judged outputs of 60 each and a change from one week on."""
    rng = np.random.default_rng(seed)
    some, before = [], []
    for t in range(count):
        late = t >= start
        shift, rows = change.get("raters", 0.0) * late, []
        quality = {"a": rng.standard_normal(60) + change.get("system", 0.0) * late}
        quality["b"] = rng.standard_normal(60)
        judge = np.concatenate(list(quality.values())) + 0.4 * rng.standard_normal(120)
        outputs = pl.DataFrame(
            {
                "item": [f"{t}-{i}" for i in range(60)] * 2,
                "system": ["a"] * 60 + ["b"] * 60,
                "judge": 2 * (judge + change.get("judge", 0.0) * late),
            }
        )
        again = [before[place] for place in rng.permutation(len(before))[:anchors]]
        today = [(f"{t}-{i}", s, quality[s][i]) for s in "ab" for i in range(30)]
        for item, s, value in [*today, *again]:
            for rater in ("r1", "r2"):
                rows.append((item, s, rater, value + shift + 0.5 * rng.standard_normal()))
        before += today
        judgments = pl.DataFrame(rows, ["item", "system", "rater", "score"], orient="row")
        some.append(Week(f"w{t:02}", outputs, judgments))
    return some


@pytest.mark.parametrize(
    ("change", "what", "system"),
    [
        ({"system": -0.8}, "system", "a"),
        ({"judge": 0.8}, "judge", None),
        ({"raters": -0.8}, "raters", None),
    ],
)
def test_a_change_has_its_right_name(change, what, system):
    found = weeks(made(change))
    assert [(one.what, one.system, one.since) for one in found.changes] == [(what, system, "w08")]
    (one,) = found.changes
    # of a metric with slope 2, in units of the human scores
    assert abs(abs(one.size) - 0.8) < 3 * one.standard_error
    assert f"changed: since w08 {abs(one.size):.2g} " in found.sentence
    assert json.loads(json.dumps(found.to_dict()))["changes"][0]["what"] == what


def test_nothing_is_said_of_weeks_without_a_change_but_what_cannot_be_told():
    found = weeks(made({}, anchors=0))
    assert (found.changes, found.sentence) == ((), "nothing changed for sure in 16 weeks")
    assert [note.partition(",")[0] for note in found.notes] == [
        "no output of an earlier week was judged again"
    ]
    with pytest.raises(NotEstimableError, match="a change needs two weeks or more; got 1"):
        weeks(made({}, count=1))


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    return call


def test_a_folder_of_dated_files_is_monitored_and_a_change_ends_with_code_3(run, tmp_path):
    for week in made({"system": -1.5}, count=6, start=3):
        outputs = week.outputs.with_columns(output=pl.col("item") + pl.col("system"))
        outputs.write_csv(tmp_path / f"{week.name}-outputs.csv")
        judgments = week.judgments.with_columns(prompt=pl.lit("overall"))
        judgments.write_csv(tmp_path / f"{week.name}-judgments.csv")
    code, out, _ = run("monitor", tmp_path)
    assert code == 3
    assert "system a changed: since w03 1." in " ".join(out.split())
    # the last week is monitored, by its own systems
    assert "a@w02" not in out.partition("note:")[0]
    code, out, err = run("monitor", tmp_path, "--json")
    assert code == 3
    assert "system a changed: since w03" in err
    json.loads(out)


def test_one_metric_and_one_prompt_are_compared():
    outputs = pl.DataFrame({"item": [1, 2], "system": "a", "x": [1.0, 2], "y": [2.0, 1]})
    judgments = pl.DataFrame(
        {"item": [1, 2], "system": "a", "rater": "r", "prompt": ["p", "q"], "score": [1.0, 2]}
    )
    files = [("w", outputs, judgments)]
    with pytest.raises(InvalidArgumentError, match="`--metric` must name one of x, y"):
        read_weeks(files)
    with pytest.raises(InvalidArgumentError, match="`--prompt` must name one of p, q"):
        read_weeks(files, metric="x")
    (week,) = read_weeks(files, metric="y", prompt="q")
    assert (week.outputs["judge"].to_list(), week.judgments["score"].to_list()) == ([2, 1], [2])
