import sqlite3

import pytest

from steelyard.errors import InvalidDataError
from steelyard.judge.cache import Cache
from steelyard.judge.reply import DigitToken, Reply

REPLY = Reply(content="4", digits=[DigitToken(text="4", alternatives=[("4", -0.1)])], tokens_in=90)


def test_replies_outlive_the_run_and_the_last_one_stays(tmp_path):
    path = tmp_path / "replies.sqlite"
    with Cache(path) as cache:
        cache.keep("a", REPLY)
        cache.keep("b", Reply(content="2"))
        cache.keep("b", REPLY)
    with Cache(path) as cache:
        assert cache.replies(["b", "c", "a"]) == {"a": REPLY, "b": REPLY}
        assert cache.replies([]) == {}


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


def test_a_file_that_cannot_grow_keeps_what_it_has(tmp_path, no_file_larger):
    path = tmp_path / "replies.sqlite"
    long = Reply(content="4" * 5_000)
    kept = []

    def fill(cache):
        for number in range(1_000):
            cache.keep(str(number), long)
            kept.append(str(number))

    with Cache(path) as cache, no_file_larger(400_000):
        with pytest.raises(InvalidDataError, match="free some room there, and run the same"):
            fill(cache)
        assert kept
    with Cache(path) as cache:
        assert set(cache.replies(kept)) == set(kept)
