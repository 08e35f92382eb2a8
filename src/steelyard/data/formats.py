"""Which format a file has, by its extension."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from steelyard.errors import InvalidDataError

__all__ = ["Compression", "Format", "FormatKind", "format_of"]

FormatKind = Literal["jsonl", "csv", "parquet"]
Compression = Literal["uncompressed", "gzip", "zstd"]

_KINDS: dict[str, FormatKind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
}
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a file.

    Attributes
    ----------
    kind : {"jsonl", "csv", "parquet"}
        How rows are written.
    compression : {"uncompressed", "gzip", "zstd"}
        How the text is compressed. Parquet compresses its own columns.
    """

    kind: FormatKind
    compression: Compression = "uncompressed"

    @property
    def is_text(self) -> bool:
        """Whether the file has lines, so that a row is named by its line."""
        return self.kind != "parquet"


def format_of(path: Path) -> Format:
    """Return the format that the extension of `path` stands for.

    Raises
    ------
    InvalidDataError
        If the extension is none of those known.

    Examples
    --------
    >>> format_of(Path("outputs.jsonl.gz"))
    Format(kind='jsonl', compression='gzip')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = _COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression is not None:
        suffixes.pop()
    kind = _KINDS.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise InvalidDataError(
            f"{path}: the extension must be .jsonl, .ndjson or .csv, each also with .gz or .zst, "
            f"or .parquet; got {path.suffix!r}: rename the file after its format"
        )
    if compression is None:
        return Format(kind)
    if kind == "parquet":
        raise InvalidDataError(
            f"{path}: a Parquet file compresses its own columns; got {path.suffix!r} after "
            f".parquet: unpack it first"
        )
    return Format(kind, compression)
