"""Whatever is in files, `check` says what they are, or refuses them in one line of ours."""

import json
from contextlib import suppress

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard import Study
from steelyard.errors import SteelyardError
from steelyard.questions.check import check_files

_NAMES = (
    "item|system|output|rater|prompt|score|human|gold|judge|bleu|doc_id|week|Item ID|model|rating|"
    "rater1|rater2|A_score|B_score|other_system|lower_is_better|probability|cluster|input|"
    "reference|time||1|id|é|a.b|HITId|winner"
)
NAMES = _NAMES.split("|")
CELLS = st.one_of(
    st.none(),
    st.integers(-3, 6),
    st.sampled_from(
        ["a", "b", "", " ", "N/A", "1", "0,5", "85%", "good", "i1", "=1", "true", "nan", "1e400"]
    ),
    st.floats(),
    st.booleans(),
)
NESTED = st.recursive(
    CELLS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)
HEADERS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=7)


@st.composite
def tables(draw, cells=CELLS):
    header = draw(HEADERS)
    rows = draw(st.lists(st.lists(cells, min_size=len(header), max_size=len(header)), max_size=8))
    return header, rows


def written(folder, number, table, ending, mark):
    header, rows = table
    path = folder / f"f{number}.{ending}"
    if ending in {"csv", "tsv"}:
        mark = "\t" if ending == "tsv" else mark
        cells = [["" if cell is None else str(cell) for cell in row] for row in [header, *rows]]
        path.write_text("\n".join(mark.join(row) for row in cells), encoding="utf-8")
    elif ending == "parquet":
        columns = {name: [str(row[n]) for row in rows] for n, name in enumerate(header)}
        pl.DataFrame(columns).write_parquet(path)
    else:
        records = [dict(zip(header, row, strict=True)) for row in rows]
        lines = [json.dumps(record) for record in records]
        path.write_text(
            "\n".join(lines) if ending == "jsonl" else f"[{','.join(lines)}]", encoding="utf-8"
        )
    return path


def looked_at(paths):
    """Check files, and read them in every way; only errors of ours may come."""
    with suppress(SteelyardError):
        found = check_files(paths)
        json.dumps(found.to_dict())
        assert found.command.startswith("steelyard ")
    for human in (None, "score", "rater*"):
        with suppress(SteelyardError):
            judged = paths[1] if human is None and len(paths) > 1 else None
            study = Study.read(paths[0], judged, columns=human and {"score": human})
            study.outputs.check()


def settled(examples):
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[*HealthCheck],
    )


ENDINGS = st.sampled_from(["csv", "tsv", "jsonl", "json", "parquet"])
MARKS = st.sampled_from([",", ";", "|"])


@settled(60)
@given(first=tables(), second=tables(), ending=ENDINGS, mark=MARKS)
def test_two_tables_of_anything(tmp_path_factory, first, second, ending, mark):
    folder = tmp_path_factory.mktemp("fuzz")
    looked_at([written(folder, n, one, ending, mark) for n, one in enumerate((first, second))])


@settled(60)
@given(one=tables(NESTED), ending=st.sampled_from(["jsonl", "json"]))
def test_records_of_anything(tmp_path_factory, one, ending):
    looked_at([written(tmp_path_factory.mktemp("fuzz"), 0, one, ending, ",")])


@pytest.mark.slow
@settled(7_000)
@given(first=tables(), second=tables(), ending=ENDINGS, mark=MARKS)
def test_very_many_tables_of_anything(tmp_path_factory, first, second, ending, mark):
    folder = tmp_path_factory.mktemp("fuzz")
    looked_at([written(folder, n, one, ending, mark) for n, one in enumerate((first, second))])


@pytest.mark.slow
@settled(6_000)
@given(one=tables(NESTED), ending=st.sampled_from(["jsonl", "json"]))
def test_very_many_records_of_anything(tmp_path_factory, one, ending):
    looked_at([written(tmp_path_factory.mktemp("fuzz"), 0, one, ending, ",")])
