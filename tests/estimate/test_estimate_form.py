import json
import math

import numpy as np
import pytest

from steelyard.errors import InvalidDataError
from steelyard.estimate import Estimate, control_variates, sample_mean


@pytest.fixture
def corrected():
    rng = np.random.default_rng(3)
    pool = rng.normal(size=200)
    human = pool[:30] + rng.normal(size=30)
    return control_variates(human, pool[:30], pool, raters=np.arange(30) % 6)


def test_what_was_written_as_json_is_read_back(corrected):
    for found in (corrected, corrected.baseline, sample_mean([1, 2, 4])):
        form = json.loads(json.dumps(found.to_dict()))
        again = Estimate.from_dict(form)
        assert again.to_dict() == form
        assert (again.half_width, again.about) == (found.half_width, found.about)
        assert again.data_efficiency == found.data_efficiency
        assert math.isnan(again.degrees_of_freedom)


def test_the_baseline_that_is_read_back_is_a_plain_mean(corrected):
    baseline = Estimate.from_dict(corrected.to_dict()).baseline
    assert baseline.estimate == corrected.baseline.estimate
    assert (baseline.metrics, baseline.slope, baseline.baseline) == ((), (), None)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"low": None}, None),
        ({"lo": 1.0}, "estimate must have the keys of `estimate --json`; this one has lo"),
        ({"baseline": {"estimate": 1.0}}, "baseline .* lacks high, low, standard_error"),
    ],
)
def test_a_form_with_other_keys_is_refused(corrected, change, says):
    form = corrected.to_dict() | change
    if says is None:
        del form["low"]
        says = "this one lacks low"
    with pytest.raises(InvalidDataError, match=says):
        Estimate.from_dict(form)
