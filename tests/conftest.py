"""No test depends on how fast the machine is; and what several parts of the tests share."""

import asyncio
import resource
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture
def observer_here(monkeypatch):
    """Let the dashboard be computed in this process: starting another takes seconds of a core."""
    from steelyard.collect.dashboard.observer import View

    class ObserverHere:
        def __init__(self, campaign, store):
            self.view = View(campaign, store)

        async def ask(self, question):
            return await asyncio.to_thread(question, self.view)

        async def close(self):
            pass

    monkeypatch.setattr("steelyard.collect.dashboard.live_snapshots.Observer", ObserverHere)


@pytest.fixture(scope="session")
def with_tables(tmp_path_factory):
    """Put an SQLite file with empty tables where none is: a copy takes a tenth of the time to make them."""
    from steelyard.collect.store import Store

    empty = tmp_path_factory.mktemp("empty") / "campaign.sqlite"
    Store.open(empty).close()

    def copy(database):
        if not Store.is_there(database):
            shutil.copy(empty, Path(database))
        return database

    return copy


@pytest.fixture
def no_file_larger():
    """Let no file grow beyond some bytes, as on a disk that is full."""

    @contextmanager
    def limit(size):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limit
