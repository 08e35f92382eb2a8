"""The code blocks of a page, and the commands in them."""

import re
import shlex
from dataclasses import dataclass

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language ("" for commands of a shell), its text, its line."""

    language: str
    text: str
    line: int


@dataclass(frozen=True)
class Command:
    """A command as it is written, and what the page says that it prints."""

    written: str
    printed: str | None = None

    def arguments(self, folder):
        """Return what a shell would make of it in a folder."""
        words = shlex.split(self.written, comments=True)
        return [name for word in words for name in (_expanded(word, folder) or [word])]


def blocks(text):
    """Return the fenced blocks of a page, in their order."""
    return [
        Block(
            found[2],
            re.sub(f"^{found[1]}", "", found[3], flags=re.MULTILINE),
            text.count("\n", 0, found.start()) + 1,
        )
        for found in _FENCE.finditer(text)
    ]


def commands(block):
    """Return the commands of a block: its lines, or in `console` the lines after a dollar."""
    text = block.text.replace("\\\n", " ")
    if block.language == "console":
        return [
            Command(*part.split("\n", 1))
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)
            if part.strip()
        ]
    if block.language in ("", "bash"):
        return [Command(line) for line in text.splitlines() if shlex.split(line, comments=True)]
    return []


def _expanded(word, folder):
    return (
        sorted(str(path.relative_to(folder)) for path in folder.glob(word)) if "*" in word else []
    )
