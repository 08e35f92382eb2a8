"""Work spread over the processor cores of this machine."""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice
from typing import TypeVar

__all__ = ["KEPT_BYTES", "LARGE_BYTES", "THREADS", "over_processes"]

Task = TypeVar("Task")
Result = TypeVar("Result")

# Freed memory that a worker keeps for its next arrays, and the size from which an array gets
# memory of its own. With glibc's own values, and more so with the small one that Dask sets, pages
# of every array are given back and asked for anew: a fifth to two fifths of the processor time.
KEPT_BYTES = 64 << 20
LARGE_BYTES = 32 << 20
# The numbers of these two settings in glibc's malloc.h
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Each says how many threads a process uses: one, since processes share the cores already.
THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


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
        with _inherited():
            # each of the first tasks starts a process
            waiting.extend(pool.submit(function, task) for task in islice(tasks, workers))
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


@contextmanager
def _inherited() -> Iterator[None]:
    """Let processes that are started here have one thread each, and not be stopped by a key.

    Polars reads the number of threads when it is imported, which a process does before anything can
    be told to it: it has to find it in its environment. The key that stops a command reaches all
    its processes: the first one stops the others.
    """
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update({name: "1" for name in THREADS if before[name] is None})
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_main else None
    try:
        yield
    finally:
        if is_main:
            signal.signal(signal.SIGINT, handler)
        for name in THREADS:
            if before[name] is None:
                del os.environ[name]


def _start() -> None:
    """Prepare a worker process."""
    _keep_freed_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _keep_freed_memory() -> None:
    """Tell the C library so, where it is one that can be told."""
    if sys.platform == "linux":
        library = ctypes.CDLL(None)
        if hasattr(library, "mallopt"):
            library.mallopt(_TRIM_THRESHOLD, KEPT_BYTES)
            library.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)


def _end_with_parent() -> None:
    # Without this, workers of a killed run would wait for tasks for ever.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
