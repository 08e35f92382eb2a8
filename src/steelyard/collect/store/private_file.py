"""A database file that only its owner may read: it holds the secret that signs every link."""

import logging
import os
import stat
from pathlib import Path

from steelyard.collect.store.refusals import StoreError

__all__ = ["make_private"]

_OWNER_ONLY = stat.S_IRUSR | stat.S_IWUSR
_log = logging.getLogger("steelyard.collect")


def make_private(path: Path) -> None:
    """Make the file if it is not there, and take it away from everybody but its owner.

    SQLite gives the files that it keeps beside a database the permissions of the database.

    Raises
    ------
    StoreError
        If there is no such folder, everybody may replace files in it, or the file cannot be made.
    """
    folder = path.parent
    if not folder.is_dir():
        raise StoreError(f"cannot make the database {path}: there is no folder {folder}")
    if os.name != "posix":
        # permissions are inherited from the folder there
        return
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise StoreError(
            f"cannot keep the database {path} private: everybody may replace files in {folder}; choose "
            f"another folder, or run chmod o-w {folder}"
        )
    try:
        # never readable by others, not even for a moment
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY))
        for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            _tighten(file)
    except OSError as error:
        raise StoreError(f"cannot open the database {path}: {error.strerror}") from error


def _tighten(file: Path) -> None:
    try:
        found = stat.S_IMODE(file.stat().st_mode)
    except FileNotFoundError:
        return
    if found & ~_OWNER_ONLY:
        _log.warning(
            "%s was open to others (%o): now its owner alone may read it; if others had a login on this machine, "
            "renew the secret with --renew-secret",
            file.name,
            found,
        )
        file.chmod(_OWNER_ONLY)
