"""Two source trees that answer the same campaigns, each in processes of its own."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.campaigns.figures import DIED

RUNNER = Path(__file__).with_name("runner.py")
HERE = Path(__file__).resolve().parents[2] / "src"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")


def checked_tree(path):
    """The path of a tree's sources, if it has any."""
    path = Path(path).resolve()
    if not (path / "steelyard" / "__init__.py").exists():
        raise SystemExit(f"{path}: no package steelyard here; give the folder that holds it (src)")
    return path


def checked_package(package, tree):
    """Refuse the answers of a package that lies elsewhere."""
    if not Path(package).resolve().is_relative_to(tree):
        raise SystemExit(f"asked for the package in {tree}, but {package} was imported")


class Tree:
    """One process with the package of one source tree."""

    def __init__(self, path):
        self.path = path
        self._start()

    def _start(self):
        self._process = subprocess.Popen(
            [sys.executable, "-P", RUNNER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | ONE_THREAD | {"PYTHONPATH": str(self.path)},
        )
        checked_package(pickle.load(self._process.stdout), self.path)  # noqa: S301

    def answer(self, campaign, *, level=0.95, compare=True):
        """What `runner.answer` gives; all NaN if the process died, which is started again."""
        asked = vars(campaign) | {"compare": compare, "level": level}
        try:
            pickle.dump(asked, self._process.stdin)
            self._process.stdin.flush()
            return pickle.load(self._process.stdout)  # noqa: S301
        except (EOFError, BrokenPipeError):
            self.close()
            self._start()
            k = len(campaign.metrics)
            return {
                "means": np.full((k, 4), np.nan),
                "differences": np.full((k * (k - 1) // 2, 6), np.nan),
                "refused": [DIED],
                "seconds": np.nan,
            }

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
