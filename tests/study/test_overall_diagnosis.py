import numpy as np
import polars as pl
import pytest

from steelyard.data import read_judgments, read_outputs
from steelyard.errors import NotEstimableError
from steelyard.study import Study
from steelyard.study.overall_diagnosis import overall_diagnosis


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
    return read_outputs(outputs), pl.DataFrame(rows)


def test_the_diagnosis_is_that_of_all_systems_as_one_pool():
    outputs, used = collection()
    expected = Study(outputs, read_judgments(used)).diagnose(["length"], resamples=50)[-1]
    found = overall_diagnosis(outputs, used, ["length"], prompt="p", resamples=50)
    assert found.system == expected.system == "*"
    assert found.item_variance == expected.item_variance
    assert found.metrics["length"].data_efficiency == expected.metrics["length"].data_efficiency


def test_a_diagnosis_needs_repeated_judgments():
    outputs, used = collection(each=1)
    with pytest.raises(NotEstimableError, match="two judgments"):
        overall_diagnosis(outputs, used, ["length"], prompt="p")
