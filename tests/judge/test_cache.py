import sqlite3
import subprocess
import sys
from types import SimpleNamespace

import pytest

from steelyard.errors import InvalidDataError
from steelyard.judge.cache import Cache, question_key
from steelyard.judge.reply import Reply, Token

REPLY = Reply("4", "stop", False, (Token("4", (("4", -0.1),)),), 90, 1)

WRITER = """
import sys
from types import SimpleNamespace
from steelyard.judge.cache import Cache
from steelyard.judge.reply import Reply
path, who = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
with Cache(path) as cache:
    for number in range(200):
        cache.keep(f"{who}-{number}", Reply(who, "stop", False, None, 1, 1))
        cache.keep(f"shared-{number}", Reply("same", "stop", False, None, 1, 1))
"""


def test_replies_outlive_the_run(tmp_path):
    path = tmp_path / "replies.sqlite"
    with Cache(path) as cache:
        cache.keep("a", REPLY)
        # another process sees it at once, not when this one is done
        with Cache(path) as other:
            assert other.replies(["a", "b"]) == {"a": REPLY}
    with Cache(path) as cache:
        assert cache.replies(["b", "a"]) == {"a": REPLY}


def test_the_first_reply_stays():
    with Cache() as cache:
        cache.keep("a", REPLY)
        cache.keep("a", Reply("5", "stop", False, None, None, None))
        assert cache.replies(["a"]) == {"a": REPLY}


def test_many_replies_are_found_at_once():
    with Cache() as cache:
        keys = [str(number) for number in range(1203)]
        for key in keys[::2]:
            cache.keep(key, REPLY)
        assert set(cache.replies(keys)) == set(keys[::2])
        assert cache.replies([]) == {}


def test_several_processes_may_write_at_a_time(tmp_path):
    path = tmp_path / "replies.sqlite"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path, who],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for who in "ab"
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors
    with Cache(path) as cache:
        keys = [f"{who}-{number}" for who in ("a", "b", "shared") for number in range(200)]
        assert len(cache.replies(keys)) == 600


def test_a_file_that_is_no_cache_is_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, and not a short text either: " * 20)
    with pytest.raises(InvalidDataError, match=r"notes\.txt: cannot be used as a cache"):
        Cache(text)
    assert text.read_text().startswith("not a database")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(InvalidDataError, match="no cache of this version"):
        Cache(other)
    assert other.read_bytes() == before


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InvalidDataError, match=r"no folder .*away: make it first"):
        Cache(tmp_path / "away" / "replies.sqlite")


def test_a_key_depends_on_all_of_a_question_and_on_no_order():
    question = {"model": "m", "messages": [{"role": "user", "content": "\ud800 x"}]}
    assert question_key(question) == question_key(dict(reversed(question.items())))
    assert question_key(question) != question_key(question | {"temperature": 0})
    assert len(question_key(question)) == 64


def test_a_question_is_claimed_by_one_run_at_a_time(tmp_path):
    path = tmp_path / "replies.sqlite"
    with Cache(path) as one, Cache(path) as other:
        assert one.claim("a")
        assert one.claim("a")
        assert not other.claim("a")
        assert other.claim("b")
        one.release("a")
        assert other.claim("a")
        other.keep("a", REPLY)
        assert one.claim("a")
        assert one.claim("c")
        one.__exit__(None, None, None)
        assert other.claim("c")


def test_the_claim_of_a_run_that_was_killed_is_void(tmp_path):
    path = tmp_path / "replies.sqlite"
    code = f"import os; from steelyard.judge.cache import Cache; Cache({str(path)!r}).claim('a'); os._exit(1)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 1
    with Cache(path) as cache:
        assert cache.claim("a")


def test_a_claim_from_elsewhere_ends_after_a_while(tmp_path, monkeypatch):
    path = tmp_path / "replies.sqlite"
    clock = [1000.0]
    monkeypatch.setattr("steelyard.judge.cache.time.time", lambda: clock[0])
    with Cache(path) as one, Cache(path) as other:
        monkeypatch.setattr("steelyard.judge.cache.socket.gethostname", lambda: "elsewhere")
        assert one.claim("a")
        clock[0] += 899
        assert not other.claim("a")
        clock[0] += 2
        assert other.claim("a")


def test_a_full_disk_is_told_before_a_question_is_paid_for(tmp_path, monkeypatch):
    with Cache(tmp_path / "replies.sqlite") as cache:
        assert cache.claim("a")
        cache.keep("a", REPLY)
        monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=3_999_999))
        with pytest.raises(InvalidDataError, match=r"replies.sqlite: the disk takes no more"):
            cache.claim("b")
        # what comes in the meantime still finds its place
        cache.keep("c", REPLY)
        assert set(cache.replies(["a", "b", "c"])) == {"a", "c"}


def test_a_file_that_cannot_grow_keeps_what_it_has(tmp_path, no_file_larger):
    path = tmp_path / "replies.sqlite"
    long = Reply("4" * 5_000, "stop", False, None, 90, 1)
    kept = []

    def fill(cache):
        for number in range(1_000):
            cache.claim(str(number))
            cache.keep(str(number), long)
            kept.append(str(number))

    with Cache(path) as cache, no_file_larger(400_000):
        with pytest.raises(InvalidDataError, match="free some room there, and run the same"):
            fill(cache)
        assert kept
    with Cache(path) as cache:
        assert set(cache.replies(kept)) == set(kept)
