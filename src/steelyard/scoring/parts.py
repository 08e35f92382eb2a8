"""The values of finished batches, kept in a hidden folder beside the file they will stand in.

A part that is there is whole: it was renamed into place. A manifest says what the parts were
made from; they are used again only if nothing of that has changed.
"""

import hashlib
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import IO, Any

import polars as pl

from steelyard.arrays import Floats
from steelyard.errors import InvalidArgumentError
from steelyard.metrics.registry import GROUP, metric
from steelyard.metrics.specification import name_and_options
from steelyard.tables.locations import located
from steelyard.tables.replacing import writing_failure
from steelyard.version import __version__

if sys.platform != "win32":
    import fcntl

__all__ = ["Parts", "fingerprint", "libraries", "open_parts", "parts_folder"]

_MANIFEST, _LOCK, _PART = "manifest.json", "lock", "part-"
# Bytes at either end of a file that are compared to see whether it has changed.
_END = 65_536
# Libraries that metrics depend on: with another version a number may differ.
_LIBRARIES = ("numpy", "polars", "rapidfuzz", "sacrebleu", "wordllama")
_WORDS = {
    "input": "the outputs have changed",
    "metrics": "the metrics have changed",
    "columns": "the columns to read have changed",
    "batch_rows": "the size of batches has changed",
    "versions": "the installed versions have changed",
}


@dataclass(frozen=True)
class Parts:
    """Where parts are.

    Attributes
    ----------
    folder : Path
        The hidden folder.
    done : mapping of int to int
        The batches that an interrupted run has finished, with their rows.
    anew : str or None
        Why an interrupted run could not be continued.
    """

    folder: Path
    done: Mapping[int, int]
    anew: str | None = None

    def keep(self, index: int, columns: Mapping[str, Floats]) -> None:
        """Keep the values of a batch.

        Raises
        ------
        InvalidArgumentError
            If they cannot be written.
        """
        path = self.folder / f"{_PART}{index:08d}.parquet"
        temporary = path.with_suffix(".tmp")
        try:
            pl.LazyFrame(dict(columns)).sink_parquet(temporary, sync_on_close="data")
            temporary.replace(path)
        except (OSError, pl.exceptions.PolarsError) as error:
            # half a part would take the room that another run needs
            temporary.unlink(missing_ok=True)
            raise InvalidArgumentError(
                f"`--output`: {self.folder} cannot be written: {writing_failure(error)}; what is "
                "scored so far is kept"
            ) from error

    def values(self) -> pl.DataFrame:
        """Return the values of all batches, in the order of the rows; NaN where there is none."""
        return pl.concat([pl.read_parquet(path, glob=False) for path in _parts(self.folder)])

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def remove_if_empty(self) -> None:
        """Remove the folder if no batch is done."""
        if not _parts(self.folder):
            self.remove()


def parts_folder(target: Path) -> Path:
    """Return the hidden folder for the parts of a file.

    Examples
    --------
    >>> parts_folder(Path("runs/scored.jsonl")).name
    '.scored.jsonl.parts'
    """
    return target.with_name(f".{target.name}.parts")


@contextmanager
def open_parts(target: Path, manifest: Mapping[str, Any]) -> Iterator[Parts]:
    """Open the parts of a file: those of an interrupted run, or a new folder.

    While they are open no other run can write the same file.

    Parameters
    ----------
    target : Path
        The file that the parts will become.
    manifest : mapping
        All that the parts depend on, as JSON knows it.

    Raises
    ------
    InvalidArgumentError
        If the folder cannot be made, or another run writes the same file.
    """
    folder = parts_folder(target)
    with ExitStack() as stack:
        try:
            is_new = not folder.exists()
            folder.mkdir(exist_ok=True)
            _hold(stack.enter_context((folder / _LOCK).open("w")), target)
            anew = None if is_new else _difference(folder / _MANIFEST, manifest)
            if anew is not None:
                for path in folder.iterdir():
                    if path.name != _LOCK:
                        path.unlink()
            written = folder / f"{_MANIFEST}.tmp"
            written.write_text(json.dumps(manifest, indent=2), encoding="utf-8")
            written.replace(folder / _MANIFEST)
        except OSError as error:
            raise InvalidArgumentError(
                f"`--output`: {target} cannot be written: {writing_failure(error)}"
            ) from error
        done = {int(path.stem.removeprefix(_PART)): _rows(path) for path in _parts(folder)}
        yield Parts(folder, done, anew)


def fingerprint(outputs: Path) -> list[dict[str, Any]]:
    """Return what shows that the outputs have changed: of each file size, time and both ends."""
    place = located(outputs)
    records = []
    for path in place.parts or (place.path,):
        status, digest = path.stat(), hashlib.sha256()
        with path.open("rb") as file:
            digest.update(file.read(_END))
            file.seek(max(0, status.st_size - _END))
            digest.update(file.read(_END))
        record = {"path": str(path.resolve()), "size": status.st_size}
        records.append(record | {"changed": status.st_mtime_ns, "ends": digest.hexdigest()})
    return records


def libraries(metrics: Sequence[str]) -> dict[str, str]:
    """Versions of all that can change a number: this package, libraries, packages of metrics."""
    names = [name_and_options(specification)[0] for specification in metrics]
    known = {"steelyard": __version__}
    for point in entry_points(group=GROUP):
        if point.name in names and point.dist is not None:
            known[point.dist.name] = point.dist.version
    own = (name for specification in metrics for name in metric(specification).libraries)
    for name in (*_LIBRARIES, *own):
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            known[name] = "unknown"
    return known


def _parts(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{_PART}*.parquet"))


def _rows(part: Path) -> int:
    return int(pl.scan_parquet(part, glob=False).select(pl.len()).collect().item())


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


def _difference(path: Path, manifest: Mapping[str, Any]) -> str | None:
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "its manifest cannot be read"
    changed = (words for key, words in _WORDS.items() if before.get(key) != manifest[key])
    return next(changed, None)
