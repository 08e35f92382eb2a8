"""Kill a server of several campaigns while people work; count what was acknowledged and is lost.

    python -m benchmarks.kills                          # ten campaigns, 100 kills, about 20 minutes
    python -m benchmarks.kills --campaigns 3 --kills 5

The server is the real command, ended by SIGKILL at a random moment and started again on the same
port. Raters send what was not answered again, as the page does. A judgment that was acknowledged must
be in its own campaign's database, once, and paid once.
"""

import argparse
import asyncio
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.raters import Rater, free_port, new_key, write_campaign

_BROKEN = (OSError, asyncio.IncompleteReadError, TimeoutError)


@dataclass
class Found:
    """What is in the databases after all kills, beside what raters were promised."""

    acknowledged: Counter = field(default_factory=Counter)
    stored: int = 0
    lost: int = 0
    twice: int = 0
    unpaid: int = 0
    held: int = 0


class _Server:
    """The command on a fixed port, to be killed and started again."""

    def __init__(self, folder):
        self._command = [sys.executable, "-m", "steelyard", "serve", str(folder)]
        self._command += ["--port", str(free_port())]
        self._process = None

    def start(self):
        """Start it; return the links for raters once all are printed."""
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        links = []
        for line in self._process.stdout:
            links += re.findall(r"^ +raters +(\S+)", line)
            if line.startswith("Stop with"):
                return links
        raise SystemExit(f"the server ended with {self._process.wait()} before it was ready")

    def kill(self):
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process.stdout.close()
            self._process = None


async def _until_answered(attempt):
    """Try again while there is no server, as the page does."""
    while True:
        try:
            return await attempt()
        except _BROKEN:
            await asyncio.sleep(0.05)


async def _rate(rater, over, promised, more):
    """Work until told to stop; note the key of each judgment that was acknowledged."""
    await _until_answered(rater.open)
    while not over.is_set():
        assignment = await _until_answered(rater.next)
        if assignment is None:
            break
        key = new_key()
        await _until_answered(partial(rater.submit, assignment, key))
        promised.append(key)
        more.set()
    rater.close()


async def _under_fire(server, places, *, raters, kills, rng):
    """Kill the server again and again while raters work; return what they were promised."""
    links = await asyncio.to_thread(server.start)
    promises = {place: [] for place in places}
    over, more = asyncio.Event(), asyncio.Event()
    async with asyncio.TaskGroup() as crew:
        for number in range(raters):
            place = places[number % len(places)]
            link = next(one for one in links if f"/{place.name}/" in one)
            crew.create_task(_rate(Rater(link), over, promises[place], more))
        for _ in range(kills):
            wanted = sum(map(len, promises.values())) + rng.randrange(len(places), 120)
            while sum(map(len, promises.values())) < wanted:
                more.clear()
                await more.wait()
            await asyncio.sleep(rng.random() / 50)
            server.kill()
            await asyncio.to_thread(server.start)
        over.set()
    return promises


def lost_judgments(folder, *, campaigns, raters, kills, seed):
    """Run so many campaigns under so many kills; return what their databases hold."""
    places = [folder / f"c{number}" for number in range(campaigns)]
    for place in places:
        place.mkdir()
        # each start reads all of them
        write_campaign(place, outputs=min(20_000, 200 * (kills + 1)) // campaigns + 400)
    server = _Server(folder)
    try:
        running = _under_fire(server, places, raters=raters, kills=kills, rng=random.Random(seed))
        promises = asyncio.run(running)
    finally:
        server.kill()
    found = Found()
    for place, promised in promises.items():
        _count(found, place, promised)
    return found


def _count(found, place, promised):
    with closing(sqlite3.connect(place / "campaign.sqlite")) as database:
        keys = Counter(key for (key,) in database.execute("SELECT key FROM submissions"))
        (paid,) = database.execute("SELECT count(*) FROM ledger").fetchone()
        (held,) = database.execute(
            "SELECT count(*) FROM slots WHERE NOT done AND rater IS NOT NULL"
        ).fetchone()
    found.acknowledged[place.name] = len(promised)
    found.stored += keys.total()
    found.lost += len(set(promised) - set(keys))
    found.twice += sum(count > 1 for count in keys.values())
    found.unpaid += keys.total() - paid
    found.held += held


def main(arguments=()):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=10)
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = lost_judgments(
            Path(folder),
            campaigns=options.campaigns,
            raters=options.raters,
            kills=options.kills,
            seed=options.seed,
        )
    print(
        f"{options.campaigns} campaigns, {options.kills} kills: "
        f"{found.acknowledged.total()} judgments acknowledged, {found.stored} stored, "
        f"{found.lost} lost, {found.twice} stored twice, {found.unpaid} not paid"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
