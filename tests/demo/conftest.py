import pytest

from steelyard.demo import Campaign, campaign
from steelyard.demo.domains import read_domains
from steelyard.demo.grammar import Domain


@pytest.fixture(scope="session")
def simulated() -> Campaign:
    return campaign()


@pytest.fixture(scope="session")
def domains() -> tuple[Domain, ...]:
    return read_domains()
