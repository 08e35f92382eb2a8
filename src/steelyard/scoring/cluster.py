"""Work spread over a Dask cluster."""

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from steelyard.errors import InvalidArgumentError, MissingDependencyError
from steelyard.scoring.processes import KEPT_BYTES, LARGE_BYTES, THREADS

__all__ = ["over_cluster"]

Task = TypeVar("Task")
Result = TypeVar("Result")

# Times a task is tried again after a failure of the machine: a file system that is away, say.
_RETRIES = 3
# Seconds between two looks at how many workers there are
_SECONDS = 1.0
_LOGGERS = ("distributed.client", "distributed.core", "distributed.comm", "distributed.batched")
# Nobody looks at profiles of worker processes on this machine.
_ENVIRONMENT = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
_BEFORE_START = {
    **dict.fromkeys(THREADS, 1),
    "MALLOC_TRIM_THRESHOLD_": KEPT_BYTES,
    "MALLOC_MMAP_THRESHOLD_": LARGE_BYTES,
}


def over_cluster(
    function: Callable[[Task], Result], tasks: Iterable[Task], *, address: str, workers: int
) -> Generator[Result, None, None]:
    """Yield the result of each task, in the order of the tasks.

    A task whose worker is lost is given to another.

    Parameters
    ----------
    function : callable
        What to do with a task; it must be importable on every worker.
    tasks : iterable
        The tasks; a few for each worker are under way at a time.
    address : str
        Of a scheduler, ``tcp://host:8786``; or ``local`` to start a cluster on this machine.
    workers : int
        Number of processes of a cluster on this machine.

    Raises
    ------
    MissingDependencyError
        If Dask is not installed.
    InvalidArgumentError
        If there is no scheduler at the address.
    ChildProcessError
        If a task has brought down several workers, or the scheduler goes away.
    """
    distributed = _distributed()
    with ExitStack() as stack:
        stack.enter_context(_silent())
        client = stack.enter_context(_client(distributed, stack, address, workers))
        waiting: deque[Any] = deque()
        window = _Window(client)
        try:
            for task in tasks:
                # a retried or doubled task makes the same part, so results need not be kept
                waiting.append(client.submit(function, task, retries=_RETRIES, pure=False))
                if len(waiting) > window.size():
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except distributed.KilledWorker as error:
            raise ChildProcessError(
                "a batch has brought down several workers, perhaps for want of memory: the same "
                "command goes on from where it stopped"
            ) from error
        except (distributed.comm.CommClosedError, CancelledError) as error:
            raise ChildProcessError(
                f"the scheduler at {address} went away: the same command, with the address of "
                "another, goes on from where it stopped"
            ) from error
        finally:
            if client.status == "running":
                client.cancel(list(waiting))


@contextmanager
def _silent() -> Iterator[None]:
    """Leave it to our errors to say that the scheduler went away: Dask would print tracebacks."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _distributed() -> Any:
    try:
        import distributed  # noqa: PLC0415  optional
    except ImportError as error:
        raise MissingDependencyError(
            "`--cluster` needs Dask: pip install 'steelyard[cluster]'"
        ) from error
    return distributed


def _client(distributed: Any, stack: ExitStack, address: str, workers: int) -> Any:
    if address == "local":
        from dask import config  # noqa: PLC0415  optional

        # what the C library must know before a worker starts
        with config.set({"distributed.nanny.pre-spawn-environ": _BEFORE_START}):
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                # for this machine alone, and beside that of another run
                dashboard_address="127.0.0.1:0",
                env=_ENVIRONMENT,
                silence_logs=logging.ERROR,
            )
        return distributed.Client(stack.enter_context(cluster))
    try:
        return distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(
            f"`--cluster` must be `local` or the address of a running Dask scheduler, such as "
            f"tcp://host:8786; got {address!r}, where none answers"
        ) from error


class _Window:
    """Tasks under way at a time: two for each thread, and some for workers yet to come."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._size = 0
        self._asked = -math.inf

    def size(self) -> int:
        # each answer is a journey to the scheduler, which has other things to do
        if time.monotonic() - self._asked > _SECONDS:
            self._size = 8 + 2 * int(sum(self._client.nthreads().values()))
            self._asked = time.monotonic()
        return self._size
