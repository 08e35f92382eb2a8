"""A process of its own that reads the whole campaign, so that raters do not wait for it meanwhile.

Imports nothing heavy: the process sets the number of threads before it loads what reads that.
"""

import asyncio
import logging
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, TypeVar

from steelyard.errors import SteelyardError

if TYPE_CHECKING:
    from steelyard.collect.config.campaign import Campaign
    from steelyard.collect.policy.rater_work import RaterWorkCache
    from steelyard.collect.store import Reader
    from steelyard.tables import Outputs

__all__ = ["Observer", "ObserverError", "View", "end_with_parent"]

T = TypeVar("T")

# Longer than the dashboard goes without a question while somebody looks.
_IDLE_SECONDS = 120.0
_NICENESS = 10
_THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class ObserverError(SteelyardError, ChildProcessError):
    """The process could not answer."""


@dataclass(frozen=True, eq=False)
class View:
    """What a question is answered from.

    Attributes
    ----------
    campaign : Campaign
        The campaign.
    store : Reader
        Its database.
    pool : Outputs
        What estimates speak about; read when it is first asked for.
    """

    campaign: "Campaign"
    store: "Reader"

    @cached_property
    def pool(self) -> "Outputs":
        """Read the pool, once."""
        from steelyard.collect.dashboard.knowledge import judged_systems, read_pool  # noqa: PLC0415

        return read_pool(self.campaign, systems=self.store.read(judged_systems))

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
        self._subject = campaign, store.address
        self._pool: ProcessPoolExecutor | None = None
        # The process ends when the other end of this is closed.
        self._lifeline: Connection | None = None
        self._asked = 0
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
            If the question raised it.
        ObserverError
            If anything else went wrong; the log says what.
        """
        if self._closed:
            raise ObserverError("the server is closing: no more questions are answered")
        self._asked += 1
        number = self._asked
        try:
            return await asyncio.wrap_future(self._started().submit(_answer, question))
        except SteelyardError:
            raise
        except Exception as error:
            # whatever went wrong there, those who look or wait here go on
            if isinstance(error, BrokenProcessPool | OSError):
                self._end()
            if not self._closed:
                logging.getLogger("steelyard.collect").warning(
                    "the process that computes the dashboard failed: %s; the next look tries again",
                    error,
                    exc_info=error,
                )
            raise ObserverError(
                "the process that computes the dashboard failed; look again in a moment"
            ) from error
        finally:
            loop = asyncio.get_running_loop()
            loop.call_later(_IDLE_SECONDS, self._rest, number)

    async def close(self) -> None:
        """End the process, also in the middle of its work."""
        self._closed = True
        pool = self._cut()
        if pool is not None:
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)

    def _rest(self, number: int) -> None:
        """End the process if nobody asked since."""
        if self._asked == number:
            self._end()

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Forking a process that has threads may lock up the child.
            context = multiprocessing.get_context("spawn")
            self._lifeline, its_end = context.Pipe()
            self._pool = ProcessPoolExecutor(
                1,
                mp_context=context,
                initializer=_begin,
                # As bytes: arguments are read before the function begins.
                initargs=(its_end, _NICENESS, pickle.dumps(self._subject)),
            )
        return self._pool

    def _end(self) -> None:
        pool = self._cut()
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def _cut(self) -> ProcessPoolExecutor | None:
        """Let the process end, if there is one, and forget it; return what ran it."""
        pool, lifeline = self._pool, self._lifeline
        self._pool = self._lifeline = None
        if lifeline is not None:
            lifeline.close()
        return pool


_view: View | None = None


def _begin(lifeline: Connection, niceness: int, subject: bytes) -> None:
    """Make this process one that answers questions."""
    global _view  # noqa: PLW0603 - what a process of its own is for
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    if hasattr(os, "nice"):
        os.nice(niceness)
    # Ctrl-C reaches all processes of a terminal; the server ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    campaign, address = pickle.loads(subject)  # noqa: S301 - our own
    from steelyard.collect.store import Reader  # noqa: PLC0415 - see above

    _view = View(campaign, Reader.open(address))


def _answer(question: Callable[[View], T]) -> T:
    assert _view is not None
    return question(_view)


def _end_with(lifeline: Connection) -> None:
    """End when the other end is closed, be it that the process there was killed."""
    try:
        lifeline.recv()
    except (EOFError, OSError):
        os._exit(1)


def end_with_parent(end: Callable[[], None]) -> None:
    """Call a function when the process that started this one is gone, be it killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        end()

    threading.Thread(target=wait, name="steelyard-orphan", daemon=True).start()
