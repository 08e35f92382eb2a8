"""Which format a file has, by its extension and by its first bytes."""

import re
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from steelyard.errors import InvalidDataError

__all__ = [
    "PACKED",
    "Compression",
    "FileFormat",
    "FormatKind",
    "TextKind",
    "format_of",
    "readable_format",
]

TextKind = Literal["jsonl", "csv"]
FormatKind = Literal["jsonl", "csv", "parquet", "json", "excel"]
Compression = Literal["uncompressed", "gzip", "zstd"]


@dataclass(frozen=True, slots=True)
class FileFormat:
    """The format of a file.

    Attributes
    ----------
    kind : {"jsonl", "csv", "parquet", "json", "excel"}
        How rows are written; ``json`` is one array of objects.
    compression : {"uncompressed", "gzip", "zstd"}
        How the text is compressed. Parquet and Excel compress themselves.
    separator : str
        What stands between the cells of CSV.
    """

    kind: FormatKind
    compression: Compression = "uncompressed"
    separator: str = ","

    @property
    def is_text(self) -> bool:
        """Whether the file has lines, so that a row is named by its line."""
        return self.kind in {"jsonl", "csv"}


_WRITTEN = {
    ".jsonl": FileFormat("jsonl"),
    ".ndjson": FileFormat("jsonl"),
    ".csv": FileFormat("csv"),
    ".tsv": FileFormat("csv", separator="\t"),
    ".tab": FileFormat("csv", separator="\t"),
    ".parquet": FileFormat("parquet"),
}
_READ = {
    **_WRITTEN,
    ".pq": FileFormat("parquet"),
    ".json": FileFormat("json"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), FileFormat("excel")),
}
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
# First bytes that leave no doubt, whatever the file is called.
_PARQUET, _ZIP, _OLE = b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_JSON = {b"{": FileFormat("jsonl"), b"[": FileFormat("json")}
PACKED: dict[bytes, Compression] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def format_of(path: Path) -> FileFormat:
    """Return the format to write, by the extension of `path`.

    Raises
    ------
    InvalidDataError
        If the extension is none of those known.

    Examples
    --------
    >>> format_of(Path("outputs.jsonl.gz")).compression
    'gzip'
    """
    return _by_extension(path, _WRITTEN)


def readable_format(path: Path, *, is_csv: bool = False) -> FileFormat:
    """Return the format of a file that is there, by its first bytes and its extension.

    Raises
    ------
    InvalidDataError
        If neither says what the file is.
    """
    with path.open("rb") as file:
        head = file.read(4096)
    if re.match(rb"\x80[\x02-\x05]", head):
        raise InvalidDataError(
            f"{path}: a Python pickle, which can run any program when it is read: write the table as CSV or "
            "Parquet (frame.to_parquet) instead"
        )
    if head.startswith(_PARQUET):
        return FileFormat("parquet")
    if head.startswith(_ZIP) and not _is_book(path):
        raise InvalidDataError(f"{path}: a ZIP archive: unpack it, and name the file in it")
    if head.startswith((_ZIP, _OLE)):
        return FileFormat("excel")
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if not path.suffix and start in _JSON:
        # A text in brackets is JSON by whatever name; other texts could be anything.
        return _JSON[start]
    found = FileFormat("csv") if is_csv else _by_extension(path, _READ)
    if found.kind in {"parquet", "excel"}:
        return found
    packed = next((kind for magic, kind in PACKED.items() if head.startswith(magic)), None)
    found = replace(found, compression=packed or "uncompressed")
    if found.kind == "jsonl" and start == b"[":
        return replace(found, kind="json")
    return found


def _is_book(path: Path) -> bool:
    """Whether an archive is a spreadsheet; one that is broken is said to be so when it is read."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return True
    return any(name == "mimetype" or name.startswith("xl/") for name in names)


def _by_extension(path: Path, known: dict[str, FileFormat]) -> FileFormat:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = _COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression is not None:
        suffixes.pop()
    found = known.get(suffixes[-1]) if suffixes else None
    if found is None:
        others = "" if known is _WRITTEN else ", .json, or .xlsx"
        raise InvalidDataError(
            f"{path}: the extension must be .jsonl, .ndjson, .csv or .tsv, each also with .gz or "
            f".zst, or .parquet{others}; got {path.suffix!r}: rename the file after its format"
        )
    if compression is None:
        return found
    if found.kind in {"parquet", "excel"}:
        name = "a Parquet file" if found.kind == "parquet" else "an Excel file"
        raise InvalidDataError(
            f"{path}: {name} compresses its own columns; got {path.suffix!r} after "
            f"{suffixes[-1]}: unpack it first"
        )
    return replace(found, compression=compression)
