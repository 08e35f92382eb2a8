"""Batches of an OpenAI-compatible endpoint: a file of questions in, a file of replies out. Needs httpx."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np

from steelyard.judge.answer import shortened
from steelyard.judge.endpoint import Endpoint, EndpointError, Sleep
from steelyard.judge.retries import back_off
from steelyard.judge.transport import FailedQuestionError, PassingError, Transport
from steelyard.judge.trouble import Trouble

__all__ = ["QUESTION_PATH", "Batch", "Batches", "UnsentError"]

# What stands in the lines of a file, whatever the address is.
QUESTION_PATH = "/v1/chat/completions"
_WINDOW = "24h"
# Seconds for a file on its way, and bytes of one.
_TRANSFER = 600.0
_LARGEST_FILE = 1_000_000_000
# Statuses of a place where there is no such thing.
_NOTHING = frozenset({404, 405, 501})
_OVER = frozenset({"completed", "succeeded", "expired", "cancelled", "canceled", "failed"})
# Batches on a page of the list, and pages that are looked through: the newest come first.
_PAGE, _PAGES = 100, 20
# What a file may still be doing before a batch can be made of it.
_UNREADY = frozenset({"pending", "running", "queued"})
_LOOK = 2.0
# How often a file is fetched that does not come whole.
_FETCHES = 3
# What it means if there is nothing: of the batch mode, of the list, of one batch.
_NO_BATCHES = "has no batch mode: leave out `batch`"
_UNLISTED = (
    "batches are not listed, and an earlier run may have made one: look there, and if there is none, give "
    "another cache"
)
_UNKNOWN = (
    ": give the key and endpoint that it was made with, or another cache to ask, and pay, anew"
)

T = TypeVar("T")


class UnsentError(EndpointError):
    """The endpoint took nothing, for certain."""


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


class Batches:
    """The part of an endpoint that works on files.

    Parameters
    ----------
    endpoint : Endpoint
        Where it is.
    transport : Transport
        Sends requests.
    sleep : callable
        Waits some seconds.
    rng : Generator
        Draws the waits.
    """

    def __init__(
        self, endpoint: Endpoint, transport: Transport, *, sleep: Sleep, rng: np.random.Generator
    ) -> None:
        self._endpoint = endpoint
        self._transport = transport
        self._sleep = sleep
        self._rng = rng

    async def upload(self, lines: bytes) -> str:
        """Send a file of questions, wait until the endpoint has read it, and return its name."""
        form = {
            "data": {"purpose": "batch"},
            "files": {"file": ("questions.jsonl", lines, "application/jsonl")},
        }
        found = await self._patiently(lambda: self._json("POST", "files", form=form))
        name = found.get("id") if isinstance(found, dict) else None
        if not isinstance(name, str):
            raise self._error("sent no name for the file of questions")
        while isinstance(found, dict) and found.get("status") in _UNREADY:
            await self._sleep(_LOOK)
            found = await self._patiently(lambda: self._json("GET", f"files/{name}"))
        return name

    async def create(self, file: str) -> Batch:
        """Have a file worked on, once: after a doubt, a batch of it is looked for first.

        Raises
        ------
        UnsentError
            If there is no batch.
        EndpointError
            If there may be one.
        """
        sent = {"input_file_id": file, "endpoint": QUESTION_PATH, "completion_window": _WINDOW}
        is_doubtful = False

        async def once() -> Batch:
            nonlocal is_doubtful
            found = await self.find(file) if is_doubtful else None
            if found is not None:
                return found
            try:
                return Batch.of(await self._json("POST", "batches", body=json.dumps(sent).encode()))
            except PassingError as error:
                is_doubtful = is_doubtful or not error.is_refusal
                raise

        try:
            return await self._patiently(once)
        except EndpointError as error:
            if is_doubtful:
                raise
            raise UnsentError(str(error)) from error

    async def find(self, file: str) -> Batch | None:
        """Return the batch of a file; None if there is none."""
        after = ""
        for _ in range(_PAGES):
            path = f"batches?limit={_PAGE}{after}"
            found = await self._patiently(partial(self._json, "GET", path, lacking=_UNLISTED))
            some = found.get("data") if isinstance(found, dict) else None
            batches = [Batch.of(one) for one in some] if isinstance(some, list) else []
            for batch in batches:
                if batch.file == file:
                    return batch
            if not batches or not found.get("has_more"):
                return None
            after = f"&after={batches[-1].id}"
        return None

    async def batch(self, name: str) -> Batch:
        """Return how a batch is doing.

        Raises
        ------
        PassingError
            If that cannot be learned now.
        EndpointError
            If there is no such batch.
        """
        lacking = f"there is no batch {name}{_UNKNOWN}"
        try:
            return Batch.of(await self._json("GET", f"batches/{name}", lacking=lacking))
        except FailedQuestionError as error:
            raise self._error(str(error)) from error

    async def lines(self, file: str) -> list[Any]:
        """Return the lines of a file, parsed; those that cannot be are left out."""
        lacking = f"there is no file {file} any more"
        path = f"files/{file}/content"
        found: list[Any] = []
        # a file that was cut off on its way is fetched again before lines are given up
        for _ in range(_FETCHES):
            text = await self._patiently(lambda: self._text("GET", path, lacking=lacking))
            found, is_whole = _parsed(text)
            if is_whole:
                break
        return found

    async def _patiently(self, once: Callable[[], Awaitable[T]]) -> T:
        """Do something until it works, or trying again does not help."""
        attempt = 0
        while True:
            try:
                return await once()
            except FailedQuestionError as error:
                raise self._error(str(error)) from error
            except PassingError as error:
                if attempt == self._endpoint.max_retries:
                    raise self._error(f"{error}: run the same command again") from error
                wait = back_off(attempt, rng=self._rng) if error.wait is None else error.wait
            await self._sleep(wait)
            attempt += 1

    async def _json(self, method: str, path: str, **sent: Any) -> Any:
        text = await self._text(method, path, **sent)
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise PassingError("malformed JSON") from error

    async def _text(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        form: Mapping[str, Any] | None = None,
        lacking: str = _NO_BATCHES,
    ) -> str:
        """Send one request; `lacking` says what it means if there is no such thing."""
        is_file = path.startswith("files")
        status, headers, content = await self._transport.response(
            method,
            self._endpoint.beside(path),
            body=body,
            form=form,
            timeout=max(_TRANSFER, self._endpoint.timeout) if is_file else None,
            largest=_LARGEST_FILE,
        )
        if status in _NOTHING:
            raise self._error(f"HTTP {status}: {lacking}")
        if not 200 <= status < 300:
            self._transport.raise_for(Trouble.of(status, content), headers)
        return self._endpoint.without_key(content.decode("utf-8", "replace"))

    def _error(self, message: str) -> EndpointError:
        return EndpointError(f"{self._endpoint.beside('batches').partition('?')[0]}: {message}")


def _first_error(errors: Any) -> str:
    some = errors.get("data") if isinstance(errors, dict) else errors
    first = some[0] if isinstance(some, list) and some else None
    message = first.get("message") if isinstance(first, dict) else first
    return shortened(message) if isinstance(message, str) else ""


def _parsed(text: str) -> tuple[list[Any], bool]:
    found, is_whole = [], True
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            is_whole = False
    return found, is_whole
