"""The text of a file as polars can read it: UTF-8, without a byte order mark, lines that end in LF."""

import codecs
import gzip
import re
import zlib
from pathlib import Path

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.tables.formats import PACKED, FileFormat

__all__ = ["Text", "decoded", "not_utf8", "readable_text", "unpacked", "whole"]

# A file that polars reads as it is, or what it can read in place of it.
Text = Path | bytes

_HEAD = 65_536
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_QUOTED = re.compile(rb'"[^"]*"')
_LINE_END = re.compile(rb"\r\n|\r|\n")


def readable_text(path: Path, file_format: FileFormat) -> Text:
    """Return a JSON Lines or CSV file as polars reads it: the path itself unless it must be changed.

    A byte order mark is taken off, UTF-16 (known by its mark) becomes UTF-8, and lines that end in CR
    alone get LF; a CR inside quotation marks stays.

    Raises
    ------
    InvalidDataError
        If the file cannot be unpacked.
    """
    head = _head(path, file_format)
    is_marked = head.startswith((codecs.BOM_UTF8, *_UTF_16))
    if not (is_marked or _ends_in_cr(head)):
        return path
    content = unpacked(path, file_format)
    if content.startswith(_UTF_16):
        try:
            content = content.decode("utf-16").encode()
        except UnicodeDecodeError:
            raise InvalidDataError(
                f"{path}, line 1: the bytes are neither UTF-8 nor UTF-16: save the file as UTF-8"
            ) from None
    content = content.removeprefix(codecs.BOM_UTF8)
    if _ends_in_cr(content[:_HEAD]):
        content = _with_line_feeds(content, keep_quoted=file_format.kind == "csv")
    return content


def unpacked(path: Path, file_format: FileFormat) -> bytes:
    """Return the bytes of a file, without its compression.

    Raises
    ------
    InvalidDataError
        If it cannot be unpacked.
    """
    try:
        if file_format.compression == "gzip":
            return gzip.decompress(path.read_bytes())
        if file_format.compression == "zstd":
            return _unpacked_zstd(path)
        return path.read_bytes()
    except (OSError, EOFError, zlib.error, pl.exceptions.PolarsError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InvalidDataError(f"{path}: cannot be read: {reason}") from error


def decoded(path: Path) -> str:
    """Return a whole text file, packed or not, in UTF-8 or UTF-16.

    Raises
    ------
    InvalidDataError
        If it cannot be unpacked, or is in neither.
    """
    body = whole(path)
    try:
        return body.decode("utf-16" if body.startswith(_UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidDataError(f"{path}, {not_utf8(body)}") from error


def whole(path: Path) -> bytes:
    """Return the bytes of a file, without its compression, known by its first bytes."""
    with path.open("rb") as file:
        head = file.read(4)
    packed = next((kind for magic, kind in PACKED.items() if head.startswith(magic)), None)
    return unpacked(path, FileFormat("csv", packed or "uncompressed"))


def not_utf8(body: bytes) -> str | None:
    """Say on which line bytes stand that are not UTF-8; None if there are none."""
    try:
        body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        return f"line {line}: the bytes are not UTF-8: save the file as UTF-8"
    return None


def _head(path: Path, file_format: FileFormat) -> bytes:
    """Return the first bytes of the text; none where they cannot be had, which polars will say."""
    try:
        if file_format.compression == "zstd":
            return "\n".join(pl.scan_lines(path, glob=False).head(1).collect()["line"]).encode()
        opened = gzip.open if file_format.compression == "gzip" else open
        with opened(path, "rb") as file:
            head: bytes = file.read(_HEAD)
            return head
    except (OSError, EOFError, zlib.error, pl.exceptions.PolarsError):
        return b""


def _unpacked_zstd(path: Path) -> bytes:
    # Python cannot read Zstandard before 3.14; polars can, as cells that no text has.
    cells = pl.read_csv(
        path,
        has_header=False,
        separator="\x01",
        eol_char="\x02",
        quote_char=None,
        infer_schema=False,
        truncate_ragged_lines=True,
        glob=False,
    )
    rows = ("\x01".join(cell or "" for cell in row) for row in cells.iter_rows())
    return "\x02".join(rows).encode()


def _ends_in_cr(head: bytes) -> bool:
    """Whether the first line ends in CR alone; a CR at the very end of what was read may go on."""
    found = _LINE_END.search(_QUOTED.sub(b"", head))
    return found is not None and found[0] == b"\r" and not head.endswith(b"\r\n")


def _with_line_feeds(content: bytes, *, keep_quoted: bool) -> bytes:
    if not keep_quoted:
        return _LINE_END.sub(b"\n", content)
    pieces = content.split(b'"')
    pieces[::2] = [_LINE_END.sub(b"\n", piece) for piece in pieces[::2]]
    return b'"'.join(pieces)
