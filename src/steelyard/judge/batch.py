"""A batch of questions, as the endpoint tells of it. Needs httpx."""

from dataclasses import dataclass
from typing import Any, Self

from steelyard.judge.answer import shortened
from steelyard.judge.transport import PassingError

__all__ = ["Batch", "Page"]

_OVER = frozenset({"completed", "succeeded", "expired", "cancelled", "canceled", "failed"})


@dataclass(frozen=True, slots=True)
class Batch:
    """How a batch is doing.

    Attributes
    ----------
    id, file : str
        Its name, and that of the file with its questions.
    status : str
        As the endpoint says, in small letters: ``validating``, ``in_progress``, ``completed`` ...
    results : tuple of str
        The files with replies and with errors, as far as there are any.
    done : int
        Questions that are answered or failed.
    message : str
        Why it failed; empty if nothing is said.
    """

    id: str
    file: str
    status: str
    results: tuple[str, ...] = ()
    done: int = 0
    message: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status in _OVER

    @property
    def is_incomplete(self) -> bool:
        """Whether it says that it is completed, and yet there are no files."""
        return self.status in {"completed", "succeeded"} and not self.results

    @classmethod
    def of(cls, found: Any) -> Self:
        """Read what the endpoint says.

        Raises
        ------
        PassingError
            If it is no batch.
        """
        name = found.get("id") if isinstance(found, dict) else None
        if not isinstance(name, str) or not isinstance(found.get("status"), str):
            raise PassingError("not a batch")
        counts = found.get("request_counts")
        counts = counts if isinstance(counts, dict) else {}
        files = [found.get(f"{kind}_file_id") for kind in ("output", "error")]
        done = [counts.get(kind) for kind in ("completed", "failed")]
        return cls(
            name,
            str(found.get("input_file_id")),
            found["status"].lower(),
            tuple(file for file in files if isinstance(file, str) and file),
            sum(count for count in done if isinstance(count, int)),
            _first_error(found.get("errors")),
        )


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the list of batches."""

    batches: list[Batch]
    has_more: bool


def _first_error(errors: Any) -> str:
    some = errors.get("data") if isinstance(errors, dict) else errors
    first = some[0] if isinstance(some, list) and some else None
    message = first.get("message") if isinstance(first, dict) else first
    return shortened(message) if isinstance(message, str) else ""
