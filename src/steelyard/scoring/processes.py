"""Work spread over the processor cores of this machine."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import TypeVar

__all__ = ["over_processes"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def over_processes(
    function: Callable[[Task], Result], tasks: Iterable[Task], *, workers: int
) -> Generator[Result, None, None]:
    """Yield the result of each task, in the order of the tasks.

    Parameters
    ----------
    function : callable
        What to do with a task; it must be importable, since each process imports it anew.
    tasks : iterable
        The tasks; they are taken only as fast as they are done.
    workers : int
        Number of processes. The work of one, or on a single task, is done in this process.

    Raises
    ------
    ChildProcessError
        If a process is killed.
    """
    tasks = iter(tasks)
    head = list(islice(tasks, 2))
    tasks = chain(head, tasks)
    if workers == 1 or len(head) < 2:
        yield from map(function, tasks)
        return
    # Forking a process that has threads, and polars starts some, may lock up the child.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start)
    waiting: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(function, task))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise ChildProcessError(
            "a worker process was killed, perhaps for want of memory: the same command, with "
            "fewer --workers, goes on from where it stopped"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _start() -> None:
    """Prepare a worker process."""
    # Processes share the cores already; polars reads this when it is first used.
    os.environ["POLARS_MAX_THREADS"] = "1"
    # The key that stops a command reaches all its processes: the first one stops the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # Without this, workers of a killed run would wait for tasks for ever.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
