"""Run a part of the quick tests with other versions of Python, each in an empty environment.

    python scripts/try_pythons.py                                     # python3.12 and python3.13, as they are on the path
    python scripts/try_pythons.py PATH/TO/python3.13 -- tests/judge   # this one, and other tests

What needs a browser is left out, and so is what needs PostgreSQL where pgserver has no build (3.13). Run it with `make
pythons`; it takes minutes and needs a package index. Exits with 1 if a test fails.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("python3.12", "python3.13")
# All layers from numbers to commands; simulations and pages depend on Python least.
TESTS = ("arrays", "variance", "data", "estimate", "judge", "scoring", "cli", "collect")
EXTRAS = ("cluster", "excel", "judge", "serve")


def main(arguments: list[str]) -> None:
    """Try every version that is asked for, or that is there."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    asked, tests = arguments[:split], arguments[split + 1 :]
    pythons = [found for name in asked or NAMES if (found := shutil.which(name))]
    if not pythons or len(pythons) < len(asked):
        sys.exit(f"none of these is a Python here: {', '.join(asked or NAMES)}")
    failed = [python for python in pythons if not passes(python, tests or list(default_tests()))]
    if failed:
        sys.exit(f"tests failed with {', '.join(failed)}")


def default_tests() -> list[str]:
    """Return the folders of tests that are run unless others are named."""
    return [f"tests/{name}" for name in TESTS]


def passes(python: str, tests: list[str]) -> bool:
    """Install what the tests need, run them, and say how it went."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="steelyard-python-") as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        own = str(Path(folder, "bin", "python"))
        wanted = Path(folder, "wanted.txt")
        wanted.write_text("\n".join(requirements()))
        quietly = ["--quiet", "--disable-pip-version-check"]
        pins = ["--constraint", str(ROOT / "constraints.txt")]
        subprocess.run(
            [own, "-m", "pip", "install", *quietly, *pins, "-r", str(wanted)], check=True
        )
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        environment = os.environ | threads | {"PYTHONPATH": str(ROOT / "src")}
        options = ["-n", "auto", "-m", "not slow", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [own, "-m", "pytest", *options, *tests], cwd=ROOT, env=environment, check=False
        )
        version = subprocess.run([own, "--version"], check=True, capture_output=True, text=True)
    result = "pass" if done.returncode == 0 else "FAIL"
    print(f"{version.stdout.strip()}: {result}, {time.monotonic() - started:.0f} s", flush=True)
    return done.returncode == 0


def requirements() -> list[str]:
    """Return what the package, its extras and its tests need; pip leaves out what has no build."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    parts = [project["dependencies"], *(extras[name] for name in (*EXTRAS, "dev"))]
    return [one for part in parts for one in part]


if __name__ == "__main__":
    main(sys.argv[1:])
