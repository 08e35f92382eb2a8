"""The benchmarks of speed and of faults measure and count right, and their tables say what they found."""

import json
import random
import signal
import subprocess
import sys

import pytest
from benchmarks.faults import __main__ as faults
from benchmarks.faults.outcome import Outcome, TooLongError, bounded, one_line
from benchmarks.faults.spoilt_files import FORMATS, ask, readers, rows, spoilt
from benchmarks.honesty import tables
from benchmarks.honesty.results import Results
from benchmarks.speed import __main__ as speed
from benchmarks.speed.child import measured
from benchmarks.speed.contests import CONTESTS, US

QUICK = {"one system, arrays", "compare", "crossed components"}
SPEED = {"part": "speed", "runs": 1, "seed": 0, "version": "1"}


def test_the_least_of_several_calls_counts():
    calls = []
    found = measured(lambda: calls.append(sum(range(20_000))))
    assert len(calls) == 5
    assert 0 <= found["seconds"] < 1
    assert found["megabytes"] > 10


@pytest.mark.parametrize("contest", CONTESTS, ids=lambda contest: contest.name)
def test_every_contestant_has_the_smallest_job(contest, tmp_path):
    asked = dict.fromkeys(who for size, who in contest.asked() if size == contest.sizes[0])
    assert list(asked) == list(contest.works)
    if contest.name in QUICK:
        for work in contest.works.values():
            work(contest.sizes[0], tmp_path)()


def test_a_measurement_is_a_line_of_a_process():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed.child", "one system, arrays", US, "1000"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout).keys() == {"seconds", "megabytes"}


def test_tables_compare_equal_jobs(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    for who, seconds in ((US, 0.002), ("ppi-python", 0.05)):
        job = {"cell": "one system, arrays", "n": 1_000, "who": who}
        results.put(SPEED | job | {"seconds": seconds, "megabytes": 90})
    for who, pairs, seconds in ((US, 12_000, 0.3), ("sacrebleu", 600, 0.2)):
        job = {"cell": "BLEU", "n": pairs, "who": who}
        results.put(SPEED | job | {"seconds": seconds, "megabytes": 90})
    assert tables.growth(results).splitlines()[2] == (
        "| one system, arrays | 1,000 outputs in the pool | 2 ms | 90 MB | ppi-python | 50 ms | 90 MB | 25 |"
    )
    assert tables.rates(results).splitlines()[2] == "| BLEU | sacrebleu | 40,000 | 3,000 | 13 |"


@pytest.mark.parametrize(
    ("module", "given", "said"),
    [
        (speed, ["nonsense"], "no such name: nonsense"),
        (faults, ["nonsense"], "no such subject: nonsense"),
        (faults, ["--times", "0"], "--times"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(module, given, said, capsys):
    with pytest.raises(SystemExit) as stop:
        module.arguments(given)
    assert stop.value.code == 2
    assert said in capsys.readouterr().err.splitlines()[-1]


def test_good_files_of_every_format_are_estimated(tmp_path):
    for suffix, write in FORMATS.items():
        paths = [tmp_path / f"{name}{suffix}" for name in ("outputs", "judgments")]
        for path, table in zip(paths, rows(), strict=True):
            path.write_bytes(write(table))
        assert ask("estimate", *paths) == (0, ""), suffix


def test_spoilt_files_are_read_or_refused_in_one_line():
    found = readers(18)
    assert (found.tried, found.wrong, found.lost) == (36, 0, 0), found.seen


def test_what_goes_wrong_is_counted(monkeypatch):
    monkeypatch.setattr("benchmarks.faults.spoilt_files.ask", lambda *_: (None, "KeyError: 'x'"))
    found = readers(2)
    assert found.wrong == 4
    assert "KeyError" in found.seen


def test_one_line_is_one_line_of_ours():
    assert one_line("steelyard: a.csv, line 3: no\n")
    assert not one_line("Traceback (most recent call last):\nKeyError\n")
    assert not one_line("")


def test_what_takes_too_long_is_ended():
    with pytest.raises(TooLongError), bounded(0.01):
        signal.pause()


def test_spoiling_changes_the_bytes():
    content = b"item,system\n" + b"1,a\n" * 40
    assert sum(spoilt(content, random.Random(seed)) != content for seed in range(50)) > 45


def test_the_table_of_faults_says_what_was_lost(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    key = {"part": "faults", "cell": "kill", "n": 0, "who": "score", "runs": 3, "seed": 0}
    found = Outcome(3, 0, 0, 100, "rows", "the same bytes")
    results.put(key | {"version": "1"} | found.record())
    assert tables.faults(results).splitlines()[2] == ("| score | kill | 3 | 0 | 0 of 100 rows |")
