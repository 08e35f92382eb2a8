"""The one thread of a process that writes: those who wait together are committed together."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, RootTransaction, text
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from steelyard.collect.store.refusals import StoreError

__all__ = ["Operation", "Writer", "first_line"]

T = TypeVar("T")
Operation = Callable[[Connection], T]

# Enough that a commit to disk is shared by many, few enough that the first does not wait long.
_BATCH = 128
# A commit to disk costs as much as many operations. While several arrive together, those of this
# time share one; who writes alone is not kept waiting.
_SHARED_SECONDS = 0.02
# Tries of an operation that runs alone and still finds rows locked, or a deadlock.
_TRIES = 5
# PostgreSQL: lock not available, serialisation failure, deadlock, and a row that another process has
# just inserted, which the operation will find when it runs again.
_CONTENTION = frozenset({"55P03", "40001", "40P01", "23505"})


@dataclass(frozen=True, eq=False)
class _Job:
    operation: Operation[Any]
    future: Future[Any] = field(default_factory=Future)


class Writer:
    """Runs operations one after the other and commits those that wait together, once.

    An operation that raises is rolled back alone, and its future carries what it raised. Every other
    future resolves after the commit that made its work durable, never before.

    Notes
    -----
    A batch first runs without savepoints, which cost as much as the operations themselves. If one
    raises, the transaction is rolled back and the batch runs again, each operation in a savepoint.

    Several processes may write to one PostgreSQL. A batch holds the row locks of all its operations
    until it commits, so two batches could wait for each other. No operation of a batch waits
    longer than `lock_timeout` for a lock (set on the writer's connection): it is rolled back to its
    savepoint, which frees its locks, and runs alone after the batch. Alone it waits longer, but
    holds little that others could wait for.

    An operation may therefore run more than once, but is committed at most once: it must change
    nothing but the database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._connection: Connection | None = None
        # why the database could not store the last batch; None if it could
        self.failure: str | None = None
        self._thread = threading.Thread(target=self._run, name="steelyard-writer", daemon=True)
        self._thread.start()

    def submit(self, operation: Operation[T]) -> Future[T]:
        """Queue an operation; the future resolves when its work is durable.

        Raises
        ------
        StoreError
            If the writer was closed.
        """
        job = _Job(operation)
        with self._lock:
            if self._closed:
                raise StoreError("the store is closed: nothing more can be written")
            self._queue.put(job)
        return job.future

    def close(self) -> None:
        """Finish all that was queued, then stop."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        closing = False
        jobs: list[_Job] = []
        begun = 0.0
        while not closing:
            first = self._queue.get()
            if len(jobs) > 1:
                time.sleep(max(0.0, begun + _SHARED_SECONDS - time.monotonic()))
            begun = time.monotonic()
            jobs, closing = self._gather(first)
            # From here on a future cannot be cancelled; one that was is left out.
            live = [job for job in jobs if job.future.set_running_or_notify_cancel()]
            if live:
                self._carry_out(live)
        self._disconnect()

    def _gather(self, job: _Job | None) -> tuple[list[_Job], bool]:
        """Take all that wait with a job; also whether it was the last."""
        jobs: list[_Job] = []
        while job is not None:
            jobs.append(job)
            if len(jobs) == _BATCH:
                return jobs, False
            try:
                job = self._queue.get_nowait()
            except Empty:
                return jobs, False
        return jobs, True

    def _carry_out(self, jobs: list[_Job]) -> None:
        for job in self._committed(jobs, patient=False):
            contended = [job]
            for _ in range(_TRIES):
                contended = self._committed(contended, patient=True)
                if not contended:
                    break
            else:
                job.future.set_exception(
                    StoreError("the database is too busy: nothing was stored, try again")
                )

    def _committed(self, jobs: list[_Job], *, patient: bool) -> list[_Job]:
        """Run jobs in one transaction, commit, resolve; return those that found locked rows."""
        for is_last in (False, True):
            batch = _Batch(jobs)
            try:
                batch.run(self._connected(), patient=patient)
            except Exception as error:  # noqa: BLE001 - a dead writer would leave all waiting for ever
                self._disconnect()
                # A connection that was lost while nobody used it is found out here. Before the
                # commit nothing is stored, so the same work can be done on a new connection.
                if is_last or batch.committing or not _is_lost(error):
                    self.failure = first_line(error)
                    batch.fail(error)
                    return []
            else:
                break
        self.failure = batch.failure
        return batch.resolve()

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect()
        return self._connection

    def _disconnect(self) -> None:
        """Drop the connection, whatever state it is in; the next batch makes a new one."""
        if self._connection is None:
            return
        connection, self._connection = self._connection, None
        try:
            connection.invalidate()
            connection.close()
        except SQLAlchemyError:
            # It was broken already, which is why it is dropped.
            self._engine.dispose()


class _Batch:
    """Jobs that share a transaction, and what became of each."""

    def __init__(self, jobs: list[_Job]) -> None:
        self.jobs = jobs
        self.committing = False
        self.results: list[tuple[_Job, Any]] = []
        self.errors: list[tuple[_Job, Exception]] = []
        self.contended: list[_Job] = []

    def run(self, connection: Connection, *, patient: bool) -> None:
        """Run all jobs and commit; raises only if the transaction as a whole fails."""
        if not self._run_straight(connection, patient=patient):
            self.results.clear()
            with _transaction(connection, patient=patient) as transaction:
                for job in self.jobs:
                    self._run_apart(job, connection)
                self.committing = True
                transaction.commit()

    def _run_straight(self, connection: Connection, *, patient: bool) -> bool:
        """Run all jobs and commit, without savepoints; roll back if one of them raises."""
        with _transaction(connection, patient=patient) as transaction:
            try:
                for job in self.jobs:
                    self.results.append((job, job.operation(connection)))
            except Exception as error:
                if _is_lost(error):
                    raise
                transaction.rollback()
                return False
            self.committing = True
            transaction.commit()
        return True

    def _run_apart(self, job: _Job, connection: Connection) -> None:
        savepoint = connection.begin_nested()
        try:
            result = job.operation(connection)
            savepoint.commit()
        except DBAPIError as error:
            try:
                savepoint.rollback()
            except SQLAlchemyError:
                # The whole transaction is gone (disk full, connection lost), and this is why.
                raise error from None
            if _state(error) in _CONTENTION:
                self.contended.append(job)
            else:
                self.errors.append((job, _refusal(error)))
        except Exception as error:  # noqa: BLE001 - handed to whoever waits for the future
            savepoint.rollback()
            self.errors.append((job, error))
        else:
            self.results.append((job, result))

    @property
    def failure(self) -> str | None:
        """What kept the database from storing a job that was sound; None if nothing did."""
        causes = (error.__cause__ for _, error in self.errors)
        return next((first_line(one) for one in causes if isinstance(one, OperationalError)), None)

    def resolve(self) -> list[_Job]:
        """Tell all whose work is committed or was refused; return those to run again."""
        for job, result in self.results:
            job.future.set_result(result)
        for job, error in self.errors:
            job.future.set_exception(error)
        return self.contended

    def fail(self, error: Exception) -> None:
        """Tell all that the transaction was not confirmed."""
        outcome = (
            "it is not known whether this was stored: send it again with the same key"
            if self.committing
            else "nothing was stored: try again"
        )
        for job in self.jobs:
            failure = StoreError(f"the database failed ({first_line(error)}); {outcome}")
            failure.__cause__ = error
            job.future.set_exception(failure)


@contextmanager
def _transaction(connection: Connection, *, patient: bool) -> Iterator[RootTransaction]:
    with connection.begin() as transaction:
        if patient and connection.dialect.name == "postgresql":
            connection.execute(_PATIENCE)
        yield transaction


_PATIENCE = text("SET LOCAL lock_timeout = '10s'")


def _refusal(error: SQLAlchemyError) -> StoreError:
    """Return what the database said as an error of ours, without statement and parameters."""
    found = StoreError(f"the database refused ({first_line(error)}); nothing was stored")
    found.__cause__ = error
    return found


def _is_lost(error: Exception) -> bool:
    return isinstance(error, DBAPIError) and error.connection_invalidated


def _state(error: DBAPIError) -> str | None:
    state = getattr(error.orig, "sqlstate", None)
    return state if isinstance(state, str) else None


def first_line(error: Exception) -> str:
    """Return what a database said, without the statement and its parameters."""
    said = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    return (said.splitlines() or [type(error).__name__])[0].strip()
