"""Asks in batches: sent as files, fetched when they are done, however often the run was stopped."""

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from steelyard.judge.asking import Asked, completed
from steelyard.judge.batch_mode import QUESTION_PATH, Batch, BatchMode, UnsentError
from steelyard.judge.cache import Cache, Submission
from steelyard.judge.client import Client
from steelyard.judge.endpoint import Endpoint
from steelyard.judge.failures import EndpointError, Failure, Kind, failure_in, shortened
from steelyard.judge.judged import Progress
from steelyard.judge.pace import Pace
from steelyard.judge.questions import Questions
from steelyard.judge.reply import Reply

__all__ = ["ask_in_batches"]

# Of one file: OpenAI takes 50,000 questions and 200 MB, others half of that or less.
_MOST_LINES = 10_000
_MOST_BYTES = 50_000_000
# Seconds between two looks: soon at first, as small batches are done soon.
_FIRST_LOOK, _LONGEST_LOOK, _SLOWER = 5.0, 60.0, 1.5
# Looks in vain after which the run ends; the batch goes on.
_MISSES = 30
# How often a question goes into another batch after a failure that may pass.
_MOST_TRIES = 5
# Seconds until a batch that was asked for is on the list for certain.
_SETTLED = 30.0
_CONNECTIONS = 4


def ask_in_batches(
    questions: Questions,
    keys: list[str],
    *,
    endpoint: Endpoint,
    cache: Cache,
    progress: Progress,
    wait: bool = True,
) -> Asked:
    """Ask in batches, and keep the replies; without `wait` all is sent, and the next run fetches it.

    Raises
    ------
    EndpointError
        If every question would fail, or nothing is heard of a batch. What is sent stays known.
    """

    async def run() -> Asked:
        async with Client(
            endpoint,
            timeout=questions.rubric.timeout,
            pace=Pace(most=_CONNECTIONS),
            connections=_CONNECTIONS,
        ) as client:
            asker = _BatchAsker(questions, keys, BatchMode(client), cache=cache)
            await asker.work(progress, wait=wait)
        return asker.asked

    return completed(run)


class _BatchAsker:
    """Sends what nobody has sent, and fetches what is done, until nothing is left."""

    def __init__(
        self, questions: Questions, keys: list[str], batches: BatchMode, *, cache: Cache
    ) -> None:
        self.asked = Asked()
        self._questions = questions
        self._batches = batches
        self._cache = cache
        # the cache does not hold addresses
        self._place = hashlib.sha256(batches.endpoint.base.encode()).hexdigest()[:16]
        self._left = dict.fromkeys(keys)
        self._tries: Counter[str] = Counter()
        self._misses = 0

    async def work(self, progress: Progress, *, wait: bool) -> None:
        """Go on until every question has a reply or a reason, or is at least sent."""
        look, count = _FIRST_LOOK, len(self._left)
        while self._left:
            under_way = 0
            for submission, keys in self._cache.submissions(self._left).items():
                under_way += await self._looked_at(submission, keys)
            await self._send()
            progress(min(count - len(self._left) + under_way, count), count, self.asked.usage)
            if not wait:
                self.asked.failures |= dict.fromkeys(self._left, "in a batch that is not done yet")
                return
            if self._left:
                await asyncio.sleep(look)
                look = min(_LONGEST_LOOK, look * _SLOWER)

    async def _send(self) -> None:
        """Send what is in no batch, a file at a time."""
        held = {key for some in self._cache.submissions(self._left).values() for key in some}
        for lines in _files(self._questions, [key for key in self._left if key not in held]):
            self._cache.check_room()
            file = await self._batches.upload(b"".join(lines.values()))
            submission = self._cache.begin(lines, self._place, file)
            try:
                batch = await self._batches.create(file)
            except UnsentError:
                self._cache.keep({}, submission)
                raise
            self._cache.sent(submission, batch.id)
            self._name(batch.id)

    async def _looked_at(self, submission: Submission, keys: list[str]) -> int:
        """Fetch a submission if it is done; return how many of its questions are done if not."""
        if submission.place != self._place:
            raise self._error(
                "questions are in a batch at another endpoint: give that one as `endpoint`, or another "
                "cache to ask, and pay, anew"
            )
        name = submission.batch or await self._sought(submission)
        if name is None:
            return 0
        self._name(name)
        try:
            batch = await self._batches.batch(name)
        except Failure as failure:
            self._miss(name, str(failure))
            return 0
        if not batch.is_over:
            self._misses = 0
            return batch.n_done
        if batch.is_incomplete:
            self._miss(name, "it is over, but there are no files of it")
            return 0
        await self._fetch(submission, keys, batch)
        return 0

    async def _sought(self, submission: Submission) -> str | None:
        """Learn whether there is a batch of a submission whose run ended while it asked for one."""
        # never longer, whatever became of the clock
        await asyncio.sleep(min(max(0.0, submission.tried + _SETTLED - time.time()), _SETTLED))
        batch = await self._batches.find(submission.file)
        if batch is None:
            self._cache.keep({}, submission)
            return None
        self._cache.sent(submission, batch.id)
        return batch.id

    def _miss(self, name: str, reason: str) -> None:
        self._misses += 1
        if self._misses == _MISSES:
            raise self._error(
                f"nothing is heard of {name} ({reason}): run the same command again later"
            )

    async def _fetch(self, submission: Submission, keys: list[str], batch: Batch) -> None:
        lines = [line for file in batch.files for line in await self._batches.lines(file)]
        results = _results(lines, self._batches.endpoint)
        mine = [(key, results[key]) for key in keys if key in results]
        replies = {key: one for key, one in mine if isinstance(one, Reply)}
        self._cache.keep(self._questions.answered(replies), submission)
        self._misses = 0
        if batch.status.lower() == "failed" and not replies:
            raise self._error(
                f"{batch.id} failed: {batch.message or 'no reason is given'}: mend that, or ask about "
                "fewer outputs at a time with --limit"
            )
        for key in keys:
            if key in self._left:
                self._settle(key, results.get(key, batch.without_line))
        for result in results.values():
            if isinstance(result, Failure) and result.kind is Kind.ALL:
                raise self._error(f"{batch.id}: {result}")

    def _settle(self, key: str, result: Reply | Failure) -> None:
        """Take what came of a question, or leave it to the next batch."""
        self.asked.usage.requests += 1
        if isinstance(result, Reply):
            self.asked.replies[key] = result
            self.asked.usage.count(result)
        elif result.may_pass and self._tries[key] < _MOST_TRIES:
            self._tries[key] += 1
            return
        else:
            self.asked.failures[key] = str(result)
        self.asked.usage.asked += 1
        del self._left[key]

    def _name(self, batch: str) -> None:
        if batch not in self.asked.usage.batches:
            self.asked.usage.batches.append(batch)

    def _error(self, message: str) -> EndpointError:
        return EndpointError(f"{self._batches.endpoint.base}/batches: {message}")


def _files(questions: Questions, keys: Iterable[str]) -> Iterator[dict[str, bytes]]:
    """Yield lines by key, as many at a time as one file may have."""
    lines: dict[str, bytes] = {}
    size = 0
    for key in keys:
        body = questions.bodies[key]
        asked = {"custom_id": key, "method": "POST", "url": QUESTION_PATH, "body": body}
        line = json.dumps(asked, allow_nan=False).encode("ascii") + b"\n"
        if lines and (len(lines) == _MOST_LINES or size + len(line) > _MOST_BYTES):
            yield lines
            lines, size = {}, 0
        lines[key] = line
        size += len(line)
    if lines:
        yield lines


def _results(lines: Iterable[Any], endpoint: Endpoint) -> dict[str, Reply | Failure]:
    """Return what came of each question, by key; of several lines, the first with a reply."""
    results: dict[str, Reply | Failure] = {}
    for line in lines:
        key = line.get("custom_id") if isinstance(line, dict) else None
        if isinstance(key, str) and not isinstance(results.get(key), Reply):
            result = _result(line, endpoint)
            if key not in results or isinstance(result, Reply):
                results[key] = result
    return results


def _result(line: Mapping[str, Any], endpoint: Endpoint) -> Reply | Failure:
    """Read a line of a file of replies or of errors."""
    response, error = line.get("response"), line.get("error")
    if not isinstance(response, dict):
        named = error if isinstance(error, dict) else {}
        said = [str(named[name]) for name in ("code", "message") if named.get(name)]
        return Failure(shortened(": ".join(said)) or "no response")
    status, body = response.get("status_code"), response.get("body")
    if not isinstance(status, int):
        status = 200
    failure = failure_in(status, body, {}, key=endpoint.key_words)
    if failure is not None:
        return failure
    try:
        return Reply.of(body)
    except Failure as malformed:
        return malformed
