"""Asks in batches: sent as files, fetched when they are done, however often the run was stopped. Needs httpx."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from steelyard.judge.asking import Asked, completed
from steelyard.judge.batch import Batch
from steelyard.judge.batch_lines import Result, files_of, results
from steelyard.judge.batches import Batches, UnsentError
from steelyard.judge.cache import Cache
from steelyard.judge.endpoint import Endpoint, EndpointError, Sleep
from steelyard.judge.questions import Example, Inquiry
from steelyard.judge.result import Progress
from steelyard.judge.submissions import Submission, Submissions, place_key
from steelyard.judge.transport import PassingError, Transport

__all__ = ["ask_in_batches"]

# Seconds between two looks: soon at first, as small batches are done soon.
_FIRST_LOOK, _LONGEST_LOOK, _SLOWER = 5.0, 60.0, 1.5
# Looks in vain after which the run ends; the batch goes on.
_MISSES = 30
# Seconds until a batch that was asked for is on the list for certain.
_SETTLED = 30.0
_UNANSWERED = {
    "expired": "the batch expired before its turn",
    "cancelled": "the batch was cancelled",
    "canceled": "the batch was cancelled",
}


def ask_in_batches(
    inquiry: Inquiry,
    examples: Mapping[str, Example],
    *,
    endpoint: Endpoint,
    cache: Cache,
    progress: Progress | None,
    sleep: Sleep,
    rng: np.random.Generator,
    wait: bool = True,
) -> Asked:
    """Ask about examples in batches, and keep the replies.

    Parameters
    ----------
    inquiry, examples, endpoint, cache, progress, sleep, rng
        As for `steelyard.judge.asking.ask`.
    wait : bool
        Whether to wait for the replies; otherwise all is sent, and the next run fetches it.

    Raises
    ------
    EndpointError
        If every question would fail, or nothing is heard of a batch. What is sent stays known.
    """

    async def run() -> Asked:
        transport = Transport(endpoint, connections=4)
        try:
            batches = Batches(endpoint, transport, sleep=sleep, rng=rng)
            asker = _BatchAsker(inquiry, examples, batches, endpoint=endpoint, cache=cache)
            await asker.work(progress, sleep, wait=wait)
        finally:
            await transport.close()
        return asker.asked

    return completed(run)


class _BatchAsker:
    """Sends what nobody has sent, and fetches what is done, until nothing is left."""

    def __init__(
        self,
        inquiry: Inquiry,
        examples: Mapping[str, Example],
        batches: Batches,
        *,
        endpoint: Endpoint,
        cache: Cache,
    ) -> None:
        self.asked = Asked()
        self._inquiry = inquiry
        self._examples = examples
        self._batches = batches
        self._endpoint = endpoint
        self._cache = cache
        self._submissions = Submissions(cache)
        self._place = place_key(endpoint.address)
        self._left = dict.fromkeys(examples)
        self._tries: Counter[str] = Counter()
        self._most_tries = endpoint.max_retries
        self._misses = 0

    async def work(self, progress: Progress | None, sleep: Sleep, *, wait: bool) -> None:
        """Go on until every question has a reply or a reason, or is at least sent."""
        look = _FIRST_LOOK
        while self._left:
            self._take_kept()
            under_way = 0
            for submission in self._submissions.holding(self._left):
                under_way += await self._looked_at(submission, sleep)
            await self._send()
            if progress is not None:
                done = len(self._examples) - len(self._left) + under_way
                progress(min(done, len(self._examples)), len(self._examples), self.asked.usage)
            if not wait:
                return
            if self._left:
                await sleep(look)
                look = min(_LONGEST_LOOK, look * _SLOWER)

    def _take_kept(self) -> None:
        """Take replies that another run has fetched."""
        kept = self._cache.replies(list(self._left))
        self.asked.replies |= kept
        self.asked.count(from_cache=len(kept))
        self._drop(kept)

    async def _send(self) -> None:
        """Send what nobody has sent, a file at a time."""
        unsent = self._submissions.unsent(self._left)
        for lines in files_of(self._inquiry, self._examples, unsent):
            submission, keys = self._submissions.begin(list(lines), self._place)
            if not keys:
                continue
            try:
                file = await self._batches.upload(b"".join(lines[key] for key in keys))
            except EndpointError:
                self._submissions.end(submission)
                raise
            if not self._submissions.sending(submission, file):
                continue
            try:
                batch = await self._batches.create(file)
            except UnsentError:
                self._submissions.end(submission)
                raise
            self._submissions.sent(submission, batch.id)
            self._tell_of(batch.id)

    async def _looked_at(self, submission: Submission, sleep: Sleep) -> int:
        """Fetch a submission if it is done; return how many of its questions are done if not."""
        if submission.place != self._place:
            raise EndpointError(
                f"{self._endpoint.address}: questions are in a batch at another endpoint: give that one "
                "as `endpoint`, or another cache to ask, and pay, anew"
            )
        name = submission.batch or await self._found(submission, sleep)
        if name is None:
            return 0
        self._tell_of(name)
        try:
            batch = await self._batches.batch(name)
        except PassingError as error:
            self._miss(name, str(error))
            return 0
        if not batch.is_over:
            self._misses = 0
            return batch.done
        if batch.is_incomplete:
            self._miss(name, "it is over, but there are no files of it")
            return 0
        await self._fetch(submission, batch)
        return 0

    async def _found(self, submission: Submission, sleep: Sleep) -> str | None:
        """Learn whether there is a batch of a submission whose run ended while it asked for one."""
        if not self._submissions.is_left(submission):
            return None
        assert submission.tried is not None
        assert submission.file is not None
        rest = submission.tried + _SETTLED - time.time()
        if rest > 0:
            # never longer, whatever became of the clock
            await sleep(min(rest, _SETTLED))
        found = await self._batches.find(submission.file)
        if found is None:
            self._submissions.end(submission)
            return None
        self._submissions.sent(submission, found.id)
        return found.id

    def _miss(self, name: str, reason: str) -> None:
        self._misses += 1
        if self._misses == _MISSES:
            raise EndpointError(
                f"{self._endpoint.address}: nothing is heard of {name} ({reason}): run the same command "
                "again later"
            )

    async def _fetch(self, submission: Submission, batch: Batch) -> None:
        lines = [line for file in batch.results for line in await self._batches.lines(file)]
        found = results(lines, self._endpoint)
        keys = self._submissions.keys(submission)
        replies = {key: found[key].reply for key in keys if key in found}
        kept = {key: one for key, one in replies.items() if one and self._inquiry.is_kept(one)}
        self._submissions.end(submission, kept)
        self._misses = 0
        if batch.status == "failed" and not kept:
            raise EndpointError(
                f"{self._endpoint.address}: {batch.id} failed: {batch.message or 'no reason is given'}: "
                "mend that, or ask about fewer outputs at a time with --limit"
            )
        for key in keys:
            if key in self._left:
                self._settle(key, found.get(key), batch)
        final = next((one for one in found.values() if one.is_final), None)
        if final is not None:
            raise EndpointError(
                f"{self._endpoint.address}: {batch.id}: {final.reason}: correct `endpoint`, `model` or the "
                "key, or raise the quota"
            )

    def _settle(self, key: str, result: Result | None, batch: Batch) -> None:
        """Take what came of a question, or leave it to the next batch."""
        self.asked.count(requests=1)
        if result is not None and result.reply is not None:
            self.asked.replies[key] = result.reply
            self.asked.count_reply(result.reply)
        elif result is not None and result.may_pass and self._tries[key] < self._most_tries:
            self._tries[key] += 1
            return
        else:
            lacking = _UNANSWERED.get(batch.status, "no line in the files of the batch")
            self.asked.failures[key] = result.reason if result is not None else lacking
            self.asked.count(asked=1)
        self._drop([key])

    def _drop(self, keys: Iterable[str]) -> None:
        for key in keys:
            del self._left[key]

    def _tell_of(self, name: str) -> None:
        known = self.asked.usage.batches
        if name not in known:
            self.asked.usage = replace(self.asked.usage, batches=(*known, name))
