"""Build the wheel, install it into empty environments, and run the README's commands there.

One environment has the newest versions of the dependencies, the other the lowest that
`pyproject.toml` allows. Neither sees the repository. Run it with `make wheel`; it takes minutes and
needs a package index. Exits with 1 at the first command that fails, and says which.
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
from snippets import blocks, commands

ROOT = Path(__file__).resolve().parents[1]
# The README's commands run as they are, but for these; `serve` is tried apart.
SKIPPED = ("make ", "pip install", "steelyard serve")
# What the README names without a block.
BESIDES = (["paper", "--draws", "100"], ["skill"], ["init", "campaign"])
EXTRAS = re.compile(r"\[(.*)\]")
FLOOR = re.compile(r"([\w-]+)(?:\[[^]]*\])?>=([\w.]+)")


def main() -> None:
    """Try the wheel with the newest and with the lowest versions."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        wheel = build(folder / "wheel")
        check_contents(wheel)
        for name, constraints in (("lowest", floors()), ("newest", "")):
            started = time.monotonic()
            home = folder / name
            python = install(wheel, home / "environment", constraints)
            count = run_readme(python, home / "work")
            serve(python, home / "work")
            print(
                f"{name}: {count} commands and serve, {time.monotonic() - started:.0f} s",
                flush=True,
            )


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
    print(
        f"{wheel.name}: {size:.2f} MB, all {len(wanted)} files of the package are there", flush=True
    )


def floors() -> str:
    """Return constraints that pin every direct dependency to the lowest version allowed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = EXTRAS.findall(extras["all"][0])[0].split(",")
    wanted = project["dependencies"] + [one for name in names for one in extras[name]]
    found = [FLOOR.match(one) for one in wanted]
    return "".join(f"{one[1]}=={one[2]}\n" for one in found if one)


def install(wheel: Path, environment: Path, constraints: str) -> Path:
    """Install the wheel with all extras into an empty environment; return its Python."""
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    pins = environment / "constraints.txt"
    pins.write_text(constraints)
    pip(python, "install", "--constraint", str(pins), f"{wheel}[all]")
    return python


def pip(python: Path, *arguments: str) -> None:
    """Run pip, quietly."""
    call([str(python), "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"])


def run_readme(python: Path, folder: Path) -> int:
    """Run the README's commands in a folder with made-up files; return how many there were."""
    folder.mkdir()
    write_files(folder)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [one for block in blocks(text) for one in commands(block)]
    asked = [command for command in found if not command.written.startswith(SKIPPED)]
    program = str(python.with_name("steelyard"))
    for command in asked:
        call([program, *command.arguments(folder)[1:]], folder)
    for arguments in BESIDES:
        call([program, *arguments], folder)
    return len(asked) + len(BESIDES)


def serve(python: Path, folder: Path) -> None:
    """Start the example campaign, open the page for raters, and stop the server."""
    # the link sets a cookie, without which the page is refused
    visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    program = [str(python.with_name("steelyard")), "serve", "--example", "language-quality"]
    with subprocess.Popen(
        [*program, "--directory", "served", "--port", "0"],
        cwd=folder,
        env=environment(),
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


def call(command: list[str], folder: Path | None = None) -> None:
    """Run a command; stop with what it said if it fails."""
    done = subprocess.run(
        command, cwd=folder, env=environment(), check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def environment() -> dict[str, str]:
    """Return the environment without what would lead Python to the repository."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


if __name__ == "__main__":
    main()
