"""Files that appear whole or not at all."""

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from steelyard.errors import InvalidDataError

__all__ = ["replacing", "writing_failure"]

# What an operating system calls a disk, a share of it, or a file that can take no more.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FULL_WORDS = ("no space left", "quota exceeded", "file too large", "disk is full")


def writing_failure(error: Exception) -> str:
    """Return why a file could not be written, and what to do if there is no room for it.

    Examples
    --------
    >>> writing_failure(OSError(errno.ENOSPC, "No space left on device"))
    'No space left on device: free some room there, and run the same command again'
    >>> writing_failure(OSError(errno.EACCES, "Permission denied"))
    'Permission denied'
    """
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    if isinstance(error, OSError) and error.strerror:
        reason = error.strerror
    is_full = getattr(error, "errno", None) in _FULL
    # polars has the number in words only
    if is_full or any(words in reason.lower() for words in _FULL_WORDS):
        return f"{reason}: free some room there, and run the same command again"
    return reason


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
        raise InvalidDataError(f"{path}: cannot be written: {writing_failure(error)}") from error
    finally:
        if not is_special:
            written.unlink(missing_ok=True)
