"""No acknowledged judgment is lost when the server is killed while people work."""

import asyncio
import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from functools import partial

import pytest
from benchmarks.raters import Rater, new_key, write_campaign
from sqlalchemy import text

import forking_server
from steelyard.collect.store import Store

BROKEN = (OSError, asyncio.IncompleteReadError, TimeoutError)


class Server:
    """The real command on a fixed port, to be killed and started again."""

    def __init__(self, campaign):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.arguments = [campaign, "--port", str(port)]
        self.process = None

    def start(self):
        """Start it; return the link for raters once it is printed."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "steelyard", "serve", *self.arguments],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        return self.link()

    def link(self):
        for line in self.process.stdout:
            found = re.search(r"(http://\S+/join\S*)", line)
            if found:
                return found[1]
            if line == "ended\n":
                break
        raise AssertionError("the server ended before it was ready")

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            self.kill()


class ForkedServer(Server):
    """The same, in processes that need not load every module first."""

    def __init__(self, campaign):
        super().__init__(campaign)
        self.process = subprocess.Popen(
            [sys.executable, forking_server.__file__, *self.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.child = None

    def start(self):
        print(file=self.process.stdin, flush=True)
        self.child = int(self.process.stdout.readline())
        return self.link()

    def kill(self):
        os.killpg(self.child, signal.SIGKILL)
        while self.process.stdout.readline() not in {"ended\n", ""}:
            pass

    def close(self):
        with self.process, contextlib.suppress(ProcessLookupError):
            self.kill()


async def until_answered(attempt):
    """Try again while there is no server, as the page does."""
    while True:
        try:
            return await attempt()
        except BROKEN:
            await asyncio.sleep(0.05)


class Promises:
    """The keys of the judgments that were acknowledged."""

    def __init__(self):
        self.keys = []
        self.more = asyncio.Condition()

    async def add(self, key):
        async with self.more:
            self.keys.append(key)
            self.more.notify_all()

    async def reach(self, count):
        async with self.more:
            await self.more.wait_for(lambda: len(self.keys) >= count)


async def rate(rater, over, promises):
    """Work until told to stop; keep the key of each judgment that was acknowledged."""
    await until_answered(rater.open)
    while True:
        assignment = await until_answered(rater.next)
        assert assignment is not None
        key = new_key()
        reply = await until_answered(partial(rater.submit, assignment, key))
        assert reply["accepted"]
        await promises.add(key)
        if over.is_set():
            rater.close()
            return


async def campaign_under_fire(server, *, raters, kills, rng):
    """Kill the server again and again while raters work; return what they were promised."""
    link = await asyncio.to_thread(server.start)
    promises, over = Promises(), asyncio.Event()
    async with asyncio.TaskGroup() as crew:
        for _ in range(raters):
            crew.create_task(rate(Rater(link), over, promises))
        for _ in range(kills):
            # some judgments after the start, at any moment between two of them
            await promises.reach(len(promises.keys) + rng.randrange(1, 120))
            await asyncio.sleep(rng.random() / 50)
            server.kill()
            await asyncio.to_thread(server.start)
        over.set()
    return promises.keys


def check(database, acknowledged):
    """Every promise is kept exactly once, nothing else is there, and no lease is left."""
    store = Store.open(database)
    try:
        keys = store.read(
            lambda connection: connection.execute(text("SELECT key FROM submissions")).all()
        )
        held = store.read(
            lambda connection: connection.execute(
                text("SELECT count(*) FROM slots WHERE NOT done AND rater IS NOT NULL")
            ).scalar()
        )
        paid = store.read(
            lambda connection: connection.execute(text("SELECT count(*) FROM ledger")).scalar()
        )
    finally:
        store.close()
    stored = Counter(key for (key,) in keys)
    assert stored == Counter(acknowledged)
    assert max(stored.values()) == 1
    assert paid == len(stored)
    assert held == 0


@pytest.mark.parametrize(
    ("kills", "started"),
    [
        pytest.param(3, Server, id="3 kills"),
        pytest.param(100, ForkedServer, id="100 kills", marks=pytest.mark.slow),
    ],
)
def test_no_acknowledged_judgment_is_lost_when_the_server_is_killed(tmp_path, kills, started):
    # more than are judged before the last kill; each start reads all of them
    campaign = write_campaign(tmp_path, outputs=min(1_000 * kills, 20_000))
    server = started(str(campaign))
    try:
        acknowledged = asyncio.run(
            campaign_under_fire(server, raters=50, kills=kills, rng=random.Random(kills))
        )
    finally:
        server.close()
    check(tmp_path / "campaign.sqlite", acknowledged)
    assert len(acknowledged) > 50
