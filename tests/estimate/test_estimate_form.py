import json
import math

import pytest
from steelyard.estimate import Estimate

from steelyard.errors import InvalidDataError


def made(estimate, **changes):
    return Estimate(
        estimate=estimate,
        standard_error=0.5,
        low=estimate - 1,
        high=estimate + 1,
        level=0.95,
        target="pool",
        raters="fixed",
        method="mean",
        n_outputs=30,
        n_judgments=30,
        n_raters=6,
        pool_size=200,
        degrees_of_freedom=29.0,
        **changes,
    )


@pytest.fixture
def corrected():
    return made(2.5, slope=(0.7,), metrics=("length",), baseline=made(2.0))


def test_what_was_written_as_json_is_read_back(corrected):
    for found in (corrected, corrected.baseline, made(3.0)):
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
