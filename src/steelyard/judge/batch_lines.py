"""Lines of a batch: from questions to a file, and from files to replies or reasons."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from steelyard.judge.answer import shortened
from steelyard.judge.batches import QUESTION_PATH
from steelyard.judge.endpoint import Endpoint
from steelyard.judge.questions import Example, Inquiry
from steelyard.judge.reply import MalformedReplyError, Reply
from steelyard.judge.trouble import Trouble

__all__ = ["Result", "files_of", "results"]

# Of one file: OpenAI takes 50,000 questions and 200 MB, others half of that or less.
_MOST_LINES = 10_000
_MOST_BYTES = 50_000_000
# Statuses after which the same question may be answered another time.
_PASSING = frozenset({408, 409, 429})


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one question.

    Attributes
    ----------
    reply : Reply or None
        The reply, if there is one.
    reason : str
        Why there is none.
    may_pass : bool
        Whether another attempt may succeed.
    is_final : bool
        Whether every question would fail for the same reason.
    """

    reply: Reply | None = None
    reason: str = ""
    may_pass: bool = False
    is_final: bool = False

    @classmethod
    def of(cls, line: Mapping[str, Any], endpoint: Endpoint) -> Self:
        """Read a line of a file of replies or of errors."""
        response, error = line.get("response"), line.get("error")
        if not isinstance(response, dict):
            found = error if isinstance(error, dict) else {}
            said = [str(found[name]) for name in ("code", "message") if found.get(name)]
            return cls(reason=shortened(endpoint.without_key(": ".join(said))) or "no response")
        status, body = response.get("status_code"), response.get("body")
        if not isinstance(status, int):
            status = 200
        trouble = Trouble.within(body)
        if not 200 <= status < 300:
            trouble = Trouble.of(status, json.dumps(body).encode())
        if trouble is not None:
            return cls._failed(trouble, endpoint)
        try:
            reply = Reply.of(body)
        except MalformedReplyError as malformed:
            return cls(reason=f"not a chat completion: {malformed}")
        return cls(reason="empty reply", may_pass=True) if reply.is_empty else cls(reply)

    @classmethod
    def _failed(cls, trouble: Trouble, endpoint: Endpoint) -> Self:
        said = shortened(endpoint.without_key(trouble.message))
        is_refused = trouble.status in {401, 403, 404} and not trouble.is_filtered
        is_final = trouble.is_quota or is_refused
        return cls(
            reason=f"HTTP {trouble.status}: {said}" if said else f"HTTP {trouble.status}",
            may_pass=not is_final and (trouble.status in _PASSING or trouble.status >= 500),
            is_final=is_final,
        )


def files_of(
    inquiry: Inquiry, examples: Mapping[str, Example], keys: Iterable[str]
) -> Iterator[dict[str, bytes]]:
    """Yield lines by key, as many at a time as one file may have."""
    lines: dict[str, bytes] = {}
    size = 0
    for key in keys:
        asked = {
            "custom_id": key,
            "method": "POST",
            "url": QUESTION_PATH,
            "body": inquiry.question(examples[key]),
        }
        line = json.dumps(asked, allow_nan=False).encode("ascii") + b"\n"
        if lines and (len(lines) == _MOST_LINES or size + len(line) > _MOST_BYTES):
            yield lines
            lines, size = {}, 0
        lines[key] = line
        size += len(line)
    if lines:
        yield lines


def results(lines: Iterable[Any], endpoint: Endpoint) -> dict[str, Result]:
    """Return what came of each question, by key; of several lines, the first with a reply."""
    found: dict[str, Result] = {}
    for line in lines:
        key = line.get("custom_id") if isinstance(line, dict) else None
        if not isinstance(key, str):
            continue
        result = Result.of(line, endpoint)
        if key not in found or (found[key].reply is None and result.reply is not None):
            found[key] = result
    return found
