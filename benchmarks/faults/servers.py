"""`serve` killed, on a full disk, with connections that break, and asked nonsense."""

import asyncio
import contextlib
import json
import random
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.faults.killed_server import BROKEN, Server, stored, under_fire
from benchmarks.faults.outcome import (
    Outcome,
    environment,
    on_small_disk,
    small_disk_possible,
)
from benchmarks.faults.spoilt_files import VALUES, spoilt
from benchmarks.raters import BadResponseError, Rater, answer_to, new_key, write_campaign

_RATERS = 20
# Submits of one rater: fewer than the server takes for too many at once.
_SUBMITS = 5


def counted(database, promised, tried, seen, *, wrong=0):
    """What is missing of what was promised, and what is stored that nobody was promised."""
    keys, paid, _ = stored(database)
    lost = sum((Counter(promised) - keys).values())
    twice = sum(count - 1 for count in keys.values())
    wrong += twice + (paid != len(keys))
    return Outcome(tried, wrong, lost, len(promised), "acknowledged judgments", seen)


def killed(times):
    """Kill the server while raters work."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        campaign = write_campaign(folder, outputs=1_000 * times)
        promised = under_fire(campaign, raters=_RATERS, kills=times)
        return counted(
            folder / "campaign.sqlite", promised, times, "every one stored once, and paid once"
        )


async def judged(rater, promised, troubles, count):
    """Judge so many outputs; note what was acknowledged and what was refused."""
    for _ in range(count):
        try:
            if rater.csrf == "":
                await rater.open()
            assignment = await rater.next()
            if assignment is None:
                return
            key = new_key()
            reply = await rater.submit(assignment, key)
            if reply["accepted"]:
                promised.append(key)
            else:
                troubles["refused"] += 1
        except BadResponseError as error:
            troubles[str(error).split()[1]] += 1
        except BROKEN as error:
            troubles[type(error).__name__] += 1
            await asyncio.sleep(0.1)
    rater.close()


async def crew(link, promised, troubles, count):
    raters = [Rater(link) for _ in range(_RATERS)]
    await asyncio.gather(*(judged(one, promised, troubles, count) for one in raters))


def full_disk(times):
    """Let the disk of the database fill up while raters work, then make room."""
    if not small_disk_possible():
        return None
    promised, troubles, after = [], Counter(), Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        disk = folder / "disk"
        disk.mkdir()
        write_campaign(folder, outputs=2_000, database=str(disk / "campaign.sqlite"))
        server = Server(folder / "campaign.yaml")
        serving = " ".join(server.command)
        script = (
            f"{serving} & served=$!\n"
            f"while [ ! -e '{folder}/more' ]; do sleep 0.1; done; room 256m\n"
            f"while [ ! -e '{folder}/over' ]; do sleep 0.1; done\n"
            f"kill $served; wait $served; cp '{disk}'/campaign.sqlite* '{folder}'\n"
        )
        shell = on_small_disk(
            disk,
            "3m",
            script,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(),
        )
        link = next(word for line in shell.stdout for word in line.split() if "/join" in word)
        asyncio.run(crew(link, promised, troubles, 20 * times))
        before = len(promised)
        (folder / "more").touch()
        time.sleep(1)
        asyncio.run(crew(link, promised, after, times))
        (folder / "over").touch()
        shell.wait(60)
        shell.stdout.close()
        told = ", ".join(f"{n} answered {what}" for what, n in sorted(troubles.items()))
        seen = f"{before} acknowledged, then {told}; with room {len(promised) - before} more"
        wrong = int(after.total() != 0 or not troubles)
        return counted(
            folder / "campaign.sqlite", promised, sum(troubles.values()), seen, wrong=wrong
        )


async def breaking(link, promised, rng):
    """Break the connection in the middle of some submits, then send each again under its key."""
    rater = Rater(link)
    await rater.open()
    for _ in range(_SUBMITS):
        assignment = await rater.next()
        key = new_key()
        body = {"assignment": assignment["id"], "key": key, "active_ms": 5000}
        body["answer"] = answer_to(assignment["content"]["output"])
        text = json.dumps(body).encode()
        rater.close()
        # the head says how long it is; some of it, or all, is sent, and nobody waits for the answer
        await rater._send("POST", "/api/submit", text)  # noqa: SLF001
        writer = rater.streams[1]
        if rng.random() < 0.5:
            await writer.drain()
        writer.transport.abort()
        rater.streams = None
        reply = await rater.submit(assignment, key)
        if reply["accepted"]:
            promised.append(key)
    rater.close()


async def all_breaking(link, promised, raters):
    rng = random.Random(7)
    for _ in range(raters):
        await breaking(link, promised, rng)


def connections(times):
    """Break connections in the middle of submits, of so many raters one after the other."""
    promised = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        campaign = write_campaign(folder, outputs=_SUBMITS * times + 50)
        with Server(campaign).running() as link:
            asyncio.run(all_breaking(link, promised, times))
        seen = "each sent again under its key, stored once"
        return counted(folder / "campaign.sqlite", promised, _SUBMITS * times, seen)


async def asked(link, times, rng):
    """Send made-up requests with a good cookie; count answers by status."""
    rater = Rater(link, timeout=20)
    await rater.open()
    found, slowest = Counter(), 0.0
    assignment = await rater.next()
    good = {"assignment": assignment["id"], "key": new_key(), "answer": {"overall": 1}}
    paths = ("/api/next", "/api/submit", "/api/draft", "/api/skip", "/work", "/join", "/admin", "/")
    for _ in range(times):
        content = json.dumps(good | {rng.choice(list(good)): rng.choice(VALUES)}).encode()
        body = content if rng.random() < 0.4 else spoilt(content, rng)
        path = rng.choice(paths) + rng.choice(
            ("", "/", "?token=%00", "/..%2f", "/%ff", "?a=" + "b" * 999)
        )
        start = time.perf_counter()
        try:
            status, _, _ = await rater.request(rng.choice(("GET", "POST", "PUT")), path, body)
            found[f"{status // 100}xx"] += 1
        except BROKEN as error:
            found[type(error).__name__] += 1
        slowest = max(slowest, time.perf_counter() - start)
    fresh = Rater(link)
    await fresh.open()
    fresh.close()
    rater.close()
    return found, slowest


def nonsense(times):
    """Send requests that nobody thought of."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        campaign = write_campaign(Path(name), outputs=100)
        link = stack.enter_context(Server(campaign).running())
        found, slowest = asyncio.run(asked(link, 10 * times, random.Random(8)))
    told = ", ".join(f"{n} answered {what}" for what, n in sorted(found.items()))
    wrong = sum(n for what, n in found.items() if what not in ("2xx", "3xx", "4xx"))
    return Outcome(10 * times, wrong, 0, 0, "", f"{told}; slowest {slowest:.1f} s")


TRIALS = {
    ("serve", "kill"): killed,
    ("serve", "full disk"): full_disk,
    ("serve", "broken connection"): connections,
    ("serve", "requests nobody thought of"): nonsense,
}
