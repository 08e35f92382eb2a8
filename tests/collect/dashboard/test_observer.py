import asyncio
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from simulated_campaign import GOOD, START, begin, work, write_campaign

from steelyard.collect.dashboard import observer as observer_module
from steelyard.collect.dashboard.live_snapshots import LiveSnapshots
from steelyard.collect.dashboard.observer import Observer, ObserverError
from steelyard.collect.dashboard.snapshot import snapshot
from steelyard.collect.store import Reader, Store, StoreError
from steelyard.collect.store.progress import newest

# A process that does not end would be waited for so many seconds.
PATIENCE = 120


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Let a busy machine run processes: at their usual priority they would hardly get a turn."""
    monkeypatch.setattr(observer_module, "_NICENESS", 1)


@pytest.fixture
def questions(monkeypatch):
    """What can be asked, where the observer's process finds it too."""
    monkeypatch.syspath_prepend(Path(__file__).parent)
    return import_module("observer_questions")


@pytest.fixture
def small(store, tmp_path):
    """A campaign of one system, on both databases."""
    path = write_campaign(
        tmp_path, pool=40, systems=1, sample={"n": 12, "seed": 1}, judgments_per_output=1
    )
    return begin(path, store), store


@pytest.fixture
def on_sqlite(tmp_path):
    path = write_campaign(
        tmp_path, pool=40, systems=1, sample={"n": 12, "seed": 1}, judgments_per_output=1
    )
    with Store.open(tmp_path / "campaign.sqlite") as store:
        yield begin(path, store), store


def run(asking, campaign, store):
    """Run a function of an observer, then close the observer; return what it returned."""

    async def session():
        observer = Observer(campaign, store)
        try:
            return await asking(observer)
        finally:
            await observer.close()

    return asyncio.run(asyncio.wait_for(session(), PATIENCE))


async def appearance(path):
    """Wait for a file that another process makes."""
    while not path.exists():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def is_there(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_snapshot_is_the_one_that_is_computed_here(small):
    campaign, store = small
    now = work(campaign, store, [GOOD] * 3, judgments=9)

    async def look():
        live = LiveSnapshots(campaign, store, now=lambda: now)
        try:
            return await live.latest()
        finally:
            await live.close()

    assert asyncio.run(look()) == snapshot(campaign, store, now=now)


def test_it_only_reads(small, questions):
    async def asking(observer):
        with pytest.raises(StoreError, match=r"(?i)read-?only"):
            await observer.ask(questions.attempt_to_write)

    run(asking, *small)


def test_it_uses_one_core_at_a_lower_priority(on_sqlite, questions):
    process, niceness, threads, polars_threads = run(
        lambda observer: observer.ask(questions.circumstances), *on_sqlite
    )
    assert process != os.getpid()
    assert niceness > os.nice(0)
    assert threads == ["1"] * 3
    assert polars_threads == 1


def test_an_error_of_ours_is_raised_and_the_process_goes_on(on_sqlite, questions):
    async def asking(observer):
        before = await observer.ask(questions.process_id)
        with pytest.raises(StoreError, match="away for a moment"):
            await observer.ask(questions.refusal)
        return before, await observer.ask(questions.process_id)

    before, after = run(asking, *on_sqlite)
    assert before == after
    assert not is_there(after)


def test_a_mistake_is_logged_and_the_next_question_is_answered(on_sqlite, questions, caplog):
    async def asking(observer):
        with pytest.raises(ObserverError, match="look again in a moment"):
            await observer.ask(questions.mistake)
        return await observer.ask(questions.process_id)

    assert run(asking, *on_sqlite) != os.getpid()
    [record] = caplog.records
    assert "the process that computes the dashboard failed: 'not expected'" in record.message
    assert record.exc_info[0] is KeyError


def test_a_process_that_was_killed_is_replaced_and_the_dashboard_goes_on(
    on_sqlite, questions, caplog
):
    campaign, store = on_sqlite

    async def numbers(events):
        async for event in events:
            if event.startswith(b"event: snapshot"):
                yield event

    async def look():
        live = LiveSnapshots(campaign, store, now=lambda: START)
        seen = numbers(live.events())
        await anext(seen)
        before = await live.observer.ask(questions.process_id)
        os.kill(before, signal.SIGKILL)
        with pytest.raises(ObserverError, match="look again in a moment"):
            await live.observer.ask(questions.endless)
        work(campaign, store, [GOOD], judgments=1)
        live.refresh()
        event = await anext(seen)
        after = await live.observer.ask(questions.process_id)
        await seen.aclose()
        await live.close()
        return event, before, after

    event, before, after = asyncio.run(asyncio.wait_for(look(), PATIENCE))
    assert b'"judgments":1' in event
    assert before != after
    assert not is_there(after)
    assert "the next look tries again" in caplog.messages[0]


def test_a_process_that_cannot_be_started_is_an_error(on_sqlite, questions, monkeypatch, caplog):
    def fail(_process):
        raise BlockingIOError("no more processes")

    async def asking(observer):
        with monkeypatch.context() as patch:
            patch.setattr("multiprocessing.context.SpawnProcess.start", fail)
            with pytest.raises(ObserverError, match="look again in a moment"):
                await observer.ask(questions.process_id)
        return await observer.ask(questions.process_id)

    assert run(asking, *on_sqlite) != os.getpid()
    assert "no more processes" in caplog.text


def test_closing_ends_it_in_the_middle_of_its_work(on_sqlite, questions, tmp_path, caplog):
    async def asking(observer):
        process = await observer.ask(questions.process_id)
        answer = asyncio.create_task(observer.ask(questions.endless))
        await appearance(tmp_path / "begun")
        await observer.close()
        with pytest.raises(ObserverError, match="look again in a moment"):
            await answer
        with pytest.raises(ObserverError, match="the server is closing"):
            await observer.ask(questions.process_id)
        return process

    assert not is_there(run(asking, *on_sqlite))
    assert caplog.messages == []


def test_it_ends_when_nobody_asks_for_a_while_and_starts_again(on_sqlite, questions, monkeypatch):
    monkeypatch.setattr(observer_module, "_IDLE_SECONDS", 0)

    async def asking(observer):
        before = await observer.ask(questions.process_id)
        while is_there(before):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
        return before, await observer.ask(questions.process_id)

    before, after = run(asking, *on_sqlite)
    assert before != after


PARENT = """\
import asyncio, sys
from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.dashboard.observer import Observer
from steelyard.collect.store import Store

def endless(view):
    print("begun", flush=True)
    while True:
        pass

async def ask(campaign, store):
    await Observer(campaign, store).ask(endless)

if __name__ == "__main__":
    campaign = load_campaign(sys.argv[1])
    with Store.open(campaign.database) as store:
        asyncio.run(ask(campaign, store))
"""


@pytest.mark.usefixtures("on_sqlite")
def test_it_does_not_outlive_a_parent_that_was_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, script, tmp_path / "campaign.yaml"], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout.readline() == "begun\n"
    parent.kill()
    # ends when every process that could write there has ended
    assert parent.communicate(timeout=PATIENCE) == ("", None)


def test_a_reader_sees_what_a_store_writes(small):
    campaign, store = small
    with Reader.open(store.address) as reader:
        before = reader.read(newest)
        work(campaign, store, [GOOD], judgments=1)
        assert reader.read(newest) > before
