import math
from collections import Counter

import numpy as np
import polars as pl
import pytest

from steelyard.study import Study
from steelyard.study.monitoring import monitor
from steelyard.study.standing import Goal, standings
from steelyard.tables import Outputs, read_judgments, read_outputs


def collection(n=60, *, pool=200, each=2, seed=0, systems=("a", "b")):
    """Outputs with a metric, and judgments of the first n of each system's draw."""
    rng = np.random.default_rng(seed)
    outputs, rows = [], []
    for system in systems:
        metric = rng.uniform(size=pool)
        outputs += [
            {"item": str(i), "system": system, "length": float(g)} for i, g in enumerate(metric)
        ]
        for draw, item in enumerate(rng.permutation(pool)[:n], start=1):
            for number in range(each):
                rows.append(
                    {
                        "item": str(item),
                        "system": system,
                        "rater": f"r{number}",
                        "prompt": "p",
                        "score": float(rng.uniform() < metric[item]),
                        # the reverse of the draw: who goes by time goes wrong
                        "time": f"{n - draw:04d}",
                        "draw": draw,
                    }
                )
    return read_outputs(pl.DataFrame(outputs)), pl.DataFrame(rows)


BOUNDS = {"p": (0.0, 1.0)}


def test_the_sequence_is_that_of_the_order_of_the_draw():
    outputs, used = collection()
    in_order = used.with_columns(time=pl.col("draw").cast(pl.String))
    expected = monitor(
        Study(outputs, read_judgments(in_order)),
        ["length"],
        half_width=0.1,
        judgments_per_output=2,
    )
    goal = Goal(half_width=0.1, tuned_for=0.1, each=2)
    found = standings(outputs, used, ["length"], goal=goal, bounds=BOUNDS, paths=["p"])
    for one, other in zip(found, expected, strict=True):
        assert one.monitored.to_dict() == other.to_dict()
        assert one.path[-1] == (60, other.half_width)
        assert one.monitored.n == one.estimate.n_outputs == 60


def test_a_changed_goal_changes_the_signal_and_not_the_interval():
    outputs, used = collection()
    declared, wider, narrower = (
        standings(
            outputs,
            used,
            goal=Goal(half_width=width, tuned_for=0.1, each=2),
            bounds=BOUNDS,
        )[0].monitored
        for width in (0.1, 0.4, 0.05)
    )
    assert wider.low == narrower.low == declared.low
    assert (wider.stop, wider.expected_more) == (True, 0)
    assert not narrower.stop
    assert narrower.expected_more > declared.expected_more > 0
    # as the root of 1/n - 1/N
    share = (0.05 / declared.half_width) ** 2
    needed = 1 / (1 / 200 + (1 / 60 - 1 / 200) * share)
    assert narrower.expected_more == (math.ceil(needed) - 60) * 2


def test_the_forecast_leads_from_now_to_the_goal():
    outputs, used = collection()
    goal = Goal(half_width=0.08, tuned_for=0.08, each=2)
    one = standings(outputs, used, goal=goal, bounds=BOUNDS, paths=["p"])[0]
    numbers = [n for n, _ in one.forecast]
    widths = [width for _, width in one.forecast]
    assert numbers[0] > 60
    assert numbers[-1] == 60 + one.monitored.expected_more // 2
    assert widths == sorted(widths, reverse=True)
    assert widths[0] < one.monitored.half_width
    assert widths[-1] == pytest.approx(0.08)


def test_without_a_goal_nothing_is_reached_and_nothing_expected():
    outputs, used = collection()
    one = standings(outputs, used, goal=Goal(half_width=None, each=2), bounds=BOUNDS)[0]
    assert not one.monitored.stop
    assert one.monitored.expected_more is None
    assert one.forecast == one.path == ()


def test_a_metric_that_cannot_be_used_gives_the_plain_mean_and_the_reason():
    outputs, used = collection(n=4)
    constant = read_outputs(outputs.rows().with_columns(length=pl.lit(1.0)))
    one = standings(constant, used, ["length"], goal=Goal(half_width=0.1, each=2), bounds=BOUNDS)[0]
    assert not any(one.estimate.shares)
    assert one.estimate.estimate == one.estimate.baseline.estimate
    assert any("the same on all outputs" in note for note in one.estimate.notes)


def test_one_judged_output_has_no_estimate_but_an_interval_at_all_times():
    outputs, used = collection(n=1, systems=("a",))
    [one] = standings(outputs, used, goal=Goal(half_width=0.1, each=2), bounds=BOUNDS)
    assert one.monitored.n == 1
    assert one.estimate is None or one.estimate.n_outputs == 1
    assert one.monitored.high - one.monitored.low > 0.9


def test_a_prompt_that_some_outputs_have_no_score_of_has_no_sequence():
    outputs, used = collection(systems=("a",))
    other = used.with_columns(prompt=pl.lit("q")).filter(pl.col("draw") > 10)
    found = standings(
        outputs,
        pl.concat([used, other]),
        goal=Goal(half_width=0.1, each=2),
        bounds=BOUNDS | {"q": (0.0, 1.0)},
    )
    assert found[0].monitored is not None
    assert found[1].monitored is None
    assert any("10 judged outputs have no score" in note for note in found[1].notes)


def test_scores_without_a_greatest_value_have_no_sequence():
    outputs, used = collection(systems=("a",))
    [one] = standings(
        outputs, used, goal=Goal(half_width=0.1, each=2), bounds={"p": (0.0, math.inf)}
    )
    assert one.monitored is None
    assert one.estimate is not None


def test_nothing_judged_is_nothing_known():
    outputs, used = collection(systems=("a",))
    assert standings(outputs, used.clear(), goal=Goal(half_width=0.1), bounds=BOUNDS) == []


def test_the_pool_is_read_as_often_for_many_systems_as_for_few(monkeypatch):
    passes = Counter()
    for name in ("rows_of", "pool_moments"):
        method = getattr(Outputs, name)

        def counted(self, *args, _method=method, _name=name, **options):
            passes[_name] += 1
            return _method(self, *args, **options)

        monkeypatch.setattr(Outputs, name, counted)

    def read(number):
        passes.clear()
        outputs, used = collection(n=6, pool=20, systems=[f"s{k}" for k in range(number)])
        goal = Goal(half_width=0.1, each=2)
        assert len(standings(outputs, used, ["length"], goal=goal, bounds=BOUNDS)) == number
        return dict(passes)

    assert read(12) == read(3)


def test_one_system_that_cannot_be_estimated_costs_the_others_nothing():
    outputs, used = collection(n=12, systems=("a", "b", "c", "d", "e"))
    only_one = used.filter((pl.col("system") != "d") | (pl.col("draw") == 1))
    goal = Goal(half_width=0.1, each=2)
    found = standings(outputs, only_one, ["length"], goal=goal, bounds=BOUNDS)
    assert [one.system for one in found] == ["a", "b", "c", "d", "e"]
    without = used.filter(pl.col("system") != "d")
    others = standings(outputs, without, ["length"], goal=goal, bounds=BOUNDS)
    known = {one.system: one.estimate for one in others}
    for one in found:
        if one.system == "d":
            assert one.estimate is None
            assert any("at least 2 judged outputs; got 1" in note for note in one.notes)
        else:
            assert one.notes == ()
            assert one.estimate.estimate == pytest.approx(known[one.system].estimate)
            assert one.estimate.low == pytest.approx(known[one.system].low)


def test_all_systems_are_estimated_in_one_pass_by_the_default(monkeypatch):
    outputs, used = collection(n=12, systems=("a", "b", "c"))
    judgments = read_judgments(used.with_columns(time=pl.col("draw").cast(pl.String)))
    expected = Study(outputs, judgments).estimate(["length"], bounds=BOUNDS["p"], ledger=True)
    calls = Counter()
    estimate = Study.estimate

    def counted(self, *args, **options):
        calls["estimate"] += 1
        return estimate(self, *args, **options)

    monkeypatch.setattr(Study, "estimate", counted)
    goal = Goal(half_width=0.1, each=2)
    found = standings(outputs, used, ["length"], goal=goal, bounds=BOUNDS)
    assert [one.estimate for one in found] == expected
    assert calls["estimate"] == 1


def test_systems_that_cannot_be_estimated_each_have_their_own_reason():
    outputs, used = collection(n=1, systems=("a", "b"))
    found = standings(outputs, used, goal=Goal(half_width=0.1, each=2), bounds=BOUNDS)
    assert all(one.notes[0].startswith("an interval needs at least 2") for one in found)
