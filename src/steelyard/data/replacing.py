"""Files that appear whole or not at all."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from steelyard.errors import InvalidDataError

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the name of a new file, which takes the place of `path` once it is written.

    Whoever reads `path` finds the old file or all of the new one. Through a link the file that it
    points to is replaced, and the link stays. What is no file, such as a pipe or ``/dev/stdout``,
    is written to as it is.

    Parameters
    ----------
    path : path
        The file to write.

    Yields
    ------
    Path
        Where to write; gone if an exception is raised.

    Raises
    ------
    InvalidDataError
        If the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InvalidDataError(
            f"{path}: cannot be written: no folder {target.parent}: make it first"
        )
    is_special = target.exists() and not (target.is_file() or target.is_dir())
    name = target.name if is_special else f".{target.name}.{uuid.uuid4().hex}.tmp"
    written = target.with_name(name)
    try:
        yield written
        if not is_special:
            written.replace(target)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        raise InvalidDataError(f"{path}: cannot be written: {reason}") from error
    finally:
        if not is_special:
            written.unlink(missing_ok=True)
