"""Build the wheel, install it into empty environments, and run the README's commands there.

One environment has the lowest versions of the dependencies that `pyproject.toml` allows, the other
the newest. Neither sees the repository. All commands run without extras, but for those that read
Excel, and `serve`. Run it with `make wheel`; it takes minutes and needs a package index. Exits
with 1 at the first command that fails, and says which.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
import venv
import zipfile
from pathlib import Path

from made_up_files import write_files
from snippets import Command, blocks, commands

ROOT = Path(__file__).resolve().parents[1]
# The README's commands run as they are, but for these; `serve` is tried apart.
SKIPPED = ("make ", "pip install", "steelyard serve")
# What the README names without a block, and what needs files of the package.
BESIDES = [Command(f"steelyard {rest}") for rest in ("paper --draws 100", "serve --new campaign")]
# Stands in the commands that need the extra `excel`.
EXCEL = "sheet"
EXTRAS = re.compile(r"\[(.*)\]")
FLOOR = re.compile(r"([\w-]+)(?:\[[^]]*\])?>=([\w.]+)")


def main() -> None:
    """Try the wheel with the lowest and with the newest versions."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        wheel = build(folder / "wheel")
        check_contents(wheel)
        for name, constraints in (("lowest", floors()), ("newest", "")):
            started = time.monotonic()
            count = tried(wheel, folder / name, constraints)
            say(f"{name}: {count} commands and serve, {time.monotonic() - started:.0f} s")


def build(folder: Path) -> Path:
    """Build the wheel of the working tree."""
    pip(Path(sys.executable), "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """Stop unless every file of the package that is under version control is in the wheel."""
    listed = subprocess.run(
        ["git", "ls-files", "src"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    wanted = {name.removeprefix("src/") for name in listed.stdout.splitlines()}
    with zipfile.ZipFile(wheel) as archive:
        missing = sorted(wanted - set(archive.namelist()))
    if missing:
        sys.exit(f"{wheel.name} lacks {len(missing)} files, such as {missing[0]}")
    size = wheel.stat().st_size / 1e6
    say(f"{wheel.name}: {size:.2f} MB, all {len(wanted)} files of the package are there")


def floors() -> str:
    """Return constraints that pin every direct dependency to the lowest version allowed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = EXTRAS.findall(extras["all"][0])[0].split(",")
    wanted = project["dependencies"] + [one for name in names for one in extras[name]]
    found = [FLOOR.match(one) for one in wanted]
    return "".join(f"{one[1]}=={one[2]}\n" for one in found if one)


def tried(wheel: Path, home: Path, constraints: str) -> int:
    """Try the wheel in an empty environment; return how many commands were run."""
    venv.create(home / "environment", with_pip=True)
    python = home / "environment" / "bin" / "python"
    pins = home / "constraints.txt"
    pins.write_text(constraints)
    work = home / "work"
    work.mkdir()
    write_files(work)
    pip(python, "install", "--constraint", str(pins), str(wheel))
    bare = [one for one in readme() if EXCEL not in one.written] + BESIDES
    run(python, work, bare)
    pip(python, "install", "--constraint", str(pins), f"{wheel}[all]")
    excel = [one for one in readme() if EXCEL in one.written]
    run(python, work, excel)
    serve(python, work)
    return len(bare) + len(excel)


def pip(python: Path, *arguments: str) -> None:
    """Run pip, quietly."""
    call([str(python), "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"])


def readme() -> list[Command]:
    """Return the README's commands."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [one for block in blocks(text) for one in commands(block)]
    return [one for one in found if not one.written.startswith(SKIPPED)]


def run(python: Path, folder: Path, asked: list[Command]) -> None:
    """Run commands in a folder; stop at one that fails or prints something else."""
    for command in asked:
        program, *arguments = command.arguments(folder)
        said = call([str(python.with_name(program)), *arguments], folder)
        if command.printed is not None and lines(said) != lines(command.printed):
            sys.exit(f"{command.written} printed something else:\n{said}")


def lines(text: str) -> list[str]:
    """Return the lines of a text without the blanks at their ends."""
    return [line.rstrip() for line in text.strip().splitlines()]


def serve(python: Path, folder: Path) -> None:
    """Start the example campaign, open the page for raters, and stop the server."""
    # the link sets a cookie, without which the page is refused
    visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    program = [str(python.with_name("steelyard")), "serve", "--example", "language-quality"]
    with subprocess.Popen(
        [*program, "--port", "0"],
        cwd=folder,
        env=variables(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        try:
            said = []
            for line in server.stdout or ():
                said.append(line)
                if "raters" in line:
                    visitor.open(line.split()[-1], timeout=60).close()
                    return
            sys.exit(f"{' '.join(program)} failed:\n{''.join(said)}")
        finally:
            server.terminate()


def call(command: list[str], folder: Path | None = None) -> str:
    """Run a command and return what it printed; stop if it fails."""
    done = subprocess.run(
        command, cwd=folder, env=variables(), check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def variables() -> dict[str, str]:
    """Return the variables of the environment, without what would lead to the repository."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return kept | {"COLUMNS": "140"}


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
