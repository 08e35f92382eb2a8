"""What a user may name: a file, a sheet of an Excel file, a folder or pattern of Parquet files."""

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import InvalidDataError

__all__ = ["Location", "input_files", "located", "parquet_files"]

_SHEET = "#"


@dataclass(frozen=True, slots=True)
class Location:
    """Where rows are.

    Attributes
    ----------
    path : Path
        The file, or the folder or pattern as it was named.
    sheet : str or None
        The sheet of an Excel file that was named.
    parts : tuple of Path
        The Parquet files of a folder or pattern; empty for one file.
    """

    path: Path
    sheet: str | None = None
    parts: tuple[Path, ...] = ()


def located(path: Path) -> Location:
    """Return what is meant by `path`; what is there by that very name goes first.

    Raises
    ------
    InvalidDataError
        If nothing is there.
    """
    if path.is_dir():
        return Location(path, parts=parquet_files(path))
    if path.exists():
        return Location(path)
    file, mark, sheet = str(path).rpartition(_SHEET)
    if mark and Path(file).is_file():
        return Location(Path(file), sheet=sheet)
    if any(sign in str(path) for sign in "*?["):
        return Location(path, parts=_matching(path))
    raise InvalidDataError(f"{path}: no such file{_near(path)}")


def input_files(path: Path) -> tuple[Path, ...]:
    """Return the files and folders that reading `path` would read; itself where nothing is there."""
    try:
        found = located(path)
    except InvalidDataError:
        return (path,)
    return found.parts or (found.path,) if not path.is_dir() else (path,)


def parquet_files(folder: Path) -> tuple[Path, ...]:
    """Return the Parquet files in a folder and its subfolders, in order of their names.

    Raises
    ------
    InvalidDataError
        If there is none.
    """
    found = sorted(
        file for file in folder.rglob("*.parquet") if not _is_hidden(file.relative_to(folder))
    )
    if not found:
        raise InvalidDataError(
            f"{folder}: the folder holds no .parquet file: name the file in it that you mean"
        )
    return tuple(found)


def _matching(pattern: Path) -> tuple[Path, ...]:
    found = sorted(Path(name) for name in glob.glob(str(pattern), recursive=True))  # noqa: PTH207
    files = [file for file in found if file.is_file()]
    if not files:
        raise InvalidDataError(f"{pattern}: no file has a name like this")
    for file in files:
        if file.suffix.lower() not in {".parquet", ".pq"}:
            raise InvalidDataError(
                f"{pattern}: only Parquet files are read together; got {file}: name one file, or "
                "join them first"
            )
    return tuple(files)


def _near(path: Path) -> str:
    """Name the file that may be meant: same name in other letters, or with another extension."""
    try:
        there: Sequence[Path] = sorted(path.parent.iterdir())
    except OSError:
        return "" if path.parent.exists() else f" (there is no folder {path.parent})"
    for file in there:
        if file.name.casefold() == path.name.casefold():
            return f": is it {file}?"
    for file in there:
        if path.stem and file.is_file() and file.name.split(".")[0] == path.name.split(".")[0]:
            return f": is it {file}?"
    return ""


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)
