import numpy as np
import polars as pl
import pytest

from steelyard.errors import NotEstimableError
from steelyard.study import Study
from steelyard.study.overall_diagnosis import overall_diagnosis
from steelyard.tables import read_judgments, read_outputs


def collection(each=2):
    """Two systems of 60 outputs with a metric, 30 of each judged."""
    rng = np.random.default_rng(0)
    metric = rng.uniform(size=(2, 60))
    keys = [(system, item) for system in range(2) for item in range(60)]
    outputs = pl.DataFrame(
        [{"item": str(i), "system": f"s{s}", "length": float(metric[s, i])} for s, i in keys]
    )
    rows = [
        {
            "item": str(item),
            "system": f"s{system}",
            "rater": f"r{number}",
            "prompt": "p",
            "score": float(rng.uniform() < metric[system, item]),
        }
        for system, item in keys
        if item < 30
        for number in range(each)
    ]
    return outputs, pl.DataFrame(rows)


def shifted(outputs, used, system, by):
    """Move a system's scores and its metric, which changes nothing within systems."""
    own = pl.when(pl.col("system") == system).then(by).otherwise(0.0)
    return (
        read_outputs(outputs.with_columns(pl.col("length") + own)),
        used.with_columns(pl.col("score") + own),
    )


def test_what_sets_systems_apart_does_not_count():
    outputs, used = collection()
    here = overall_diagnosis(read_outputs(outputs), used, ["length"], prompt="p")
    there = overall_diagnosis(*shifted(outputs, used, "s1", 5.0), ["length"], prompt="p")
    assert here.system == there.system == "*"
    for name in ("item_variance", "rater_variance", "noise_ratio"):
        expected = getattr(here, name).to_dict()
        assert getattr(there, name).to_dict() == pytest.approx(expected, rel=1e-5)
    for name in ("correlation", "data_efficiency"):
        expected = getattr(here.metrics["length"], name).to_dict()
        assert getattr(there.metrics["length"], name).to_dict() == pytest.approx(expected, rel=1e-5)
    assert there.verdict == here.verdict
    assert any("within systems" in note for note in there.notes)


def test_one_system_alone_has_its_own_diagnosis():
    outputs, used = collection()
    outputs, used = read_outputs(outputs), used.filter(pl.col("system") == "s0")
    [expected] = Study(outputs, read_judgments(used)).diagnose(["length"], resamples=50)
    found = overall_diagnosis(outputs, used, ["length"], prompt="p", resamples=50)
    assert found.to_dict() == expected.to_dict()


def test_a_diagnosis_needs_repeated_judgments():
    outputs, used = collection(each=1)
    with pytest.raises(NotEstimableError, match="two judgments"):
        overall_diagnosis(read_outputs(outputs), used, ["length"], prompt="p")


def test_a_gap_in_a_metric_leaves_out_the_systems_that_lack_it():
    outputs, used = collection()
    gap = (pl.col("system") == "s1") & (pl.col("item") == "59")
    gappy = outputs.with_columns(length=pl.when(~gap).then("length"))
    found = overall_diagnosis(read_outputs(gappy), used, ["length"], prompt="p")
    expected = Study.read(gappy, used).diagnose(["length"], resamples=200)["*"]
    assert found.to_dict() == expected.to_dict()
    assert any("without 1 systems" in note for note in found.notes)
