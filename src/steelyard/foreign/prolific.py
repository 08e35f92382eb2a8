"""Submissions that Prolific exports: who took part, and whose work was approved."""

from collections.abc import Sequence

from steelyard.errors import InvalidDataError
from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Conversion, Format, Options

__all__ = ["FORMAT", "approved_raters"]

_APPROVED = "APPROVED"


def _column(document: ToolFile, name: str) -> str | None:
    """Return the column as this export spells it: ``Participant id`` or ``participant_id``."""
    spelled = {column.casefold().replace("_", " "): column for column in document.columns}
    return spelled.get(name)


def _recognises(document: ToolFile) -> bool:
    names = ("participant id", "status")
    return document.kind == "table" and all(_column(document, name) for name in names)


def approved_raters(document: ToolFile) -> frozenset[str]:
    """Return the participants whose submission was approved.

    Raises
    ------
    InvalidDataError
        If it is no export of Prolific, or nobody is approved.
    """
    participant, status = _column(document, "participant id"), _column(document, "status")
    if document.kind != "table" or participant is None or status is None:
        raise InvalidDataError(
            f"`--raters-from` {document.path}: expected columns `Participant id` and `Status` as "
            f"Prolific exports them; this is {document.contents}"
        )
    found = frozenset(
        row[participant].strip()
        for row in document.rows
        if str(row[status]).strip().upper() == _APPROVED
    )
    if not found:
        states = sorted({str(row[status]) for row in document.rows})
        raise InvalidDataError(
            f"`--raters-from` {document.path}: no submission is {_APPROVED}; there is "
            f"{', '.join(states) or 'none'}"
        )
    return found


def _convert(documents: Sequence[ToolFile], _: Options) -> list[Conversion]:
    path = documents[0].path
    raise InvalidDataError(
        f"{path}: an export of Prolific holds no scores: convert the file of judgments, with "
        f"--raters-from {path} to keep approved raters"
    )


FORMAT = Format(
    name="prolific",
    title="Prolific submissions, to keep approved raters (--raters-from)",
    expects="columns `Participant id` and `Status`",
    recognises=_recognises,
    convert=_convert,
)
