"""Paths on the command line: what a command reads it never writes."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from steelyard.errors import InvalidArgumentError
from steelyard.tables.formats import format_of
from steelyard.tables.locations import input_files

__all__ = ["InputPath", "OutputFile", "check_not_inputs", "check_writable"]

_READ, _WRITTEN = "steelyard.paths.read", "steelyard.paths.written"


class InputPath(click.Path):
    """A file or folder that a command reads."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path, once it is known that no file to write is this one."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if ctx is not None:
            files = input_files(path)
            for option, written in ctx.meta.get(_WRITTEN, ()):
                check_not_inputs(option, [written], files)
            ctx.meta.setdefault(_READ, []).extend(files)
        return path


class OutputFile(click.Path):
    """A file that a command writes; neither one that it reads nor another that it writes."""

    def __init__(self, *, folder_okay: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=folder_okay)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path, once it is known that it is no input and not written twice."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if ctx is not None and param is not None:
            option = max(param.opts, key=len)
            for read in ctx.meta.get(_READ, ()):
                _check(option, path, read)
            written = ctx.meta.setdefault(_WRITTEN, [])
            for other, taken in written:
                if _is_file_at(path, taken) or path.resolve() == taken.resolve():
                    raise InvalidArgumentError(
                        f"`{option}` and `{other}` must be two files; both are {path}"
                    )
            written.append((option, path))
        return path


def check_not_inputs(option: str, written: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise if one of the files to write, in a folder that was named, is an input.

    Raises
    ------
    InvalidArgumentError
        The message names both, and nothing is written yet.
    """
    inputs = tuple(file for path in inputs for file in input_files(path))
    for path in written:
        for read in inputs:
            _check(option, path, read)


def _check(option: str, written: Path, read: Path) -> None:
    if not (_is_file_at(written, read) or _lies_in(written, read)):
        return
    where = "is" if read.is_file() else "lies in"
    raise InvalidArgumentError(
        f"`{option}` {written} {where} the input {read}, which is never written over: "
        "name another file"
    )


def _is_file_at(one: Path, other: Path) -> bool:
    """Whether both lead to one file, by whatever link, spelling or case; a pipe is no file."""
    try:
        return one.is_file() and other.is_file() and one.samefile(other)
    except OSError:
        return False


def _lies_in(written: Path, folder: Path) -> bool:
    """Whether a file that is there already is in this folder, or linked from it."""
    if not (folder.is_dir() and written.is_file()):
        return False
    return any(_is_file_at(written, each) for each in folder.rglob("*"))


def check_writable(option: str, path: Path) -> None:
    """Raise unless a table can be written there, before there is anything to write."""
    format_of(path)
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InvalidArgumentError(
            f"`{option}` must lie in an existing folder; there is no {path.parent}"
        )
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidArgumentError(
            f"`{option}` must lie in a folder that can be written to; {folder}: {error.strerror}"
        ) from error
