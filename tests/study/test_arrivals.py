import numpy as np
import polars as pl
import pytest

from steelyard.errors import InvalidDataError
from steelyard.study.arrivals import arrivals
from steelyard.tables import read_judgments, read_outputs


def study(systems, *, items=5, seed=0):
    """Outputs with a metric that has an awkward name; all are judged twice, in random order."""
    rng = np.random.default_rng(seed)
    keys = [(str(item), f"s{system}") for system in range(systems) for item in range(items)]
    outputs = pl.DataFrame(
        {
            "item": [item for item, _ in keys],
            "system": [system for _, system in keys],
            "number": rng.uniform(size=len(keys)),
        }
    )
    draw = np.concatenate([1 + rng.permutation(items) for _ in range(systems)])
    rows = outputs.with_columns(draw=draw, prompt=pl.lit("p"))
    judgments = pl.concat([rows.with_columns(rater=pl.lit(name)) for name in ("r", "q")])
    judgments = judgments.with_columns(score=rng.uniform(size=judgments.height))
    return read_outputs(outputs), judgments.sample(fraction=1, shuffle=True, seed=seed)


def test_each_system_has_its_own_outputs_in_the_order_of_its_draw():
    outputs, judged = study(3)
    values = outputs.rows(columns=["item", "system", "number"])
    found = {
        one.system: one
        for one in arrivals(outputs, read_judgments(judged), ["number"], each=2, replacement=False)
    }
    for system in ("s0", "s1", "s2"):
        own = judged.filter(pl.col("system") == system).drop("number")
        means = own.group_by("item", "draw").agg(pl.col("score").mean()).sort("draw")
        known = means.join(values.filter(pl.col("system") == system), on="item")
        assert found[system].human.tolist() == pytest.approx(means["score"].to_list())
        assert found[system].metric[:, 0].tolist() == known.sort("draw")["number"].to_list()
        assert found[system].notes == ()


def test_what_waits_is_counted_for_each_system_apart():
    outputs, judged = study(3)
    one_missing = (pl.col("system") == "s1") & (pl.col("draw") == 2) & (pl.col("rater") == "r")
    found = {
        one.system: one
        for one in arrivals(
            outputs, read_judgments(judged.filter(~one_missing)), [], each=2, replacement=False
        )
    }
    assert [len(found[name].human) for name in ("s0", "s1", "s2")] == [5, 1, 5]
    assert found["s0"].notes == found["s2"].notes == ()
    waiting, ahead = found["s1"].notes
    assert waiting == "1 outputs wait for their 2 judgments"
    assert ahead.startswith("3 judged outputs wait for those drawn before them")
    assert "its number 2 is not complete" in ahead


def test_two_outputs_of_a_system_with_one_draw_number_are_refused():
    outputs, judged = study(3)
    same = pl.when(pl.col("system") == "s2").then(1).otherwise(pl.col("draw"))
    judgments = read_judgments(judged.with_columns(draw=same))
    with pytest.raises(InvalidDataError, match="two outputs of system 's2' have the draw number 1"):
        list(arrivals(outputs, judgments, [], each=2, replacement=False))


def test_rows_touched_grow_in_proportion_to_the_systems(monkeypatch):
    touched = []
    method = pl.DataFrame.filter

    def counted(self, *args, **options):
        touched.append(self.height)
        return method(self, *args, **options)

    def rows(systems):
        outputs, judged = study(systems)
        judgments = read_judgments(judged)
        touched.clear()
        found = list(arrivals(outputs, judgments, [], each=2, replacement=False))
        assert len(found) == systems
        return sum(touched)

    monkeypatch.setattr(pl.DataFrame, "filter", counted)
    assert rows(20) == 10 * rows(2)
