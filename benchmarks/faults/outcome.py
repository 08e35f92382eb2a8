"""What a trial found, and helpers that all trials share."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
STEELYARD = [sys.executable, "-m", "steelyard"]


@dataclass(frozen=True)
class Outcome:
    """`tried` faults; `wrong` ended in something other than an answer or one clear line; `lost` is what is gone."""

    tried: int
    wrong: int
    lost: int
    of: int
    unit: str
    seen: str

    def record(self):
        return asdict(self)


class TooLongError(Exception):
    """Something did not end in the time that it had."""


@contextmanager
def bounded(seconds):
    """Raise if the block takes longer."""

    def ring(*_):
        raise TooLongError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def one_line(error):
    """Whether what a command wrote to standard error is one line that says so."""
    lines = [line for line in error.splitlines() if line.strip()]
    return len(lines) == 1 and lines[0].startswith("steelyard: ")


def environment(**more):
    return os.environ | {"PYTHONPATH": str(HERE)} | more


def small_disk_possible():
    """Whether a file system of a few kilobytes can be made for one process, without leave."""
    program = shutil.which("unshare")
    if program is None:
        return False
    return not subprocess.run([program, "-rm", "true"], capture_output=True, check=False).returncode


def on_small_disk(folder, size, script, **options):
    """Run a shell script for which `folder` is a disk of `size` bytes, empty at first.

    In it, ``room 64m`` makes the disk larger. The disk is gone when the script ends.
    """
    made = (
        f"mount -t tmpfs -o mode=700,size={size} tmpfs '{folder}'\n"
        f"room() {{ mount -o remount,size=$1 '{folder}'; }}\n{script}"
    )
    return subprocess.Popen([shutil.which("unshare"), "-rm", "sh", "-c", made], **options)
