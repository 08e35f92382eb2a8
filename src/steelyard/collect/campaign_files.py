"""Which campaigns a server has, and under which names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import InvalidArgumentError

__all__ = ["CampaignFile", "campaign_files"]

_FILE = "campaign.yaml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]*")
# What the server itself answers.
_TAKEN = frozenset({"healthz", "readyz", "static"})


@dataclass(frozen=True)
class CampaignFile:
    """A campaign file, and where its campaign is served.

    Attributes
    ----------
    path
        The file.
    name
        The part of the address that it is below; empty if it is alone.
    """

    path: Path
    name: str = ""


def campaign_files(given: Sequence[Path]) -> list[CampaignFile]:
    """Return the campaigns of files and folders.

    A folder stands for the ``campaign.yaml`` in it; one without stands for those of its own folders,
    in the order of their names. One campaign alone has no name. Otherwise a campaign has the name
    of its file, or of its folder if the file is called ``campaign.yaml``.

    Parameters
    ----------
    given : sequence of Path
        Campaign files, or folders.

    Raises
    ------
    InvalidArgumentError
        If there is none in a folder, two have the same name, or a name cannot stand in an address.
    """
    if len(given) == 1 and (not given[0].is_dir() or (given[0] / _FILE).is_file()):
        return [CampaignFile(given[0] / _FILE if given[0].is_dir() else given[0])]
    found: dict[str, CampaignFile] = {}
    for path in (one for each in given for one in _files(each)):
        name = _named(path)
        if not _NAME.fullmatch(name) or name in _TAKEN:
            raise InvalidArgumentError(
                f"{path} cannot be served under the name {name!r}: rename it, with letters, digits, dots and dashes"
            )
        if name in found:
            raise InvalidArgumentError(
                f"{found[name].path} and {path} would both be served under {name!r}: rename one"
            )
        found[name] = CampaignFile(path, name)
    return list(found.values())


def _files(given: Path) -> list[Path]:
    if not given.is_dir():
        return [given]
    if (given / _FILE).is_file():
        return [given / _FILE]
    found = sorted(given.glob(f"*/{_FILE}"))
    if not found:
        raise InvalidArgumentError(
            f"{given} holds no campaign: there must be a {_FILE} in it, or in folders within it"
        )
    return found


def _named(path: Path) -> str:
    return path.absolute().parent.name if path.name == _FILE else path.stem
