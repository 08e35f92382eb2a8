import pytest

from steelyard.data.conversion import CONVERTERS, converter
from steelyard.errors import InvalidArgumentError


@pytest.mark.parametrize("name", CONVERTERS)
def test_every_registered_format_has_its_converter(name):
    assert callable(converter(name))


def test_an_unknown_format_is_refused():
    with pytest.raises(InvalidArgumentError, match="must be one of price-of-debiasing; got 'csv'"):
        converter("csv")
