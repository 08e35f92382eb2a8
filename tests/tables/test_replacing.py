import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from steelyard.errors import InvalidDataError
from steelyard.tables.replacing import replacing


def write(path, text):
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), replacing(path) as temporary:
        temporary.write_text("half, and then \udc00", encoding="utf-8")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a.txt", "old")]
    write(path, "new")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a.txt", "new")]


def test_a_new_file_has_the_permissions_of_any_other(tmp_path):
    write(tmp_path / "a.txt", "text")
    (tmp_path / "b.txt").write_text("text")
    modes = {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    assert len(modes) == 1


def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path):
    (tmp_path / "target.txt").write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to("target.txt")
    write(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "target.txt").read_text() == "new"


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_a_pipe_is_written_to_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write(pipe, "text")
    reader.join()
    assert read == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device")
def test_a_full_device_is_named_and_stays_a_device():
    with pytest.raises(InvalidDataError, match="/dev/full: cannot be written: No space left"):
        write("/dev/full", "text")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(
        InvalidDataError, match=r"a\.txt: cannot be written: no folder .*away: make"
    ):
        write(tmp_path / "away" / "a.txt", "text")
