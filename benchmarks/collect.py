"""Load on `steelyard serve`: raters that open, ask for the next output and submit, all at once.

    python -m benchmarks.collect                        # all settings, some minutes
    python -m benchmarks.collect --raters 50 --seconds 10

The server is the real command in processes of its own; the raters are one more process, so that
on two cores each has one. A judgment counts when its submit was answered, which the server does
after the commit is on disk. Settings: one process on SQLite and four on PostgreSQL, each without
think time and with ten seconds of it (a rater waits between 5 and 15 s, and they start spread over
that time). With --watched somebody has the dashboard open all the while, which makes the server
compute estimates beside its work. With --campaigns the raters are spread over so many campaigns of one
server, each with its own SQLite file.

The last column is the processor time of all processes of the server per judgment, which hardly
depends on what else the machine does.
"""

import argparse
import asyncio
import contextlib
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pgserver

from benchmarks.raters import BadResponseError, Rater, free_port, new_key, write_campaign


@contextlib.contextmanager
def server(campaign, *, processes):
    """Run the command; yield it, the links for raters and the one for the (last) administrator."""
    command = [sys.executable, "-m", "steelyard", "serve", str(campaign)]
    options = ["--port", str(free_port()), "--processes", str(processes)]
    process = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process, *printed_links(process)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)
        process.stdout.close()


def printed_links(process):
    """The links that the server prints: those for raters, and the last one for administrators."""
    raters, admin = [], None
    for line in process.stdout:
        raters += re.findall(r"^ +raters +(\S+)", line)
        admin = next(iter(re.findall(r"^ +admin +(\S+)", line)), admin)
        if line.startswith("Stop with"):
            return raters, admin
    raise SystemExit("the server ended before it printed its links")


async def work(rater, until, think, found):
    """Judge until the time is over; note the seconds that each submit took."""
    try:
        await asyncio.sleep(random.uniform(0, 1.5 * think))
        while time.perf_counter() < until:
            assignment = await rater.next()
            if assignment is None:
                found["idle"] += 1
                return
            await asyncio.sleep(random.uniform(0.5 * think, 1.5 * think))
            start = time.perf_counter()
            await rater.submit(assignment, new_key())
            found["submits"].append(time.perf_counter() - start)
    except (BadResponseError, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
        found["errors"].append(repr(error))
    finally:
        rater.close()


async def measure(running, *, raters, seconds, think, watched=False):
    process, links, admin_link = running
    await wait_until_ready(links[0])
    found = {"submits": [], "errors": [], "idle": 0, "snapshots": 0}
    others = [watch(admin_link, found)] if watched else []
    beside = [asyncio.create_task(one) for one in others]
    crew = [Rater(links[number % len(links)]) for number in range(raters)]
    await asyncio.gather(*(rater.open() for rater in crew))
    start, before = time.perf_counter(), processor_seconds(process.pid)
    await asyncio.gather(*(work(rater, start + seconds, think, found) for rater in crew))
    elapsed = time.perf_counter() - start
    found["processor"] = processor_seconds(process.pid) - before
    for task in beside:
        task.cancel()
    ends = await asyncio.gather(*beside, return_exceptions=True)
    found["errors"] += [repr(end) for end in ends if isinstance(end, Exception)]
    return found, elapsed


def processor_seconds(group):
    """Processor time of all processes that a command started; nan where it cannot be seen."""
    if not Path("/proc/self/stat").exists():
        return float("nan")
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            facts = path.read_text(encoding="utf-8").rpartition(")")[2].split()
            if int(facts[2]) == group:
                ticks += int(facts[11]) + int(facts[12])
    return ticks / os.sysconf("SC_CLK_TCK")


async def watch(link, found):
    """Follow the dashboard; count what it is told."""
    admin = Rater(link)
    await admin.open()
    reader = await admin.listen("/admin/events")
    while line := await reader.readline():
        found["snapshots"] += line.startswith(b"event: snapshot")


async def wait_until_ready(link):
    probe = Rater(link)
    for _ in range(200):
        try:
            await probe.open()
        except OSError:
            await asyncio.sleep(0.05)
        else:
            probe.close()
            return
    raise SystemExit("the server does not answer")


def report(name, found, elapsed):
    submits = sorted(found["submits"])
    if len(submits) < 2:
        print(f"{name:34s} no judgments; errors: {found['errors'][:3]}")
        return
    cut = statistics.quantiles(submits, n=100)
    print(
        f"{name:34s} {len(submits) / elapsed:8.0f} {cut[49] * 1e3:8.0f} {cut[98] * 1e3:8.0f} "
        f"{submits[-1] * 1e3:8.0f} {len(found['errors']):7d} "
        f"{found['processor'] / len(submits) * 1e3:8.2f}",
        flush=True,
    )
    if found["snapshots"]:
        print(f"    {found['snapshots']} snapshots for the dashboard")
    for error in found["errors"][:3]:
        print("   ", error)


@contextlib.contextmanager
def postgresql(folder):
    database = pgserver.get_server(folder / "postgresql", cleanup_mode="stop")
    try:
        yield database.get_uri()
    finally:
        database.cleanup()


def run(
    name,
    options,
    *,
    processes=1,
    database="campaign.sqlite",
    think=0.0,
    seconds=None,
    campaigns=1,
):
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder)]
        if campaigns > 1:
            places = [Path(folder, f"c{number}") for number in range(campaigns)]
        for place in places:
            place.mkdir(exist_ok=True)
            write_campaign(place, outputs=options.outputs // campaigns, database=database)
        with server(Path(folder), processes=processes) as running:
            found, elapsed = asyncio.run(
                measure(
                    running,
                    raters=options.raters,
                    seconds=seconds or options.seconds,
                    think=think,
                    watched=options.watched,
                )
            )
    report(name, found, elapsed)


def main(arguments=()):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--raters", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--outputs", type=int, default=50_000)
    parser.add_argument("--watched", action="store_true", help="with the dashboard open")
    parser.add_argument("--campaigns", type=int, default=10, help="on one server, with SQLite")
    parser.add_argument("--quick", action="store_true", help="without the settings with think time")
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    options = parser.parse_args(arguments)
    print(f"{options.raters} raters")
    columns = ("judgments/s", "p50 ms", "p99 ms", "max ms", "errors", "cpu ms")
    print(f"{'':31s} {columns[0]:>11s} " + " ".join(f"{name:>8s}" for name in columns[1:]))
    long = 2 * options.seconds
    if options.only != "postgresql":
        run("SQLite, 1 process", options)
        if options.campaigns > 1:
            run(f"SQLite, {options.campaigns} campaigns", options, campaigns=options.campaigns)
    if options.only != "postgresql" and not options.quick:
        run("SQLite, 1 process, 10 s to think", options, think=10.0, seconds=long)
    if options.only != "sqlite":
        for name, think, seconds in (
            ("PostgreSQL, 4 processes", 0.0, options.seconds),
            ("PostgreSQL, 4 processes, 10 s", 10.0, long),
        )[: 1 if options.quick else 2]:
            with tempfile.TemporaryDirectory() as folder, postgresql(Path(folder)) as database:
                run(name, options, processes=4, database=database, think=think, seconds=seconds)


if __name__ == "__main__":
    main(sys.argv[1:])
