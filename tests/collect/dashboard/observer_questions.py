"""What the tests ask an observer: its process imports it from here."""

import os
import signal

import polars as pl

from steelyard.collect.store import StoreError


def circumstances(view):
    del view
    names = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return os.getpid(), os.nice(0), [os.environ[name] for name in names], pl.thread_pool_size()


def process_id(view):
    del view
    return os.getpid()


def refusal(view):
    del view
    raise StoreError("away for a moment")


def mistake(view):
    del view
    raise KeyError("not expected")


def attempt_to_write(view):
    view.store.read(lambda connection: connection.exec_driver_sql("DELETE FROM settings"))


def endless(view):
    (view.campaign.outputs.parent / "begun").touch()
    signal.pause()
