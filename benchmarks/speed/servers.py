"""Annotation servers under the same load: raters who log in, take an output, judge it, and go on.

Processor time of the server for each judgment that it acknowledged, which a busy machine hardly changes, and its most memory.
Steelyard answers after the judgment is on disk; `potato-annotation` writes a rater's file of answers.
"""

import asyncio
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.faults.outcome import STEELYARD
from benchmarks.honesty.peers import PEERS
from benchmarks.raters import Rater, free_port, new_key, write_campaign

_OUTPUTS, _EACH = 1_000, 10
POTATO = next(peer for peer in PEERS if peer.package == "potato-annotation")
CONFIG = """\
annotation_task_name: load
task_dir: .
output_annotation_dir: out/
output_annotation_format: jsonl
data_files: [outputs.jsonl]
item_properties: {id_key: item, text_key: output}
user_config: {allow_all_users: true, users: []}
require_password: false
max_annotations_per_item: 1
annotation_schemes:
  - {annotation_type: likert, name: fluency, description: "Fluent?", min_label: bad, max_label: good, size: 3}
  - {annotation_type: likert, name: overall, description: "Good?", min_label: bad, max_label: good, size: 3}
site_dir: default
"""


@dataclass(frozen=True)
class Served:
    """A server: how it is started in a folder, and how a rater works with it."""

    start: Callable
    work: Callable
    raters: int
    version: str | None = None


def start_ours(folder, port):
    campaign = write_campaign(folder, outputs=_OUTPUTS)
    return [*STEELYARD, "serve", str(campaign), "--port", str(port)]


async def work_ours(link, _number):
    rater = Rater(link)
    await rater.open()
    for _ in range(_EACH):
        await rater.submit(await rater.next(), new_key())
    rater.close()
    return _EACH


def start_potato(folder, port):
    write_campaign(folder, outputs=_OUTPUTS)
    (folder / "config.yaml").write_text(CONFIG)
    why = POTATO.install()
    if why is not None:
        raise SystemExit(f"{POTATO.package} cannot be installed: {why}")
    program = POTATO.environment / "bin" / "potato"
    return [str(program), "start", "config.yaml", "-p", str(port), "--host", "127.0.0.1"]


async def work_potato(link, number):
    rater = Rater(link)
    body = urlencode({"action": "login", "email": f"rater{number}"}).encode()
    await rater.request("POST", "/auth", body, kind="application/x-www-form-urlencoded")
    status, _, page = await rater.request("GET", "/annotate", kind="text/html")
    for done in range(_EACH):
        found = re.search(rb'id="instance_id"[^>]*value="([^"]+)"', page)
        if status != 200 or found is None:
            return done
        chosen = {"fluency:2": "2", "overall:3": "3"}
        saved = {"instance_id": found[1].decode(), "annotations": chosen, "span_annotations": []}
        status, _, _ = await rater.request("POST", "/updateinstance", json.dumps(saved).encode())
        if status != 200:
            return done
        move = {"action": "next_instance", "instance_id": found[1].decode()}
        status, _, page = await rater.request("POST", "/annotate", json.dumps(move).encode())
        if status in (302, 303):
            status, _, page = await rater.request("GET", "/annotate", kind="text/html")
    rater.close()
    return _EACH


SERVERS = {
    "annotation server": {
        "steelyard": Served(start_ours, work_ours, 20),
        "potato-annotation": Served(start_potato, work_potato, 20, POTATO.version),
    }
}


def load(served):
    """Start the server, let all raters work at once, and count what it cost."""
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        command = served.start(folder, port)
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=(folder / "said").open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return asyncio.run(_loaded(served, folder, port, process))
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


async def _loaded(served, folder, port, process):
    link = await _link(folder, port, process)
    before, start = _cost(process.pid)[0], time.perf_counter()
    done = sum(await asyncio.gather(*(served.work(link, n) for n in range(served.raters))))
    took = time.perf_counter() - start
    seconds, megabytes = _cost(process.pid)
    if done < served.raters * _EACH:
        raise SystemExit(f"{command_name(process)}: only {done} judgments were taken")
    spent = seconds - before
    return {
        "seconds": float(f"{spent / done:.3g}"),
        "megabytes": round(megabytes),
        "judgments": done,
        "per_second": float(f"{done / took:.3g}"),
    }


def command_name(process):
    return Path(process.args[0]).name


async def _link(folder, port, process):
    """Where raters begin, once the server answers there."""
    probe = Rater(f"http://127.0.0.1:{port}/")
    for _ in range(1_200):
        if process.poll() is not None:
            raise SystemExit(
                f"{command_name(process)} ended: {(folder / 'said').read_text()[-300:]}"
            )
        try:
            await probe.request("GET", "/")
            found = re.search(r"(http://\S+/join\S*)", (folder / "said").read_text())
            probe.close()
            return found[1] if found else probe.link
        except OSError:
            await asyncio.sleep(0.1)
    raise SystemExit(f"{command_name(process)} does not answer")


def _cost(pid):
    """Processor seconds of a process so far, and the most memory that it held in megabytes (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = int(fields[11]) + int(fields[12])
    peak = int(Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0])
    return ticks / os.sysconf("SC_CLK_TCK"), peak / 1e3
