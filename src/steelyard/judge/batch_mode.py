"""Batches of an OpenAI-compatible endpoint: a file of questions in, a file of replies out."""

import asyncio
import json
from contextlib import suppress
from typing import Any, Self

from pydantic import BaseModel, ValidationError

from steelyard.judge.client import Client, patiently
from steelyard.judge.endpoint import Endpoint
from steelyard.judge.failures import EndpointError, Failure, Kind, shortened

__all__ = ["QUESTION_PATH", "Batch", "BatchMode", "UnsentError"]

# What stands in the lines of a file, whatever the address is.
QUESTION_PATH = "/v1/chat/completions"
_WINDOW = "24h"
_OVER = frozenset({"completed", "succeeded", "expired", "cancelled", "canceled", "failed"})
# Seconds for a file on its way, and bytes of one.
_TRANSFER = 600.0
_LARGEST_FILE = 1_000_000_000
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
    "there is no batch {}: give the key and endpoint that it was made with, or another cache to ask, "
    "and pay, anew"
)


class UnsentError(EndpointError):
    """The endpoint took nothing, for certain."""


class _Counts(BaseModel):
    completed: int = 0
    failed: int = 0


class Batch(BaseModel):
    """How a batch is doing, as OpenAI documents it; more keys may be there."""

    id: str
    status: str
    input_file_id: str = ""
    output_file_id: str | None = None
    error_file_id: str | None = None
    request_counts: _Counts | None = None
    errors: Any = None

    @classmethod
    def of(cls, body: Any) -> Self:
        """Read what the endpoint says; a `Failure` if it is no batch."""
        try:
            return cls.model_validate(body)
        except ValidationError as error:
            raise Failure("not a batch", Kind.PASSING) from error

    @property
    def files(self) -> list[str]:
        """The files with replies and with errors, as far as there are any."""
        return [file for file in (self.output_file_id, self.error_file_id) if file]

    @property
    def n_done(self) -> int:
        """Questions that are answered or failed."""
        counts = self.request_counts or _Counts()
        return counts.completed + counts.failed

    @property
    def message(self) -> str:
        """Why it failed; empty if nothing is said."""
        some = self.errors.get("data") if isinstance(self.errors, dict) else self.errors
        first = some[0] if isinstance(some, list) and some else None
        message = first.get("message") if isinstance(first, dict) else first
        return shortened(message) if isinstance(message, str) else ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status.lower() in _OVER

    @property
    def is_incomplete(self) -> bool:
        """Whether it says that it is completed, and yet there are no files."""
        return self.status.lower() in {"completed", "succeeded"} and not self.files

    @property
    def without_line(self) -> Failure:
        """Why a question has no line in its files."""
        if self.status.lower() == "expired":
            return Failure("the batch expired before its turn")
        if self.status.lower() in {"cancelled", "canceled"}:
            return Failure("the batch was cancelled")
        return Failure("no line in the files of the batch")


class BatchMode:
    """The part of an endpoint that works on files."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def endpoint(self) -> Endpoint:
        """Where it is."""
        return self._client.endpoint

    async def upload(self, lines: bytes) -> str:
        """Send a file of questions, wait until the endpoint has read it, and return its name."""
        form: dict[str, Any] = {
            "data": {"purpose": "batch"},
            "files": {"file": ("questions.jsonl", lines, "application/jsonl")},
        }
        body = await self._json("POST", "files", **form)
        name = body.get("id") if isinstance(body, dict) else None
        if not isinstance(name, str):
            raise self._error("sent no name for the file of questions")
        for _ in range(_LOOKS):
            if not isinstance(body, dict) or body.get("status") not in _UNREADY:
                return name
            await asyncio.sleep(_LOOK)
            body = await self._json("GET", f"files/{name}")
        raise self._error(f"has not read {name} yet: run the same command again later")

    async def create(self, file: str) -> Batch:
        """Have a file worked on, once: after a doubt, a batch of it is looked for first.

        Raises
        ------
        UnsentError
            If there is no batch, for certain.
        EndpointError
            If there may be one.
        """
        sent = {"input_file_id": file, "endpoint": QUESTION_PATH, "completion_window": _WINDOW}
        is_doubtful = False

        async def once() -> Batch:
            nonlocal is_doubtful
            known = await self.find(file) if is_doubtful else None
            if known is not None:
                return known
            try:
                return Batch.of(
                    await self._once("POST", "batches", content=json.dumps(sent).encode())
                )
            except Failure as failure:
                is_doubtful |= failure.kind is Kind.PASSING
                raise

        try:
            return await patiently(once)
        except Failure as failure:
            error = self._error_of(failure)
            raise error if is_doubtful else UnsentError(str(error)) from failure

    async def find(self, file: str) -> Batch | None:
        """Return the batch of a file; None if there is none, for certain.

        Raises
        ------
        EndpointError
            If that cannot be known.
        """
        after = ""
        for _ in range(_PAGES):
            body = await self._json("GET", f"batches?limit={_PAGE}{after}", lacking=_UNLISTED)
            some = body.get("data") if isinstance(body, dict) else None
            if not isinstance(some, list):
                raise self._error("sent no list of batches: run the same command again")
            try:
                batches = [Batch.of(one) for one in some]
            except Failure as failure:
                raise self._error(
                    "sent no list of batches: run the same command again"
                ) from failure
            for one in batches:
                if one.input_file_id == file:
                    return one
            if not batches or not body.get("has_more"):
                return None
            after = f"&after={batches[-1].id}"
        raise self._error(
            f"no batch of {file} is among the newest {_PAGE * _PAGES:,}, and there are more: look there, and "
            "if there is none, give another cache"
        )

    async def batch(self, name: str) -> Batch:
        """Return how a batch is doing; a `Failure` if that cannot be learned now."""
        try:
            return Batch.of(await self._once("GET", f"batches/{name}"))
        except Failure as failure:
            if failure.may_pass:
                raise
            raise self._error_of(failure, _UNKNOWN.format(name)) from failure

    async def lines(self, file: str) -> list[Any]:
        """Return the lines of a file, parsed; those that cannot be are left out."""
        path, lines = f"files/{file}/content", list[Any]()
        for _ in range(_FETCHES):
            try:
                text = await patiently(lambda: self._sent("GET", path))
            except Failure as failure:
                raise self._error_of(failure, f"there is no file {file} any more") from failure
            lines, is_whole = _parsed(text)
            if is_whole:
                break
        return lines

    async def _json(self, method: str, path: str, lacking: str = _NO_BATCHES, **sent: Any) -> Any:
        """Send a request until it works; `lacking` says what it means if there is no such thing."""
        try:
            return await patiently(lambda: self._once(method, path, **sent))
        except Failure as failure:
            raise self._error_of(failure, lacking) from failure

    async def _once(self, method: str, path: str, **sent: Any) -> Any:
        try:
            return json.loads(await self._sent(method, path, **sent))
        except (ValueError, RecursionError) as error:
            raise Failure("malformed JSON", Kind.PASSING) from error

    async def _sent(self, method: str, path: str, **sent: Any) -> str:
        timeout = _TRANSFER if path.startswith("files") else None
        address = self.endpoint.address(path)
        _, text = await self._client.text(
            method, address, largest=_LARGEST_FILE, timeout=timeout, **sent
        )
        return text

    def _error_of(self, failure: Failure, lacking: str = _NO_BATCHES) -> EndpointError:
        if failure.status in {404, 405, 501}:
            return self._error(f"HTTP {failure.status}: {lacking}")
        again = ": run the same command again" if failure.may_pass else ""
        return self._error(f"{failure}{again}")

    def _error(self, message: str) -> EndpointError:
        return EndpointError(f"{self.endpoint.base}/batches: {message}")


def _parsed(text: str) -> tuple[list[Any], bool]:
    lines = [line for line in text.split("\n") if line.strip()]
    parsed = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            parsed.append(json.loads(line))
    return parsed, len(parsed) == len(lines)
