"""``python -m benchmarks.speed.child NAME WHO SIZE``: one measurement, as a line of JSON."""

import json
import logging
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.speed.contests import BY_NAME

# A quick work is done again until it took so long together; a long one twice, as the first call may import.
_ENOUGH, _MOST, _LONG = 0.5, 5, 10.0


def measured(call):
    """Least processor time of a call, by all its threads and processes, and the most memory in megabytes."""
    _forget_the_peak()
    found = []
    most = getattr(call, "most", _MOST)
    while len(found) < most and _goes_on(found):
        before = _processor()
        call()
        found.append(_processor() - before)
    return {"seconds": float(f"{min(found):.3g}"), "megabytes": round(_peak())}


def _goes_on(found):
    if len(found) < 2:
        return sum(found) < _LONG
    return sum(found) < _ENOUGH


def _processor():
    now = os.times()
    # Ticks of os.times are too coarse for what is quick.
    return time.process_time() + now.children_user + now.children_system


def _forget_the_peak():
    """Let the most memory so far be what is held now, where Linux can."""
    path = Path("/proc/self/clear_refs")
    if path.exists():
        path.write_text("5")


def _peak():
    """The most memory of this process, or of its largest child."""
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    status = Path("/proc/self/status")
    if not status.exists():
        return max(child, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1e6
    own = int(status.read_text().partition("VmHWM:")[2].split()[0])
    return max(own, child) / 1e3


def main(name, who, size):
    logging.getLogger("absl").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        call = BY_NAME[name].works[who](int(size), Path(folder))
        print(json.dumps(measured(call)))


if __name__ == "__main__":
    main(*sys.argv[1:])
