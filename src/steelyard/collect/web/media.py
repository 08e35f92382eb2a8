"""Pictures, sound and film that raters see: files below one folder, under names that say nothing."""

import hmac
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from steelyard.collect.tasks.task import Task

__all__ = ["MEDIA", "MediaFile", "MediaFolder", "media_fields", "media_name"]

Kind = Literal["image", "audio", "video"]
MEDIA: tuple[Kind, ...] = get_args(Kind)
# What a browser shows without running it, by the ending; what is served is nothing else, whatever a file holds.
_TYPES: Mapping[Kind, Mapping[str, str]] = {
    "image": {
        "avif": "image/avif",
        "gif": "image/gif",
        "jpeg": "image/jpeg",
        "jpg": "image/jpeg",
        "png": "image/png",
        "svg": "image/svg+xml",
        "webp": "image/webp",
    },
    "audio": {
        "flac": "audio/flac",
        "m4a": "audio/mp4",
        "mp3": "audio/mpeg",
        "oga": "audio/ogg",
        "ogg": "audio/ogg",
        "opus": "audio/ogg",
        "wav": "audio/wav",
    },
    "video": {"mp4": "video/mp4", "ogv": "video/ogg", "webm": "video/webm"},
}
_ALL = {ending: kind for kinds in _TYPES.values() for ending, kind in kinds.items()}


@dataclass(frozen=True, slots=True)
class MediaFile:
    """A file to send."""

    path: Path
    media_type: str


@dataclass(frozen=True)
class MediaFolder:
    """The files of a folder that a campaign names.

    Attributes
    ----------
    folder : Path
        The folder. Links in it are not followed, and nothing outside of it is known.
    secret : str
        With it nobody can tell from a name which file it stands for: a path may name a system.
    """

    folder: Path
    secret: str = ""

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of all files of known kinds, below the folder."""
        found = set()
        for place, _, names in os.walk(self.folder, followlinks=False):
            for name in names:
                path = Path(place, name)
                if _ending(name) in _ALL and not path.is_symlink():
                    found.add(path.relative_to(self.folder).as_posix())
        return frozenset(found)

    @cached_property
    def _named(self) -> Mapping[str, str]:
        return {media_name(self.secret, path): path for path in self.paths}

    def file(self, name: str) -> MediaFile | None:
        """Return the file that a name stands for; None if there is none."""
        path = self._named.get(name)
        if path is None:
            return None
        whole = self.folder / path
        # it may have become a link meanwhile
        inside = whole.resolve().is_relative_to(self.folder.resolve())
        if not inside or not whole.is_file():
            return None
        return MediaFile(whole, _ALL[_ending(path)])

    def problem(self, value: Any, kind: Kind) -> str | None:
        """Say what is wrong with the paths of a field; None if nothing is."""
        for path in value if isinstance(value, list) else [value]:
            endings = _TYPES[kind]
            if _ending(path) not in endings:
                return f"must be the path of a file that ends in {', '.join(endings)}; got {path!r}"
            if _plain(path) not in self.paths:
                return f"there is no file {path!r} in the folder {self.folder.name}"
        return None

    def names(self, value: str | list[str]) -> list[str]:
        """Return the names under which the files of a field are served."""
        paths = value if isinstance(value, list) else [value]
        return [media_name(self.secret, _plain(path)) for path in paths]

    def picture(self, path: str) -> str | None:
        """Return the address of a picture of the folder, below that of the page; None for any other."""
        path = _plain(path)
        is_ours = path in self.paths and _ending(path) in _TYPES["image"]
        return f"media/{media_name(self.secret, path)}" if is_ours else None


def media_name(secret: str, path: str) -> str:
    """Return the name under which a file is served.

    Examples
    --------
    >>> media_name("s", "a/cat.png") == media_name("s", "a/cat.png")
    True
    >>> len(media_name("s", "a/cat.png"))
    36
    """
    mark = hmac.new(secret.encode(), path.encode(), sha256).hexdigest()[:32]
    return f"{mark}.{_ending(path)}"


def media_fields(task: Task) -> dict[str, Kind]:
    """Return the fields that hold paths, and what they show."""
    return {one.field: one.format for one in task.show if one.format in MEDIA}


def _ending(path: Any) -> str:
    return path.rpartition(".")[2].lower() if isinstance(path, str) else ""


def _plain(path: str) -> str:
    """Return a path as `MediaFolder.paths` has it; one that leads elsewhere is none of these."""
    parts: Iterable[str] = PurePosixPath(path).parts
    return "/".join(parts)
