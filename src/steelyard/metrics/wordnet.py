"""Synonyms from a WordNet on disk, in the format that NLTK distributes.

References
----------
G. A. Miller (1995). WordNet: a lexical database for English. Communications of the ACM 38(11),
39-41. The format of the files: wndb(5WN); how inflected forms are found: morphy(7WN).
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from zipfile import BadZipFile
from zipfile import Path as ZipPath

from steelyard.errors import InvalidArgumentError

__all__ = ["WordNet", "wordnet_at"]

_PARTS = ("noun", "verb", "adj", "adv")

# Endings that morphy detaches, by part of speech
_ENDINGS = {
    "noun": (
        *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z")),
        *(("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
    ),
    "verb": (
        *(("s", ""), ("ies", "y"), ("es", "e"), ("es", "")),
        *(("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}

# A syntactic marker after an adjective, as in "galore(ip)"
_MARKER = re.compile(r"\([^()]*\)$")


class WordNet:
    """A WordNet, read from its index, data and exception files.

    Parameters
    ----------
    folder : Path or zipfile.Path
        Where ``index.noun`` and its like are.
    """

    def __init__(self, folder: Path | ZipPath) -> None:
        self._data = {part: (folder / f"data.{part}").read_bytes() for part in _PARTS}
        self._index = {part: dict(_index(folder / f"index.{part}")) for part in _PARTS}
        self._exceptions = {part: dict(_exceptions(folder / f"{part}.exc")) for part in _PARTS}

    def synonyms(self, word: str) -> frozenset[str]:
        """Single words that share a sense with a word, or with the base form of it.

        Parameters
        ----------
        word : str
            A word; case does not matter.

        Returns
        -------
        frozenset of str
            The word itself among them. Names keep their capitals.
        """
        found = {word}
        for part, offset in self.senses(word):
            found.update(name for name in self._names(part, offset) if "_" not in name)
        return frozenset(found)

    def senses(self, word: str) -> frozenset[tuple[str, int]]:
        """Senses of a word and of the base forms of it.

        Parameters
        ----------
        word : str
            A word; case does not matter.

        Returns
        -------
        frozenset of (str, int)
            Part of speech, and place in its data file.
        """
        return frozenset(
            (part, offset)
            for part in _PARTS
            for form in self._base_forms(word.lower(), part)
            for offset in self._index[part].get(form, ())
        )

    def _base_forms(self, word: str, part: str) -> list[str]:
        irregular = self._exceptions[part].get(word)
        if irregular is not None:
            return [word, *irregular]
        return [
            word,
            *(word[: -len(old)] + new for old, new in _ENDINGS[part] if word.endswith(old)),
        ]

    def _names(self, part: str, offset: int) -> Iterator[str]:
        data = self._data[part]
        fields = data[offset : data.index(b"\n", offset)].decode("utf-8").split()
        # offset, lexicographer's file, part of speech, number of words in base 16, then each
        # word followed by its number
        for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]:
            yield _MARKER.sub("", word)


def _index(file: Path | ZipPath) -> Iterator[tuple[str, list[int]]]:
    """Each word of an index file, and where its senses are in the data file."""
    for line in file.read_text(encoding="utf-8").splitlines():
        # the licence at the top is indented
        if not line.startswith(" "):
            fields = line.split()
            yield fields[0], [int(offset) for offset in fields[-int(fields[2]) :]]


def _exceptions(file: Path | ZipPath) -> Iterator[tuple[str, list[str]]]:
    """Each irregular form and its base forms."""
    for line in file.read_text(encoding="utf-8").splitlines():
        form, *base = line.split()
        yield form, base


@cache
def wordnet_at(place: str) -> WordNet:
    """Read the WordNet at a place, once in a process.

    Parameters
    ----------
    place : str
        Its folder, an ``nltk_data`` folder that holds it, or ``wordnet.zip``.

    Returns
    -------
    WordNet

    Raises
    ------
    InvalidArgumentError
        If there is none.
    """
    path = Path(place).expanduser()
    folders: list[Path | ZipPath] = [path, path / "corpora" / "wordnet"]
    for archive in (path, path / "corpora" / "wordnet.zip"):
        if archive.is_file():
            try:
                folders.append(ZipPath(archive, "wordnet/"))
            except BadZipFile:
                continue
    for folder in folders:
        if (folder / "index.noun").is_file():
            return WordNet(folder)
    raise InvalidArgumentError(
        f"`wordnet` must name a folder with WordNet's files, as NLTK distributes them; "
        f"got {place!r}, where index.noun is not found: name the folder that holds it, or 'none'"
    )
