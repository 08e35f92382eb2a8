"""A process of its own that reads the whole campaign, so that raters do not wait for it meanwhile.

Imports nothing heavy: the process sets the number of threads before it loads what reads that.
"""

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, TypeVar

from steelyard.errors import SteelyardError

if TYPE_CHECKING:
    from steelyard.collect.config.campaign import Campaign
    from steelyard.collect.dashboard.pool import LivePool
    from steelyard.collect.policy.rater_work import RaterWorkCache
    from steelyard.collect.store import Reader

__all__ = ["Observer", "ObserverError", "View", "end_with_parent"]

T = TypeVar("T")

# Longer than the dashboard goes without a question while somebody looks.
_IDLE_SECONDS = 120.0
# How long a process that closed its end may take to end by itself.
_GRACE_SECONDS = 5.0
_NICENESS = 10
_THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class ObserverError(SteelyardError, ChildProcessError):
    """The process ended before it answered."""


@dataclass(frozen=True, eq=False)
class View:
    """What a question is answered from.

    Attributes
    ----------
    campaign : Campaign
        The campaign.
    store : Reader
        Its database.
    pool : LivePool
        What was drawn from; read when it is first asked for.
    """

    campaign: "Campaign"
    store: "Reader"

    @cached_property
    def pool(self) -> "LivePool":
        """Read the pool, once."""
        from steelyard.collect.dashboard.pool import read_pool  # noqa: PLC0415 - see above

        return read_pool(self.campaign)

    @cached_property
    def work(self) -> "RaterWorkCache":
        """What knows how raters work."""
        from steelyard.collect.policy.rater_work import RaterWorkCache  # noqa: PLC0415 - see above

        return RaterWorkCache(self.campaign)


class Observer:
    """Answers questions about a campaign, one after the other, in a process of its own.

    The process starts with the first question and ends when there was none for two minutes, when
    `close` is called, and when this process is gone, however that came about. It uses one core, at
    a lower priority. When it is killed the next question starts another.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    store : Reader
        Its database; the process opens it anew, and only to read.
    """

    def __init__(self, campaign: "Campaign", store: "Reader") -> None:
        self._campaign = campaign
        self._address = store.address
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        # The one thread that starts the process, talks to it and waits for its end.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="steelyard-observer")
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    async def ask(self, question: Callable[[View], T]) -> T:
        """Return the answer to a question.

        Parameters
        ----------
        question : function of a View
            Can be pickled, as can what it returns: a function of a module, or a `partial` of one.

        Raises
        ------
        SteelyardError
            If the question raised it. Any other error ends the process, which says why in the log.
        ObserverError
            If the process ended, or could not be started.
        """
        self._refuse_when_closed()
        loop = asyncio.get_running_loop()
        self._cancel_timer()
        try:
            return await loop.run_in_executor(self._thread, self._exchange, question)
        finally:
            self._cancel_timer()
            if not self._closed:
                self._idle = loop.call_later(_IDLE_SECONDS, self._rest)

    async def close(self) -> None:
        """End the process, also in the middle of its work."""
        if self._closed:
            return
        self._closed = True
        self._cancel_timer()
        process = self._process
        if process is not None:
            process.kill()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._end)
        self._thread.shutdown()

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise ObserverError("the server is closing: no more questions are answered")

    def _rest(self) -> None:
        if not self._closed:
            self._thread.submit(self._end)

    def _cancel_timer(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _exchange(self, question: Callable[[View], T]) -> T:
        self._refuse_when_closed()
        try:
            connection = self._started()
            connection.send(question)
            answer, error = connection.recv()
        except (EOFError, OSError) as broken:
            raise self._broken(broken) from broken
        if error is not None:
            raise error
        answered: T = answer
        return answered

    def _started(self) -> Connection:
        if self._process is not None and not self._process.is_alive():
            self._report(self._end())
        if self._connection is None:
            # Forking a process that has threads may lock up the child.
            context = multiprocessing.get_context("spawn")
            self._connection, its_end = context.Pipe()
            with its_end:
                process = context.Process(
                    target=_observe,
                    args=(its_end, _NICENESS),
                    name="steelyard-observer",
                    daemon=True,
                )
                process.start()
            self._process = process
            if self._closed:
                process.kill()
            # Not among the arguments, which are read before the function begins.
            self._connection.send((self._campaign, self._address))
        return self._connection

    def _broken(self, cause: Exception) -> ObserverError:
        self._report(self._end(), cause)
        return ObserverError(
            "the process that computes the dashboard failed; look again in a moment"
        )

    def _report(self, code: int | None, cause: Exception | None = None) -> None:
        # Who tells it to end tells the server too.
        if not self._closed and code != -signal.SIGTERM:
            logging.getLogger("steelyard.collect").warning(
                "the process that computes the dashboard %s; the next look starts another",
                f"could not be started: {cause}" if code is None else f"ended with code {code}",
            )

    def _end(self) -> int | None:
        """End the process, if there is one; return the code that it ended with by itself."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if connection is not None:
            connection.close()
        if process is None:
            return None
        process.join(_GRACE_SECONDS)
        process.kill()
        process.join()
        return process.exitcode


def end_with_parent(end: Callable[[], None]) -> None:
    """Call a function when the process that started this one is gone, be it killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        end()

    threading.Thread(target=wait, name="steelyard-orphan", daemon=True).start()


def _observe(connection: Connection, niceness: int) -> None:
    """Be the process: answer questions until nobody can ask any more."""
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    if hasattr(os, "nice"):
        os.nice(niceness)
    # Ctrl-C reaches all processes of a terminal; the server ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(lambda: os._exit(1))
    campaign, address = connection.recv()
    from steelyard.collect.store import Reader  # noqa: PLC0415 - see above

    with Reader.open(address) as store:
        view = View(campaign, store)
        while True:
            try:
                question = connection.recv()
            except EOFError:
                return
            connection.send(_answered(question, view))


def _answered(
    question: Callable[[View], Any], view: View
) -> tuple[Any, None] | tuple[None, SteelyardError]:
    try:
        return question(view), None
    except SteelyardError as error:
        return None, error
