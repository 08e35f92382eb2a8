"""The real server, killed and started again while raters work; what they were promised, and what is stored."""

import asyncio
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

from sqlalchemy import text

from benchmarks.faults.outcome import STEELYARD
from benchmarks.raters import Rater, free_port, new_key
from steelyard.collect.store import Store

_FORKING = str(Path(__file__).with_name("forking_server.py"))
BROKEN = (OSError, asyncio.IncompleteReadError, TimeoutError)
# Seconds without the judgments that are waited for, after which something is wrong.
_PATIENCE = 180


class Server:
    """The real command on a fixed port, to be killed and started again."""

    def __init__(self, campaign, *, command=STEELYARD):
        # the same port each time, so that raters find it again
        self.command = [*command, "serve", str(campaign), "--port", str(free_port())]
        self.process = None

    def start(self):
        """Start it; return the link for raters once it is printed."""
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, text=True, start_new_session=True
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

    def kill(self, number=signal.SIGKILL):
        os.killpg(self.process.pid, number)
        self.process.wait()
        self.process.stdout.close()

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            self.kill()

    @contextlib.contextmanager
    def running(self):
        """The link for raters of a server that is ended at last."""
        try:
            yield self.start()
        finally:
            with contextlib.suppress(ProcessLookupError):
                self.kill(signal.SIGTERM)


class ForkedServer(Server):
    """The same, in processes that need not load every module first."""

    def __init__(self, campaign):
        super().__init__(campaign, command=[sys.executable, _FORKING])
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.child = None

    def start(self):
        print(file=self.process.stdin, flush=True)
        self.child = int(self.process.stdout.readline())
        return self.link()

    def kill(self, number=signal.SIGKILL):
        os.killpg(self.child, number)
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
        async with asyncio.timeout(_PATIENCE), self.more:
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


async def campaign_under_fire(server, *, raters, kills, apart, rng):
    """Kill the server again and again while raters work; return what they were promised."""
    link = await asyncio.to_thread(server.start)
    promises, over = Promises(), asyncio.Event()
    async with asyncio.TaskGroup() as crew:
        for _ in range(raters):
            crew.create_task(rate(Rater(link), over, promises))
        for _ in range(kills):
            # some judgments after the start, at any moment between two of them
            await promises.reach(len(promises.keys) + rng.randrange(1, apart))
            await asyncio.sleep(rng.random() / 50)
            server.kill()
            await asyncio.to_thread(server.start)
        over.set()
    return promises.keys


def under_fire(campaign, *, raters, kills, apart=120, started=Server):
    """The keys of the judgments that raters were promised while the server was killed so many times.

    Fewer than `apart` judgments are made after a start before the next kill is due.
    """
    server, rng = started(campaign), random.Random(kills)
    try:
        return asyncio.run(
            campaign_under_fire(server, raters=raters, kills=kills, apart=apart, rng=rng)
        )
    finally:
        server.close()


def stored(database):
    """How often each key is stored, how many entries the ledger has, and how many places are held."""
    store = Store.open(database)
    try:
        keys, paid, held = store.read(
            lambda connection: (
                connection.execute(text("SELECT key FROM submissions")).scalars().all(),
                connection.execute(text("SELECT count(*) FROM ledger")).scalar(),
                connection.execute(
                    text("SELECT count(*) FROM slots WHERE NOT done AND rater IS NOT NULL")
                ).scalar(),
            )
        )
    finally:
        store.close()
    return Counter(keys), paid, held
