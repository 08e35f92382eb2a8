import json

import numpy as np
import polars as pl
import pytest

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.study import Study


def study(*, judged=None, shared=(), apart=0.0, draw=False):
    """Systems a, b, c of 60 items; `judged` of each, c far above the others; the same text for items `shared`."""
    rng = np.random.default_rng(0)
    items = rng.standard_normal(60)
    outputs, rows = [], []
    order = rng.permutation(60)
    for number, system in enumerate("abc"):
        for i in range(60):
            text = f"text {i}" + ("" if i in shared and system != "c" else f" of {system}")
            outputs.append({"item": f"i{i:02d}", "system": system, "output": text})
        for place, i in enumerate(order[: (judged or {}).get(system, 20)], start=1):
            score = 3 * items[i] + 0.2 * rng.standard_normal() + apart * (number == 2)
            row = {"item": f"i{i:02d}", "system": system, "rater": f"r{place % 7}", "score": score}
            if draw:
                row |= {"probability": 1 / 3, "draw": place, "design": "simple"}
            rows.append(row)
    return Study.read(pl.DataFrame(outputs), pl.DataFrame(rows))


def test_all_systems_get_the_same_items_that_were_not_judged():
    one = study()
    found = one.next_sample(10, seed=1)
    parts = found.frame.partition_by("system")
    assert [set(part["item"]) for part in parts] == [set(parts[0]["item"])] * 3
    judged = set(one.judgments.frame["item"])
    assert not judged & set(found.frame["item"])
    assert found.rules == ("the same items for all systems in question",)
    assert [part.height for part in parts] == [10, 10, 10]


def test_a_text_that_several_systems_wrote_comes_once():
    found = study(shared=range(60)).next_sample(10, seed=1).frame
    assert found.height == 20
    assert json.loads(found.filter(pl.col("system") == "a")["also_by"][0]) == ["b"]


def test_a_text_that_was_judged_for_another_system_does_not_come_again():
    found = study(judged={"b": 2}, shared=range(60)).next_sample(30, systems=["b"], seed=1)
    judged = set(study(shared=range(60)).judgments.frame.filter(pl.col("system") == "a")["item"])
    assert not judged & set(found.frame["item"])


def test_a_pair_gets_only_items_on_which_it_differs():
    found = study(shared=range(0, 60, 2)).next_sample(10, pair=("a", "b"), seed=1)
    assert all(int(item[1:]) % 2 for item in found.frame["item"])
    with pytest.raises(InvalidArgumentError, match="items that are left"):
        study(shared=range(0, 60, 2)).next_sample(40, pair=("a", "b"), seed=1)


def test_a_new_version_is_judged_first_where_others_were():
    one = study(judged={"a": 30, "b": 30, "c": 4})
    alone = one.next_sample(10, systems=["c"], seed=1)
    assert "items that other systems were judged on come first" in alone.rules
    judged = set(one.judgments.frame.filter(pl.col("system") == "a")["item"])
    assert set(alone.frame["item"]) <= judged


def test_systems_that_are_decided_get_nothing():
    found = study(apart=5.0).next_sample(5, undecided=True, seed=1)
    assert set(found.frame["system"]) == {"a", "b"}
    assert "none of c, which is decided" in found.rules
    with pytest.raises(NotEstimableError, match="nothing is left to judge"):
        study(apart=5.0).next_sample(5, pair=("a", "c"), undecided=True, seed=1)


def test_chances_go_on_from_the_draw_before_and_the_whole_stays_a_simple_draw():
    one = study(draw=True)
    found = one.next_sample(10, seed=1).frame
    assert found["probability"].unique().to_list() == [0.5]
    assert found.filter(pl.col("system") == "a")["draw"].to_list() == list(range(21, 31))
    more = found.select("item", "system", "probability", "draw", "design").with_columns(
        rater=pl.lit("r1"), prompt=pl.lit("overall"), score=pl.lit(1.0) * pl.col("draw") % 3
    )
    both = pl.concat([one.judgments.frame, more], how="diagonal")
    after = Study.read(one.outputs.rows(), both).estimate()
    assert [len(row.notes) for row in after] == [0, 0, 0]
    assert {row.n_outputs for row in after} == {30}


def test_no_such_system_and_no_number_are_named():
    with pytest.raises(InvalidArgumentError, match="'z' is not in"):
        study().next_sample(5, systems=["z"], seed=1)
    with pytest.raises(InvalidArgumentError, match="`n` must be at least 1"):
        study().next_sample(0, seed=1)
