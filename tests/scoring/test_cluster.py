import logging
import os
import signal
import sys
from concurrent.futures import CancelledError

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from steelyard.errors import InvalidArgumentError, MissingDependencyError
from steelyard.scoring import score_file
from steelyard.scoring.cluster import over_cluster
from steelyard.scoring.parts import parts_folder

METRICS = ["rouge-l", "edit"]


@pytest.fixture
def pool(tmp_path):
    """A folder of two Parquet files."""
    (tmp_path / "pool").mkdir()
    rows = pl.DataFrame({"item": range(195)}).with_columns(
        output="text " + pl.col("item").cast(pl.String), reference=pl.lit("a text 7")
    )
    rows[:60].write_parquet(tmp_path / "pool" / "a.parquet")
    rows[60:].write_parquet(tmp_path / "pool" / "b.parquet")
    return tmp_path / "pool"


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two worker processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as one,
        distributed.Client(one) as client,
    ):
        yield client


def test_a_cluster_gives_what_one_process_gives(cluster, pool, tmp_path):
    address = cluster.cluster.scheduler_address
    summary = score_file(
        pool, tmp_path / "scored.parquet", metrics=METRICS, batch_rows=20, cluster=address
    )
    score_file(pool, tmp_path / "serial.parquet", metrics=METRICS, workers=1)
    assert summary.rows == 195
    got = pl.read_parquet(tmp_path / "scored.parquet")
    assert_frame_equal(got, pl.read_parquet(tmp_path / "serial.parquet"), check_exact=True)
    # a single file in and out, too
    score_file(
        tmp_path / "serial.parquet",
        tmp_path / "again.parquet",
        metrics=["chrf"],
        batch_rows=50,
        cluster=address,
    )
    assert pl.read_parquet(tmp_path / "again.parquet").drop("chrf").equals(got)


def test_a_worker_that_is_killed_loses_nothing(cluster, pool, tmp_path):
    victims = list(cluster.run(os.getpid).values())

    def kill_one(_):
        if len(victims) == 2:
            os.kill(victims.pop(), signal.SIGKILL)

    summary = score_file(
        pool,
        tmp_path / "scored.parquet",
        metrics=METRICS,
        batch_rows=5,
        cluster=cluster.cluster.scheduler_address,
        progress=kill_one,
    )
    assert len(victims) == 1
    assert summary.rows == 195
    score_file(pool, tmp_path / "serial.parquet", metrics=METRICS, workers=1)
    got = pl.read_parquet(tmp_path / "scored.parquet")
    assert_frame_equal(got, pl.read_parquet(tmp_path / "serial.parquet"), check_exact=True)


def test_polars_has_one_thread_in_a_worker_of_this_machine(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    question = ["__import__('polars').thread_pool_size()"] * 2
    assert list(over_cluster(eval, question, address="local", workers=1)) == [1, 1]


@pytest.mark.slow
@pytest.mark.usefixtures("pool")
def test_a_batch_that_brings_down_workers_is_given_up(child, tmp_path):
    pytest.importorskip("distributed")
    script = """
        from steelyard.scoring import score_file

        if __name__ == "__main__":
            score_file(
                "pool", "scored.parquet", metrics=["lethal"], batch_rows=20, cluster="local", workers=2
            )
    """
    done = child(script, LETHAL_TEXT="text 150", LETHAL_PROCESS="self")
    assert "ChildProcessError: a batch has brought down several workers" in done.stderr
    assert not (tmp_path / "scored.parquet").exists()
    again = child(script)
    assert again.returncode == 0, again.stderr
    assert pl.read_parquet(tmp_path / "scored.parquet").height == 195


def test_a_missing_library_is_named_with_its_extra(pool, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'steelyard\[cluster\]'"):
        score_file(pool, tmp_path / "scored.parquet", metrics=["edit"], cluster="local")
    assert not parts_folder(tmp_path / "scored.parquet").exists()


def test_an_address_that_is_none_is_refused(pool, tmp_path):
    pytest.importorskip("distributed")
    with pytest.raises(InvalidArgumentError, match=r"got 'nowhere://x', where none answers"):
        score_file(pool, tmp_path / "scored.parquet", metrics=["edit"], cluster="nowhere://x")


class Deserted:
    """A client whose scheduler dies, and a logger that says so at length."""

    status = "closed"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        logging.getLogger("distributed.client").error("Traceback (most recent call last)")

    def submit(self, *_, **__):
        return self

    def nthreads(self):
        return {}

    def result(self):
        logging.getLogger("distributed.client").error("Traceback (most recent call last)")
        raise CancelledError


def test_a_scheduler_that_dies_is_told_in_one_line(monkeypatch, caplog):
    monkeypatch.setattr("steelyard.scoring.cluster._client", lambda *_: Deserted())
    pytest.importorskip("distributed")
    level = logging.getLogger("distributed.client").level
    with pytest.raises(ChildProcessError, match=r"the scheduler at tcp://host:1 went away"):
        list(over_cluster(abs, [1, 2], address="tcp://host:1", workers=1))
    assert caplog.records == []
    assert logging.getLogger("distributed.client").level == level
