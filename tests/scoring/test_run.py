import csv
import gzip
import json
import signal

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.metrics import score
from steelyard.scoring import score_file
from steelyard.scoring.parts import parts_folder
from steelyard.tables import read_outputs, write_table

METRICS = ["rouge-l", "bleu"]


def expected(rows, metrics=METRICS):
    texts = [one["output"] for one in rows], [one["reference"] for one in rows]
    return {name: values.tolist() for name, values in score(*texts, metrics=metrics).items()}


def objects(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def left_behind(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_every_row_gains_the_metrics_and_keeps_the_rest(outputs, rows, tmp_path):
    target = tmp_path / "scored.jsonl"
    summary = score_file(outputs, target, metrics=METRICS, workers=1, batch_rows=20)
    got = objects(target)
    wanted = expected(rows)
    for position, (one, before) in enumerate(zip(got, rows, strict=True)):
        assert one == before | {name: wanted[name][position] for name in METRICS}
    assert (summary.rows, summary.metrics, summary.resumed_from) == (95, tuple(METRICS), 0)
    assert left_behind(tmp_path) == []


def test_lines_stay_as_they_were_written(tmp_path):
    line = '{"output":"a b" , "reference":"a b","big":123456789012345678901234567890,"x":1.50 }'
    (tmp_path / "outputs.jsonl").write_text(f"\n{line}\r\n\n")
    score_file(tmp_path / "outputs.jsonl", tmp_path / "scored.jsonl", metrics=["exact-match"])
    got = (tmp_path / "scored.jsonl").read_text()
    assert got == line[:-2] + ', "exact-match": 1.0}\n'


@pytest.mark.parametrize("batch_rows", [1, 7, 94, 95, 1000])
def test_result_does_not_depend_on_the_batches(outputs, tmp_path, batch_rows):
    score_file(outputs, tmp_path / "one.jsonl", metrics=METRICS, workers=1)
    target = tmp_path / "two.jsonl"
    score_file(outputs, target, metrics=METRICS, workers=1, batch_rows=batch_rows)
    assert target.read_bytes() == (tmp_path / "one.jsonl").read_bytes()


@pytest.mark.parametrize("extension", ["jsonl", "parquet"])
def test_result_does_not_depend_on_the_workers(rows, tmp_path, extension):
    source = tmp_path / f"outputs.{extension}"
    flat = [one | {"reference": " ".join(one["reference"])} for one in rows]
    write_table(pl.DataFrame(flat), source)
    targets = [tmp_path / f"{workers}.{extension}" for workers in (1, 2)]
    for workers, target in enumerate(targets, start=1):
        score_file(source, target, metrics=METRICS, workers=workers, batch_rows=30)
    assert targets[0].read_bytes() == targets[1].read_bytes()


@pytest.mark.parametrize(
    "extension",
    ["jsonl", "jsonl.gz", "jsonl.zst", "ndjson", "csv", "csv.gz", "csv.zst", "parquet"],
)
@pytest.mark.parametrize("target", ["jsonl", "jsonl.zst", "csv", "csv.gz", "csv.zst", "parquet"])
def test_every_format_becomes_every_other(rows, tmp_path, extension, target):
    for one in rows:
        one["reference"] = "one\n\n, " + str(one["reference"][:1])
    rows[3]["note"] = 'a "quoted" word'
    source = tmp_path / f"outputs.{extension}"
    write_table(pl.DataFrame(rows, infer_schema_length=None), source)
    score_file(source, tmp_path / f"scored.{target}", metrics=METRICS, workers=1, batch_rows=40)
    got = read_outputs(tmp_path / f"scored.{target}").rows()
    wanted = pl.DataFrame(rows, infer_schema_length=None).with_columns(
        *(pl.Series(name, values) for name, values in expected(rows).items()),
        reference=pl.concat_list("reference"),
    )
    assert_frame_equal(got, wanted, check_exact=True)


def test_several_references_are_read_from_a_cell_of_csv(tmp_path):
    (tmp_path / "outputs.csv").write_text(
        'output,reference\na b,"[""x"", ""a b""]"\n,c\n', newline=""
    )
    score_file(tmp_path / "outputs.csv", tmp_path / "scored.csv", metrics=["exact-match"])
    with (tmp_path / "scored.csv").open() as file:
        got = list(csv.reader(file))
    assert got == [
        ["output", "reference", "exact-match"],
        ["a b", '["x", "a b"]', "1.0"],
        ["", "c", "0.0"],
    ]


@pytest.mark.parametrize("target", ["s[1].csv", "s[1].csv.gz", "s[1].csv.zst", "s[1].parquet"])
def test_line_breaks_in_cells_and_patterns_in_names_are_kept(tmp_path, target):
    (tmp_path / "o[1].csv").write_text(
        'output,reference,note\na,b,"one\r\n""two"""\na,b,""\na,b,\n', newline=""
    )
    score_file(tmp_path / "o[1].csv", tmp_path / target, metrics=["edit"], workers=1, batch_rows=1)
    path = tmp_path / target
    got = pl.read_parquet(path, glob=False) if "parq" in target else pl.read_csv(path, glob=False)
    assert got["note"].to_list() == ['one\r\n"two"', "", None]


def test_lists_in_cells_of_csv_become_lists_elsewhere(tmp_path):
    (tmp_path / "o.csv").write_text('output,reference\na,[b]\na,"[""x"", ""a""]"\n')
    target = tmp_path / "s.parquet"
    score_file(tmp_path / "o.csv", target, metrics=["edit"], workers=1, batch_rows=1)
    assert pl.read_parquet(target)["reference"].to_list() == [["[b]"], ["x", "a"]]
    score_file(tmp_path / "o.csv", tmp_path / "s.jsonl", metrics=["edit"], workers=1)
    assert [one["reference"] for one in objects(tmp_path / "s.jsonl")] == [["[b]"], ["x", "a"]]


def test_cells_of_csv_stay_as_they_were(tmp_path):
    (tmp_path / "outputs.csv").write_text(
        'item,output,reference,price\r\n007,"a\nb",a,1.50\r\n\r\n008,b,b,\r\n', newline=""
    )
    score_file(
        tmp_path / "outputs.csv", tmp_path / "scored.csv", metrics=["edit"], workers=1, batch_rows=1
    )
    assert (tmp_path / "scored.csv").read_text() == (
        'item,output,reference,price,edit\n007,"a\nb",a,1.50,0.5\n008,b,b,,0.0\n'
    )


def test_numbers_of_csv_become_numbers_elsewhere(tmp_path):
    (tmp_path / "outputs.csv").write_text(
        "item,output,reference,whole,real,name,empty\n1,a,a,1,1,007,\n2,b,b,,2.5,8,\n3,c,c,3,4,x,\n"
    )
    score_file(
        tmp_path / "outputs.csv", tmp_path / "s.parquet", metrics=["edit"], workers=1, batch_rows=1
    )
    got = pl.read_parquet(tmp_path / "s.parquet")
    kinds = {name: str(kind) for name, kind in got.schema.items()}
    assert kinds == {
        "item": "String",
        "output": "String",
        "reference": "String",
        "whole": "Int64",
        "real": "Float64",
        "name": "String",
        "empty": "String",
        "edit": "Float64",
    }
    assert got["whole"].to_list() == [1, None, 3]


def test_objects_that_fit_no_table_are_refused_with_their_line(tmp_path):
    (tmp_path / "o.jsonl").write_text(
        '{"output":"a","reference":"a","x":[1]}\n{"output":"a","reference":"b","x":{"y":1}}\n'
    )
    with pytest.raises(InvalidDataError, match=r"line 2, column x: expected a list as on line 1"):
        score_file(
            tmp_path / "o.jsonl", tmp_path / "s.parquet", metrics=["edit"], workers=1, batch_rows=1
        )
    assert [path.name for path in tmp_path.iterdir()] == ["o.jsonl"]


def test_a_file_can_be_scored_in_place(outputs, rows):
    score_file(outputs, outputs, metrics=["edit"], workers=1)
    score_file(outputs, outputs, metrics=["rouge-l"], workers=1)
    assert [one["edit"] for one in objects(outputs)] == expected(rows, ["edit"])["edit"]
    assert list(objects(outputs)[0])[-2:] == ["edit", "rouge-l"]


@pytest.mark.parametrize("extension", ["jsonl", "csv", "parquet"])
def test_a_column_that_is_there_is_replaced_only_on_demand(rows, tmp_path, extension):
    source, target = tmp_path / f"o.{extension}", tmp_path / f"s.{extension}"
    flat = [{"edit": "old", **one, "reference": "a"} for one in rows]
    write_table(pl.DataFrame(flat), source)
    with pytest.raises(InvalidDataError, match=r"a column `edit` is there already: overwrite it"):
        score_file(source, target, metrics=["edit"])
    assert not target.exists()
    score_file(source, target, metrics=["edit"], replace=True)
    got = read_outputs(target).rows()
    assert got.columns[0] == "edit"
    assert got["edit"].to_list() == expected(flat, ["edit"])["edit"]


def test_a_column_that_appears_late_is_seen(tmp_path):
    (tmp_path / "o.jsonl").write_text(
        '{"output":"a","reference":"a"}\n{"output":"a","reference":"b","edit":1}\n'
    )
    with pytest.raises(InvalidDataError, match=r"o.jsonl: a column `edit`"):
        score_file(tmp_path / "o.jsonl", tmp_path / "s.jsonl", metrics=["edit"])
    score_file(tmp_path / "o.jsonl", tmp_path / "s.jsonl", metrics=["edit"], replace=True)
    assert [one["edit"] for one in objects(tmp_path / "s.jsonl")] == [0.0, 1.0]


def test_columns_can_have_other_names(tmp_path):
    (tmp_path / "o.jsonl").write_text('{"answer":"a","gold":["b","a"]}\n')
    score_file(
        tmp_path / "o.jsonl",
        tmp_path / "s.jsonl",
        metrics=["exact-match"],
        columns={"output": "answer", "reference": "gold"},
    )
    assert objects(tmp_path / "s.jsonl") == [{"answer": "a", "gold": ["b", "a"], "exact-match": 1}]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("o.jsonl", '{"output":"a"}\n', r"no column `reference`, which rouge-l compares with"),
        ("o.jsonl", '{"reference":"a"}\n', r"no column `output`.*--column output=YOUR_COLUMN"),
        ("o.jsonl", '{"output":"a","reference":"b"}\n' * 2 + "{]\n", r"o.jsonl, line 3: .*JSON"),
        (
            "o.jsonl",
            '{"output":"a","reference":"b"}\n7\n',
            r"line 2: expected a JSON object, got 7",
        ),
        ("o.jsonl", '{"output":"a","reference":"b"}\n{"output":NaN}\n', r"line 2, .* got nan"),
        (
            "o.jsonl",
            '{"output":"a","reference":"b"}\n\n{"output":null,"reference":"b"}\n',
            r"o.jsonl, line 3, column output: expected text, got nothing",
        ),
        (
            "o.jsonl",
            '{"output":"a","reference":[{"text":"b"}]}\n',
            r"column reference: expected text or lists of texts, got values of type List",
        ),
        ("o.jsonl", "\n\n", r"only blank lines"),
        ("o.csv", "output,reference\n", r"holds no rows"),
        ("o.csv", "output,output\na,b\n", r"two columns are named `output`"),
        ("o.csv", "output,reference\na,b\nc,\n", r"line 3, column reference: .* got nothing"),
        ("o.csv", 'output,reference\n"a\nb",b\n\nc,\n', r"line 5, column reference"),
        ("o.csv", "output,reference\na,b\na,b,c\n", r"line 3: expected 2 fields, got 3"),
        ("o.csv", 'output,reference\na,b\n"a,b\n', r"line 3: a quotation mark opens here"),
        ("o.parquet", "no", r"o.parquet: cannot be read"),
        ("o.txt", "no", r"the extension must be"),
        ("o.jsonl.gz", "no", r"malformed JSON"),
    ],
)
def test_bad_outputs_are_named_and_nothing_is_written(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    target = tmp_path / "scored.jsonl"
    with pytest.raises(InvalidDataError, match=message) as caught:
        score_file(tmp_path / name, target, metrics=["rouge-l"], batch_rows=1, workers=1)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("extension", ["jsonl", "csv", "parquet"])
def test_bad_rows_are_all_counted_and_may_be_kept_without_a_value(rows, tmp_path, extension):
    source, target = tmp_path / f"o.{extension}", tmp_path / f"s.{extension}"
    flat = [{**one, "reference": None if n in (3, 4, 41) else "a"} for n, one in enumerate(rows)]
    write_table(pl.DataFrame(flat), source)
    options = {"metrics": ["edit"], "batch_rows": 10, "workers": 1}
    with pytest.raises(
        InvalidDataError,
        match=r"column reference: .* \(3 rows cannot be scored\): mend the outputs, or .*keep",
    ):
        score_file(source, target, **options)
    assert not target.exists()
    got = score_file(source, target, **options, on_error="keep")
    assert (got.rows, got.resumed_from, got.not_scored) == (95, 0, 3)
    assert "column reference" in got.problem
    values = read_outputs(target).rows()["edit"].to_list()
    assert [n for n, value in enumerate(values) if value is None] == [3, 4, 41]
    whole = tmp_path / "whole"
    whole.mkdir()
    score_file(source, whole / target.name, **options, on_error="keep")
    assert (whole / target.name).read_bytes() == target.read_bytes()
    with pytest.raises(InvalidArgumentError, match="`on_error` must be stop or keep; got 'skip'"):
        score_file(source, target, **options, on_error="skip")


def test_bytes_that_are_not_utf8_are_named(tmp_path):
    (tmp_path / "o.jsonl").write_bytes(b'{"output":"a","reference":"b"}\n{"output":"\xff"}\n')
    with pytest.raises(InvalidDataError, match=r"line 2: the bytes are not UTF-8"):
        score_file(tmp_path / "o.jsonl", tmp_path / "s.jsonl", metrics=["edit"])


def test_a_cut_off_gzip_file_is_refused(tmp_path):
    packed = gzip.compress(b'{"output":"a","reference":"b"}\n' * 1000)
    (tmp_path / "o.jsonl.gz").write_bytes(packed[:-20])
    with pytest.raises(InvalidDataError, match=r"o.jsonl.gz: cannot be read"):
        score_file(tmp_path / "o.jsonl.gz", tmp_path / "s.jsonl", metrics=["edit"])
    assert [path.name for path in tmp_path.iterdir()] == ["o.jsonl.gz"]


def test_bad_arguments_are_refused(outputs, tmp_path):
    target = tmp_path / "s.jsonl"
    with pytest.raises(InvalidArgumentError, match=r"'rouge' is not known"):
        score_file(outputs, target, metrics=["rouge"])
    with pytest.raises(InvalidArgumentError, match=r"at least one metric"):
        score_file(outputs, target, metrics=[])
    with pytest.raises(InvalidArgumentError, match=r"each metric once"):
        score_file(outputs, target, metrics=["edit", "edit"])
    with pytest.raises(InvalidArgumentError, match=r"`workers` must be 1 or more; got 0"):
        score_file(outputs, target, metrics=["edit"], workers=0)
    with pytest.raises(InvalidArgumentError, match=r"must lie in an existing folder"):
        score_file(outputs, tmp_path / "no" / "s.jsonl", metrics=["edit"])
    with pytest.raises(InvalidDataError, match=r"the extension must be .jsonl"):
        score_file(outputs, tmp_path / "folder", metrics=["edit"])
    with pytest.raises(InvalidDataError, match=r"no such file"):
        score_file(tmp_path / "no.jsonl", target, metrics=["edit"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidDataError, match=r"the folder holds no .parquet file"):
        score_file(tmp_path / "empty", target, metrics=["edit"])
    assert left_behind(tmp_path) == []


def test_progress_reaches_the_end(outputs, tmp_path):
    states = []
    score_file(
        outputs,
        tmp_path / "s.jsonl",
        metrics=["edit"],
        workers=1,
        batch_rows=40,
        progress=states.append,
    )
    assert [state.rows for state in states] == [40, 80, 95]
    assert (states[-1].done, states[-1].total) == (95, 95)


KILLED = """
    from steelyard.scoring import score_file

    if __name__ == "__main__":
        summary = score_file(
            "{source}", "{target}", metrics=["lethal"], workers={workers}, batch_rows=10,
            notice=print,
        )
        print(summary.resumed_from)
"""


@pytest.mark.parametrize(
    ("extension", "workers"), [("jsonl", 1), ("csv.gz", 2), ("parquet", 1), ("parquet", 2)]
)
def test_a_killed_run_goes_on_and_gives_the_very_same_file(
    child, rows, tmp_path, workers, extension
):
    flat = [one | {"output": f"text {n}", "reference": "r"} for n, one in enumerate(rows)]
    source, target = tmp_path / f"o.{extension}", tmp_path / f"s.{extension}"
    write_table(pl.DataFrame(flat), source)
    script = KILLED.format(source=source.name, target=target.name, workers=workers)
    # the run is its own only process, or the parent of those that score
    process = "self" if workers == 1 else "parent"
    first = child(script, LETHAL_TEXT="text 64", LETHAL_PROCESS=process)
    assert first.returncode == -signal.SIGKILL
    assert not target.exists()
    assert parts_folder(target).is_dir()
    whole = tmp_path / f"whole.{extension}"
    second = child(script + KILLED.format(source=source.name, target=whole.name, workers=1))
    assert second.returncode == 0, second.stderr
    *_, resumed, from_the_start = second.stdout.splitlines()
    assert from_the_start == "0"
    # batches of ten: with one worker, the seventh was under way
    assert int(resumed) == 60 if workers == 1 else int(resumed) < 95
    assert ("going on from" in second.stdout) == (int(resumed) > 0)
    assert target.read_bytes() == whole.read_bytes()
    assert left_behind(tmp_path) == []


def test_a_killed_worker_ends_the_run_and_keeps_what_is_done(child, outputs, rows, tmp_path):
    script = KILLED.format(source=outputs.name, target="s.jsonl", workers=2)
    text = rows[64]["output"]
    first = child(script, LETHAL_TEXT=text, LETHAL_PROCESS="self")
    assert "ChildProcessError: a worker process was killed" in first.stderr
    assert parts_folder(tmp_path / "s.jsonl").is_dir()
    assert child(script).returncode == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [("input", "the outputs have changed"), ("metrics", "the metrics have changed")],
)
def test_a_changed_run_starts_anew_and_says_so(child, outputs, tmp_path, change, reason):
    script = KILLED.format(source=outputs.name, target="s.jsonl", workers=1)
    last = json.loads(outputs.read_text().splitlines()[-1])["output"]
    child(script, LETHAL_TEXT=last, LETHAL_PROCESS="self")
    notices = []
    if change == "input":
        outputs.write_text(outputs.read_text().replace("i7", "i8"))
    metrics = ["edit"]
    if change == "input":
        again = child(script)
        assert again.stdout.splitlines()[1] == "0"
        notices.append(again.stdout.splitlines()[0])
    else:
        got = score_file(
            outputs,
            tmp_path / "s.jsonl",
            metrics=metrics,
            workers=1,
            batch_rows=10,
            notice=notices.append,
        )
        assert got.resumed_from == 0
    assert reason in notices[0]
    assert "started anew" in notices[0]
    assert left_behind(tmp_path) == []


def test_two_runs_do_not_write_the_same_file(outputs, tmp_path):
    target = tmp_path / "s.jsonl"

    def meddle(_):
        score_file(outputs, target, metrics=["edit"], workers=1)

    with pytest.raises(InvalidArgumentError, match=r"another run is writing"):
        score_file(outputs, target, metrics=["edit"], workers=1, progress=meddle)


def test_outputs_that_change_under_way_are_refused(outputs, tmp_path):
    def meddle(_):
        with outputs.open("a") as file:
            file.write("\n")

    with pytest.raises(InvalidDataError, match=r"changed while it was scored"):
        score_file(outputs, tmp_path / "s.jsonl", metrics=["edit"], workers=1, progress=meddle)
    assert left_behind(tmp_path) == []


def test_a_disk_that_fills_up_loses_nothing(outputs, tmp_path, no_file_larger):
    target, told = tmp_path / "scored.jsonl", []
    run = {"metrics": METRICS, "workers": 1, "batch_rows": 20}
    score_file(outputs, tmp_path / "whole.jsonl", **run)
    # the parts fit in, the file does not
    with no_file_larger(8_000), pytest.raises(InvalidDataError, match="free some room there"):
        score_file(outputs, target, **run)
    assert not target.exists()
    with no_file_larger(1_000):
        # a part that does not fit leaves no half behind
        fresh = tmp_path / "fresh.jsonl"
        with pytest.raises(InvalidArgumentError, match="what is scored so far is kept"):
            score_file(outputs, fresh, **run)
        assert not list(tmp_path.glob(".fresh.jsonl.parts/*.tmp"))
    score_file(outputs, target, **run, notice=told.append)
    assert told == ["going on from an interrupted run that has scored 95 rows"]
    assert target.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
