"""Files that a task shows: served to those who are logged in, under names that say nothing."""

import pytest

from steelyard.collect.web.media import MediaFolder
from steelyard.errors import InvalidDataError

TASK = """\
name: pictures
title: Pictures
show:
  - {field: output, label: Picture, format: image}
  - {field: speech, label: Speech, format: audio}
  - {field: notes, label: Notes, format: markdown}
widgets: [{id: quality, kind: slider, label: How good?}]
scores: [{prompt: quality, rule: value, from: quality}]
"""
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360"
    "000002000100ffff03000006000557bfabd40000000049454e44ae426082"
)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>window.hurt = 1</script></svg>'


def row(**change):
    return {
        "item": "a",
        "system": "secret-system",
        "output": "secret-system/one.png",
        "speech": "talk.mp3",
        "notes": "See ![a map](secret-system/one.png) and ![else](https://example.org/x.png)",
        "length": 1,
    } | change


@pytest.fixture
def folder(tmp_path):
    media = tmp_path / "files"
    (media / "secret-system").mkdir(parents=True)
    (media / "secret-system" / "one.png").write_bytes(PIXEL)
    (media / "talk.mp3").write_bytes(bytes(range(256)) * 8)
    (media / "drawing.svg").write_bytes(SVG)
    (media / "notes.txt").write_text("not for raters")
    (tmp_path / "outside.png").write_bytes(PIXEL)
    (media / "link.png").symlink_to(tmp_path / "outside.png")
    (media / "away").symlink_to(tmp_path)
    return media


@pytest.fixture
def start(serve, folder):  # noqa: ARG001 - it must be there
    def started(*rows):
        found = [one | {"item": f"i{n}"} for n, one in enumerate(rows or [row()])]
        return serve("media: files\n", task=TASK, rows=found, n=len(found))

    return started


def shown_file(rater, field):
    """Return the name of the file that a field shows."""
    (node,) = rater.next()["assignment"]["shown"][field]
    return node[1]["src"].removeprefix("media/")


def test_a_page_gets_names_that_say_nothing_of_paths(start):
    rater = start().rater()
    given = rater.next()["assignment"]
    picture = shown_file(rater, "output")
    assert "secret-system" not in str(given)
    map_ = ["img", {"src": f"media/{picture}", "alt": "a map"}]
    assert given["shown"]["notes"] == [["p", {"dir": "auto"}, "See ", map_, " and [else]"]]
    sent = rater.get(f"/media/{picture}")
    assert sent.status_code == 200
    assert sent.content == PIXEL
    assert sent.headers["content-type"] == "image/png"
    assert sent.headers["x-content-type-options"] == "nosniff"
    assert "secret" not in str(sent.headers)


def test_a_part_of_a_sound_can_be_asked_for(start):
    rater = start().rater()
    name = shown_file(rater, "speech")
    part = rater.client.get(f"/media/{name}", headers={"Range": "bytes=256-511"})
    assert part.status_code == 206
    assert part.content == bytes(range(256))
    assert part.headers["content-range"] == "bytes 256-511/2048"
    assert part.headers["content-type"] == "audio/mpeg"


def test_a_drawing_runs_nothing_even_if_it_is_opened_alone(start):
    rater = start(row(output="drawing.svg")).rater()
    name = shown_file(rater, "output")
    policy = rater.get(f"/media/{name}").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "script-src" not in policy


def test_a_login_is_needed_and_names_lead_nowhere_else(start):
    server = start()
    rater = server.rater()
    name = shown_file(rater, "output")
    assert server.visitor().get(f"/media/{name}").status_code == 401
    assert rater.get(f"/admin/media/{name}").status_code == 401
    assert server.admin().get(f"/admin/media/{name}").content == PIXEL
    for wrong in (
        f"{'0' * 32}.png",
        "one.png",
        "..%2Foutside.png",
        "..%2f..%2foutputs.jsonl",
        "secret-system%2Fone.png",
        "%00.png",
    ):
        assert rater.get(f"/media/{wrong}").status_code in {404, 422}, wrong


def test_links_and_other_files_are_not_known(folder):
    known = MediaFolder(folder, "secret")
    assert known.paths == {"secret-system/one.png", "talk.mp3", "drawing.svg"}
    (name,) = known.names("talk.mp3")
    assert known.file(name).path == folder / "talk.mp3"
    # it becomes a link after the start
    (folder / "talk.mp3").unlink()
    (folder / "talk.mp3").symlink_to("/etc/passwd")
    assert known.file(name) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"output": "two.png"},
            "line 1, column output: there is no file 'two.png' in the folder files",
        ),
        ({"output": "../outside.png"}, r"there is no file '\.\./outside\.png'"),
        ({"output": "/etc/passwd.png"}, "there is no file '/etc/passwd.png'"),
        ({"output": "link.png"}, "there is no file 'link.png'"),
        ({"output": "away/outside.png"}, "there is no file"),
        ({"output": "talk.mp3"}, "must be the path of a file that ends in avif, gif"),
        ({"speech": ["talk.mp3", "no.mp3"]}, "column speech: there is no file 'no.mp3'"),
    ],
)
def test_a_file_that_is_not_there_is_found_at_the_start(start, change, message):
    with pytest.raises(InvalidDataError, match=message) as found:
        start(row(**change))
    assert "\n" not in str(found.value)


def test_the_folder_must_be_named_and_be_there(serve):
    with pytest.raises(
        InvalidDataError, match="key media: must name the folder with the files of output"
    ):
        serve(task=TASK, rows=[row()], n=1)
    with pytest.raises(InvalidDataError, match="key media: there is no folder nowhere"):
        serve("media: nowhere\n", task=TASK, rows=[row()], n=1)
