"""The benchmark of honesty counts right, resumes, and what it shows of the default still holds."""

import json
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from benchmarks.honesty import budget, decisions, page, paper
from benchmarks.honesty.__main__ import arguments, run
from benchmarks.honesty.drawn_cases import Answers, replays
from benchmarks.honesty.kinds import KINDS, campaign, equal_campaign
from benchmarks.honesty.means import cell, cells
from benchmarks.honesty.peers import PEERS, RUNNERS, Asked
from benchmarks.honesty.results import FILE, Results
from benchmarks.honesty.summary import DEFAULT, averages, common

RUNS = 40
RECORD = {"part": "means", "cell": "normal", "n": 20, "who": "us", "runs": 5, "seed": 1}


def test_counts_of_a_hand_worked_example():
    # two replays of one system, truth 0: one interval holds; squared errors 1 and 4 against 4 and 4
    plain = Answers(np.array([[[2.0, 0.0, 4.0]], [[-2.0, -4.0, 0.0]]]))
    found = Answers(np.array([[[1.0, -0.5, 2.5]], [[2.0, 1.0, 3.0]]])).counted(plain)
    assert found["coverage"] == 0.5
    assert found["width"] == 2.5
    assert found["width_ratio"] == pytest.approx(5 / 8)
    assert found["bias"] == 1.5
    assert found["cost"] == pytest.approx(5 / 8)
    assert found["refused"] == 0.0


def test_refused_cases_count_as_refused_and_nothing_else():
    plain = Answers(np.array([[[1.0, -1.0, 3.0]], [[3.0, 1.0, 5.0]]]))
    found = Answers(np.array([[[1.0, -1.0, 3.0]], [[np.nan] * 3]])).counted(plain)
    assert (found["refused"], found["coverage"], found["cost"]) == (0.5, 1.0, 1.0)
    assert Answers(np.full((2, 1, 3), np.nan)).counted(plain) == {"refused": 1.0}


def test_a_cell_that_is_there_is_not_run_again(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    results.put(RECORD | {"version": "1", "ways": {}})
    again = Results(tmp_path / "results.jsonl")
    assert again.has(**RECORD, version="1")
    assert again.has(**RECORD | {"runs": 4}, version="1")
    assert not again.has(**RECORD | {"runs": 6}, version="1")
    assert not again.has(**RECORD, version="2")
    assert not again.has(**RECORD | {"n": 50}, version="1")


def test_time_is_expected_from_the_same_cell_or_from_others_of_the_contestant(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    for cell_name, seconds in (("normal", 10.0), ("binary", 20.0)):
        results.put(RECORD | {"cell": cell_name, "version": "1", "ways": {}, "seconds": seconds})
    wanted = [
        RECORD | {"runs": 10},
        RECORD | {"cell": "skewed", "runs": 10},
        RECORD | {"part": "paper", "runs": 10},
        RECORD | {"who": "nobody"},
    ]
    # 5 runs took 10 and 20 seconds
    assert budget.predicted(results, wanted) == [20.0, 30.0, 30.0, None]
    said = list(budget.lines(results, [one | {"version": "1"} for one in wanted]))
    assert said[1].split() == ["means", "3", "3", "0.8", "0.8"]
    assert said[-1] == "nothing is known of: means of nobody"


def test_a_dry_run_measures_nothing(tmp_path, capsys):
    run(["stopping", "--dry-run", "--results", str(tmp_path / "results.jsonl")])
    assert "stopping" in capsys.readouterr().out
    assert not (tmp_path / "results.jsonl").exists()


def test_ours_are_replayed_more_often_than_peers_and_slow_peers_less():
    asked = {
        (record["who"], record["n"]): record["runs"] for record, _ in cells(250, kinds=KINDS[:1])
    }
    assert asked["steelyard", 20] == 1000
    assert asked["steelyard", 200] == 500
    assert asked["ppi-python", 20] == 250
    assert asked["cje-eval", 20] == 3


def test_a_cell_with_more_runs_takes_the_place_of_the_older_one(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    for runs in (5, 9):
        results.put(RECORD | {"runs": runs, "version": "1", "ways": {}})
    [line] = (tmp_path / "results.jsonl").read_text().splitlines()
    assert json.loads(line)["runs"] == 9


def test_tools_are_compared_on_the_cells_that_all_have():
    rows = [{"cell": "a", "n": n, "who": who} for n, who in ((20, "us"), (20, "peer"), (50, "us"))]
    assert common(rows) == rows[:2]


def test_more_replays_extend_fewer():
    few, many = (list(replays(KINDS[0], 20, runs)) for runs in (1, 3))
    for one, same in zip(few[0], many[0], strict=True):
        assert (one.human == same.human).all()
    assert (many[0][0].human != many[1][0].human).any()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_truth_of_a_kind_is_the_mean_of_very_many_judgments(kind):
    rng = np.random.default_rng(1)
    panels = [campaign(kind, rng)[0] for _ in range(40 if kind.raters != "unknown" else 3)]
    chosen = np.arange(1000)
    for_each = 5 if kind.raters != "unknown" else 40
    errors = [
        np.mean([one.judge(rng, chosen)[0].mean() for _ in range(for_each)]) - one.truth
        for one in panels
    ]
    scale = panels[0].human.std()
    assert abs(np.mean(errors)) < (0.3 if kind.raters != "unknown" else 0.02) * scale


def test_the_papers_pools_are_as_large_as_is_said():
    assert {len(one.human) for kind in paper.KINDS for one in kind.campaign(None)} == {paper.POOL}


def test_equal_systems_are_equal():
    kind = KINDS[3]
    found = equal_campaign(kind, np.random.default_rng(1))
    assert np.ptp([one.truth for one in found]) < 1e-4


def test_decisions_are_counted_by_campaign():
    truth = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    # pairs 01, 02, 12: right winner and a wrong claim; then nothing claimed
    claims = np.array(
        [[[0.5, 2, 1], [0.5, 2, 1], [0.1, 1, 1]], [[-1, 2, 0], [-1, 2, 0], [-1, 1, 0]]]
    )
    found = decisions.counted(claims.astype(float), truth, 1.0)
    assert found["wrong_claims"] == 0.5
    assert found["joint_coverage"] == 0.5
    assert found["decided"] == 0.5
    assert (found["winner"], found["wrong_winner"]) == (0.5, 0.0)


def test_the_page_is_made_from_the_results_and_nothing_else():
    # made by: python -m benchmarks.honesty page
    assert page.PAGE.read_text(encoding="utf-8") == page.text(Results(FILE))


def test_results_are_of_the_versions_that_the_benchmark_installs():
    versions = {peer.package: peer.version for peer in PEERS}
    for record in Results(FILE):
        if record["who"] in versions:
            assert record["version"] == versions[record["who"]], record["who"]


PEER = """
import sys
sys.path.insert(0, {folder!r})
from loop import serve, unlabelled, with_gaps
def way(case):
    print("not an answer")
    if case["human"][0] > 1:
        raise ValueError("too large")
    return case["human"].mean(), unlabelled(case).sum(), (with_gaps(case) > 0).sum()
serve({{"way": way}})
"""


@dataclass(frozen=True)
class Here:
    package: str = "peer"
    runner: str = ""
    python: str = sys.executable


def test_a_peer_answers_from_its_process_and_its_refusals_keep_their_reason(tmp_path):
    script = tmp_path / "peer.py"
    script.write_text(PEER.format(folder=str(RUNNERS)))
    asked = Asked(Here(), script)
    cases = {
        "human": np.array([[1.0, 2.0], [5.0, 2.0]]),
        "chosen": np.array([[0, 2], [0, 1]]),
        "pool": np.array([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0]]),
        "bounds": np.array([0.0, 5.0]),
    }
    for _ in range(2):
        found, refused = asked.answers(cases)
        assert found["way"][0].tolist() == [1.5, 2.0, 2.0]
        assert np.isnan(found["way"][1]).all()
        assert refused == {"way": "ValueError: too large"}
    asked.close()


def test_a_peer_that_ends_is_named_with_the_last_line_of_its_complaint(tmp_path):
    script = tmp_path / "peer.py"
    script.write_text("raise SystemExit('no such module')")
    asked = Asked(Here(), script)
    with pytest.raises(SystemExit, match="peer ended: no such module"):
        asked.answers({"human": np.zeros((1, 2))})
    asked.close()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["means", "nonsense"], "no such part: nonsense"),
        (["--runs", "1"], "--runs"),
        (["--sizes", "1000"], "--sizes"),
        (["paper", "--sizes", "600"], "--sizes must be below 500"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(given, said, capsys):
    with pytest.raises(SystemExit) as stop:
        arguments(given)
    assert stop.value.code == 2
    assert said in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.slow
def test_the_default_covers_and_is_narrower_and_cheaper_than_student_t():
    chosen = {
        "normal",
        "binary",
        "three levels",
        "many weak metrics",
        "useless metrics",
        "ten raters",
    }
    rows = [
        {"cell": kind.name, "n": 30, "runs": RUNS, "way": way} | counts
        for kind in KINDS
        if kind.name in chosen
        for way, counts in cell(kind, 30, RUNS)["ways"].items()
    ]
    found = averages([row for row in rows if row["way"] in (DEFAULT, "plain t")])
    default = found[DEFAULT]
    # 960 intervals: below 94% beyond chance means below it by three standard errors
    assert default.coverage + 3 * default.coverage_se > 0.94
    apart = averages([row for row in rows if row["cell"] != "ten raters"])[DEFAULT]
    assert apart.width < 1.0
    assert default.cost - 3 * default.cost_se < 1.0
    worst = min(row["coverage"] + 4 * row["coverage_se"] for row in rows if row["way"] == DEFAULT)
    assert worst > 0.94
    dear = max(row["cost"] - 3 * row["cost_se"] for row in rows if row["way"] == DEFAULT)
    assert dear < 1.02
