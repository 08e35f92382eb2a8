import os
import signal
import sys

import pytest

from steelyard.scoring.processes import over_processes


def test_workers_share_the_cores(monkeypatch):
    names = ["POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"]
    for name in names:
        monkeypatch.delenv(name, raising=False)
    environment = dict(os.environ)
    assert list(over_processes(os.getenv, names, workers=2)) == ["1", "1", "1"]
    assert os.environ == environment


def test_polars_has_one_thread_in_a_worker(monkeypatch):
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    sizes = over_processes(eval, ["__import__('polars').thread_pool_size()"] * 4, workers=2)
    assert list(sizes) == [1] * 4


def test_what_the_user_says_of_threads_holds(monkeypatch):
    monkeypatch.setenv("POLARS_MAX_THREADS", "2")
    sizes = over_processes(eval, ["__import__('polars').thread_pool_size()"] * 2, workers=2)
    assert list(sizes) == [2, 2]


def test_one_worker_is_this_process():
    # a function that is in no module cannot travel to another process
    done = over_processes(lambda number: (number, os.getpid()), [1, 2], workers=1)
    assert list(done) == [(1, os.getpid()), (2, os.getpid())]


@pytest.mark.skipif(sys.platform != "linux", reason="about glibc")
def test_memory_that_is_freed_is_kept():
    # from glibc's manual: mallopt returns 1 on success
    import ctypes

    from steelyard.scoring import processes

    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        pytest.skip("another C library")
    settings = ((processes._TRIM_THRESHOLD, processes.KEPT_BYTES),)
    settings += ((processes._MMAP_THRESHOLD, processes.LARGE_BYTES),)
    assert [library.mallopt(*one) for one in settings] == [1, 1]


def test_the_key_that_stops_a_command_reaches_no_worker():
    disposition = "__import__('signal').getsignal(2) is __import__('signal').SIG_IGN"
    before = signal.getsignal(signal.SIGINT)
    assert list(over_processes(eval, [disposition] * 2, workers=2)) == [True, True]
    assert signal.getsignal(signal.SIGINT) is before
