"""Complete campaigns to start from, copied to a folder of one's own."""

import shutil
import tempfile
from pathlib import Path

from steelyard.collect.config.campaign import load_campaign
from steelyard.errors import InvalidArgumentError, InvalidDataError

__all__ = ["copy_example"]

_EXAMPLES = Path(__file__).parent.parent / "examples"
_FILE = "campaign.yaml"


def copy_example(name: str, folder: Path) -> Path:
    """Copy an example to a new folder, or find it there from before.

    Parameters
    ----------
    name
        Name of the example.
    folder
        Where to copy it. One that exists is left as it is.

    Returns
    -------
    Path
        The campaign file in the folder.

    Raises
    ------
    InvalidArgumentError
        If there is no such example, or the folder exists and holds something else.
    """
    source = _EXAMPLES / name
    if not (source / _FILE).is_file():
        known = ", ".join(sorted(path.parent.name for path in _EXAMPLES.glob(f"*/{_FILE}")))
        raise InvalidArgumentError(f"`--example` must be one of {known}; got {name!r}")
    if folder.exists():
        if not _is_same(source / _FILE, folder / _FILE):
            raise InvalidArgumentError(
                f"`--directory` {folder} is there and holds something else than the example {name}: "
                f"choose another, or serve what it holds with steelyard serve {folder / _FILE}"
            )
        return folder / _FILE
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise InvalidArgumentError(
            f"`--directory` must lie in an existing folder; there is no {folder.parent}"
        )
    with tempfile.TemporaryDirectory(dir=parent, prefix=f".{folder.name}.") as part:
        # whole or not at all, whatever happens while it is copied
        shutil.copytree(source, Path(part) / name, ignore=shutil.ignore_patterns("__pycache__"))
        (Path(part) / name).rename(folder)
    return folder / _FILE


def _is_same(example: Path, found: Path) -> bool:
    if not found.is_file():
        return False
    try:
        return load_campaign(found).fingerprint == load_campaign(example).fingerprint
    except InvalidDataError:
        return False
