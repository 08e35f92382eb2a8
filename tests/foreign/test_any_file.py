"""Whatever is in a file, `convert` answers with files or with one clear line."""

import contextlib
import csv
import io
import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.cli import main

FILES = Path(__file__).parent / "files"
BOUNDED = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
_KEYS = (
    "eval task samples id epoch scores value history results response provider vars testCases "
    "name request_states doc_id resps filter spec completion_fns sample_id type data traceId "
    "source span_id annotator_kind result annotations fields responses q.responses instance_id "
    "user_id instance_id_to_label_to_value HITId WorkerId AssignmentStatus Answer.q model_a "
    "model_b winner annotation item item_i tgt model_id evaluation output input user_input system "
    "doc rater target category severity status Participant annotators prompts"
)
KEYS = _KEYS.split()
TEXTS = st.one_of(
    st.sampled_from([*KEYS, "C", "1", "nan", "\ud800", "a\nb", "=1"]), st.text(max_size=5)
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), TEXTS, st.just(10**400), st.just("")
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | TEXTS, inner, max_size=6)
    ),
    max_leaves=12,
)
ROWS = st.lists(st.lists(TEXTS, min_size=1, max_size=8), min_size=1, max_size=5)
JSON_FILES = sorted(
    path for path in FILES.rglob("*.json*") if path.stat().st_size and "helm" not in path.parts
)


def answer(content, name="file.json", options=()):
    """Return exit code and standard error of `convert` on one file."""
    folder = Path(tempfile.mkdtemp())
    try:
        path = folder / name
        path.write_text(content, encoding="utf-8", errors="surrogatepass")
        err = io.StringIO()
        with (
            contextlib.redirect_stderr(err),
            contextlib.redirect_stdout(io.StringIO()),
            pytest.raises(SystemExit) as stop,
        ):
            main(["convert", str(path), "-o", str(folder / "out"), *options])
        if stop.value.code:
            assert not (folder / "out").exists()
        return stop.value.code, err.getvalue()
    finally:
        shutil.rmtree(folder)


def check(code, err):
    assert code in (0, 2)
    if code == 2:
        assert err.startswith("steelyard: ")
        assert err.count("\n") == 1


@BOUNDED
@given(VALUES)
def test_any_json_is_answered_with_one_line(value):
    check(*answer(json.dumps(value)))


@BOUNDED
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1), min_size=1, max_size=3))
def test_any_lines_are_answered_with_one_line(records):
    check(*answer("".join(json.dumps(one) + "\n" for one in records), "file.jsonl"))


@BOUNDED
@given(ROWS)
def test_any_table_is_answered_with_one_line(rows):
    content = io.StringIO()
    csv.writer(content).writerows(rows)
    check(*answer(content.getvalue(), "file.csv"))
    check(*answer(content.getvalue(), "file.csv", ["--wide", "{rater}", "--system", "s"]))


@BOUNDED
@given(st.binary(max_size=60))
def test_any_bytes_are_answered_with_one_line(content):
    check(*answer(content.decode("latin-1"), "file.csv"))


def check_changed_file(data):
    path = data.draw(st.sampled_from(JSON_FILES))
    text = path.read_text(encoding="utf-8")
    is_lines = path.suffix == ".jsonl"
    whole = [json.loads(line) for line in text.splitlines()] if is_lines else json.loads(text)
    changed = replaced(data, whole)
    is_lines = is_lines and isinstance(changed, list)
    content = "\n".join(map(json.dumps, changed)) if is_lines else json.dumps(changed)
    names_systems = {"arena", "pearmut"} & {*path.parts}
    check(*answer(content, path.name, [] if names_systems else ["--system", "s"]))


@settings(BOUNDED, max_examples=40)
@given(st.data())
def test_a_real_file_with_one_part_replaced_is_converted_or_refused_in_one_line(data):
    check_changed_file(data)


@pytest.mark.slow
@settings(BOUNDED, max_examples=500)
@given(st.data())
def test_five_hundred_real_files_with_one_part_replaced(data):
    check_changed_file(data)


def replaced(data, value):
    """Replace some node of a tree by anything."""
    if not isinstance(value, list | dict) or not value or data.draw(st.integers(0, 9)) == 0:
        return data.draw(VALUES)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = data.draw(st.sampled_from(keys))
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = replaced(data, value[key])
    return copy
