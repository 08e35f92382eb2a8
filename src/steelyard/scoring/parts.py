"""Finished batches, kept in a hidden folder beside the file they will become.

A part that is there is whole: it was renamed into place. A manifest says what the parts were
made from; they are used again only if nothing of that has changed.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import IO, Any

from steelyard.errors import InvalidArgumentError
from steelyard.metrics.registry import GROUP, metric
from steelyard.metrics.specification import name_and_options
from steelyard.scoring.work import Finished, part_name
from steelyard.tables.formats import FormatKind
from steelyard.tables.replacing import writing_failure
from steelyard.version import __version__

if sys.platform != "win32":
    import fcntl

__all__ = ["LOCK", "MANIFEST", "Parts", "libraries", "open_parts", "parts_folder"]

MANIFEST = ".manifest.json"
LOCK = ".lock"
_PART = re.compile(r"part-(\d{8,})-(\d+)-(\d+)-(\d+)\.(?:jsonl|csv|parquet)")
# Libraries that metrics and files depend on: with another version a number may differ.
_LIBRARIES = ("numpy", "polars", "rapidfuzz", "sacrebleu", "wordllama")
_WORDS = {
    "input": "the outputs have changed",
    "metrics": "the metrics have changed",
    "columns": "the columns to read have changed",
    "replace": "--replace has changed",
    "batch_rows": "the size of batches has changed",
    "versions": "the installed versions have changed",
}


@dataclass(frozen=True)
class Parts:
    """Where parts are, and those that were there already.

    Attributes
    ----------
    folder : Path
        The hidden folder.
    kind : {"jsonl", "csv", "parquet"}
        The format of a part.
    finished : dict of int to Finished
        Batches that an interrupted run has finished.
    anew : str or None
        Why an interrupted run could not be continued.
    """

    folder: Path
    kind: FormatKind
    finished: dict[int, Finished]
    anew: str | None

    def paths(self, done: list[Finished]) -> list[Path]:
        """Paths of parts in the order of their batches."""
        ordered = sorted(done, key=lambda one: one.index)
        return [self.folder / part_name(one, self.kind) for one in ordered]

    @property
    def is_empty(self) -> bool:
        """Whether no batch is finished, by this run or before."""
        return not _finished(self.folder)

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def parts_folder(target: Path) -> Path:
    """Return the hidden folder for the parts of a file.

    Examples
    --------
    >>> parts_folder(Path("runs/scored.jsonl")).name
    '.scored.jsonl.parts'
    """
    return target.with_name(f".{target.name}.parts")


@contextmanager
def open_parts(target: Path, kind: FormatKind, manifest: dict[str, Any]) -> Iterator[Parts]:
    """Open the parts of a file: those of an interrupted run, or a new folder.

    While they are open no other run can write the same file.

    Parameters
    ----------
    target : Path
        The file that the parts will become.
    kind : {"jsonl", "csv", "parquet"}
        The format of a part.
    manifest : dict
        All that the parts depend on, as JSON knows it.

    Raises
    ------
    InvalidArgumentError
        If the folder cannot be made.
    """
    folder = parts_folder(target)
    with ExitStack() as stack:
        try:
            is_new = not folder.exists()
            folder.mkdir(exist_ok=True)
            lock = stack.enter_context((folder / LOCK).open("w"))
            _hold(lock, target)
            anew = None if is_new else _difference(folder / MANIFEST, manifest)
            if anew is not None:
                for path in folder.iterdir():
                    if path.name != LOCK:
                        path.unlink()
            written = folder / f"{MANIFEST}.tmp"
            written.write_text(json.dumps(manifest, indent=2), encoding="utf-8")
            written.replace(folder / MANIFEST)
        except OSError as error:
            raise InvalidArgumentError(
                f"`--output`: {target} cannot be written: {writing_failure(error)}"
            ) from error
        yield Parts(folder, kind, _finished(folder), anew)


def libraries(metrics: Sequence[str]) -> dict[str, str]:
    """Versions of all that can change a number: this package, libraries, packages of metrics."""
    names = [name_and_options(specification)[0] for specification in metrics]
    found = {"steelyard": __version__}
    for point in entry_points(group=GROUP):
        if point.name in names and point.dist is not None:
            found[point.dist.name] = point.dist.version
    own = (name for specification in metrics for name in metric(specification).libraries)
    for name in (*_LIBRARIES, *own):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def _hold(lock: IO[str], target: Path) -> None:
    """Lock a file; the lock ends with this process, however that ends."""
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InvalidArgumentError(
            f"`--output`: another run is writing {target}: wait for it, or name another file"
        ) from error
    except OSError:
        # Some network file systems have no locks: better to work without one than not at all.
        return


def _difference(path: Path, manifest: dict[str, Any]) -> str | None:
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "its manifest cannot be read"
    for key, words in _WORDS.items():
        if before.get(key) != manifest[key]:
            return words
    return None


def _finished(folder: Path) -> dict[int, Finished]:
    found = {}
    for path in folder.iterdir():
        match = _PART.fullmatch(path.name)
        if match is not None:
            index, rows, pairs, bad = map(int, match.groups())
            found[index] = Finished(index, rows, pairs, bad)
    return found
