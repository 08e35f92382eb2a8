"""Peers from the package index, each in an environment that is made for it, and their processes."""

import json
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "steelyard-benchmarks"
RUNNERS = Path(__file__).parent / "runners"


@dataclass(frozen=True)
class Peer:
    """A package at one version, and the script that asks it."""

    package: str
    version: str
    runner: str
    # A slow one is replayed a fraction as often.
    share: float = 1
    folder: Path = CACHE

    @property
    def who(self):
        return self.package

    @property
    def environment(self):
        return self.folder / f"{self.package}-{self.version}"

    @property
    def python(self):
        return self.environment / "bin" / "python"

    @property
    def ready(self):
        return (self.environment / "installed").exists()

    def install(self):
        """Make the environment, unless it is there. Returns why not, or None."""
        if self.ready:
            return None
        print(f"installing {self.package} {self.version}", flush=True)
        venv.create(self.environment, with_pip=True, clear=True)
        wanted = f"{self.package}=={self.version}"
        command = [self.python, "-m", "pip", "install", "--quiet", "--no-input", wanted]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr.strip().splitlines()[-1]
        (self.environment / "installed").touch()
        return None


SLOW = 1 / 80
PEERS = (
    Peer("ppi-python", "0.2.3", "of_ppi.py"),
    Peer("truescore", "0.7.4", "of_truescore.py"),
    Peer("ssepy", "0.1.1", "of_ssepy.py"),
    Peer("potato-annotation", "2.12.1", "of_potato.py"),
    Peer("evalstats", "0.3.3", "of_evalstats.py", share=SLOW),
    Peer("cje-eval", "0.9.3", "of_cje.py", share=SLOW),
)


class Asked:
    """A peer's process, started when it is first asked, that answers file after file."""

    def __init__(self, peer, runner=None):
        self.peer = peer
        self._script = RUNNERS / (runner or peer.runner)
        # Processor time of the last answers.
        self.seconds = 0.0
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in close

    @cached_property
    def _process(self):
        return subprocess.Popen(
            [self.peer.python, self._script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def answers(self, cases):
        """Answers by way, and the first reason of each way that refused a case."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cases.npz"
            np.savez(path, **cases)
            self._process.stdin.write(f"{path}\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            if not line:
                self._log.seek(0)
                last = self._log.read().strip().splitlines()[-1:]
                sys.exit(f"{self.peer.package} ended: {''.join(last)}")
            said = json.loads(line)
            self.seconds = said["seconds"]
            with np.load(f"{path}.answers.npz") as file:
                return dict(file), said["refused"]

    def close(self):
        """End the process, if there is one."""
        if "_process" in self.__dict__:
            self._process.communicate()
        self._log.close()
