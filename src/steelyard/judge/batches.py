"""Batches of an OpenAI-compatible endpoint: a file of questions in, a file of replies out. Needs httpx."""

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np

from steelyard.judge.batch import Batch, Page
from steelyard.judge.endpoint import Endpoint, EndpointError, Sleep
from steelyard.judge.retries import back_off
from steelyard.judge.transport import FailedQuestionError, PassingError, Transport
from steelyard.judge.trouble import Trouble

__all__ = ["QUESTION_PATH", "Batches", "UnsentError"]

# What stands in the lines of a file, whatever the address is.
QUESTION_PATH = "/v1/chat/completions"
_WINDOW = "24h"
# Seconds for a file on its way, and bytes of one.
_TRANSFER = 600.0
_LARGEST_FILE = 1_000_000_000
# Statuses of a place where there is no such thing.
_NOTHING = frozenset({404, 405, 501})
# Batches on a page of the list, and pages that are looked through: the newest come first.
_PAGE, _PAGES = 100, 20
# What a file may still be doing before a batch can be made of it.
_UNREADY = frozenset({"pending", "running", "queued"})
_LOOK, _LOOKS = 2.0, 300
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
        for _ in range(_LOOKS):
            if not isinstance(found, dict) or found.get("status") not in _UNREADY:
                return name
            await self._sleep(_LOOK)
            found = await self._patiently(lambda: self._json("GET", f"files/{name}"))
        raise self._error(f"has not read {name} yet: run the same command again later")

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
        """Return the batch of a file; None if there is none, for certain.

        Raises
        ------
        EndpointError
            If that cannot be known.
        """
        after = ""
        for _ in range(_PAGES):
            path = f"batches?limit={_PAGE}{after}"
            page = await self._patiently(partial(self._page, path))
            for one in page.batches:
                if one.file == file:
                    return one
            if not page.batches or not page.has_more:
                return None
            after = f"&after={page.batches[-1].id}"
        raise self._error(
            f"no batch of {file} is among the newest {_PAGE * _PAGES:,}, and there are more: look there, and "
            "if there is none, give another cache"
        )

    async def _page(self, path: str) -> Page:
        found = await self._json("GET", path, lacking=_UNLISTED)
        some = found.get("data") if isinstance(found, dict) else None
        if not isinstance(some, list):
            raise PassingError("not a list of batches")
        return Page([Batch.of(one) for one in some], bool(found.get("has_more")))

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
