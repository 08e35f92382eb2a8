from dataclasses import FrozenInstanceError

import pytest

from steelyard.variance import Quantity


def test_has_stable_keys_and_prints_itself_in_a_line():
    quantity = Quantity(2.0, 1.5, 3.25)
    assert quantity.to_dict() == {"value": 2.0, "low": 1.5, "high": 3.25}
    assert str(quantity) == "2.000 [1.500, 3.250]"


def test_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Quantity(2.0, 1.5, 3.25).value = 1.0
