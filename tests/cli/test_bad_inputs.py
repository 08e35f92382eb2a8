"""Bad files, by hand: each is refused in one clear line, with code 2, and stays as it was."""

import gzip
import json
import re

import polars as pl
import pytest

from spreadsheets import write_xlsx

OUTPUTS = "item,system,output,g\n" + "".join(f"{n},a,x,{n % 4}\n" for n in range(12))
JUDGED = "item,system,rater,prompt,score\n" + "".join(
    f"{n},a,r{n % 3},p,{n % 2}\n" for n in range(8)
)
OBJECT = {"item": "1", "system": "a", "rater": "r", "prompt": "p", "score": 1}
ROW = {"item": "1", "system": "a", "output": "x", "g": 1.0}


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def without(record, *names):
    return {name: value for name, value in record.items() if name not in names}


def parquet(folder, frame):
    frame.write_parquet(folder / "made.parquet")
    return (folder / "made.parquet").read_bytes()


def xlsx(folder, sheets):
    return write_xlsx(folder / "made.xlsx", sheets).read_bytes()


# The judgments: name of the file, content, and what the line must say.
JUDGMENTS = [
    ("j.csv", b"", "the file is empty"),
    ("j.csv", "\n\n\n", "only blank lines"),
    ("j.csv", " ", "holds no rows"),
    ("j.csv", "item,system,rater,prompt,score\n", "holds no rows"),
    ("j.csv", ",,,,\n,,,,\n", "two columns are named"),
    ("j.csv", JUDGED + "9,a,r,p,good\n", "line 10, column score: .*'good'"),
    ("j.csv", JUDGED + "9,a,r,p,inf\n", "'inf'"),
    ("j.csv", JUDGED + "9,a,r,p,1e999\n", "'1e999'"),
    ("j.csv", JUDGED + "9,a,r,p,5/7\n", "'5/7'"),
    ("j.csv", JUDGED + "9,a,r,p,1 000\n", "'1 000'"),
    ("j.csv", JUDGED + "9,a,r,p,\uff13\n", "'\uff13'"),
    ("j.csv", JUDGED + "9,a,r,p,#REF!\n", "'#REF!'"),
    ("j.csv", JUDGED + "9,a,r,p,=1+1\n", "'=1\\+1'"),
    (
        "j.csv",
        JUDGED + '9,a,r,p,"1,500"\n',
        "'1,500': say whether .*steelyard convert .*--decimal ,",
    ),
    ("j.csv", JUDGED + ",a,r,p,1\n", "line 10, column item: .* got nothing"),
    ("j.csv", JUDGED + "9,,r,p,1\n", "column system"),
    ("j.csv", JUDGED + "9,a,,p,1\n", "column rater"),
    ("j.csv", JUDGED + "9,a,r,,1\n", "column prompt"),
    ("j.csv", JUDGED + "9,a,r\n", "column prompt: .* got nothing"),
    ("j.csv", JUDGED + "9,a,r,p,1,extra\n", "line 10: expected 5 fields, got 6"),
    ("j.csv", JUDGED + '9,a,"r,p,1\n', "line 10: a quotation mark opens here and never closes"),
    ("j.csv", JUDGED + '9,a,"r"x,p,1\n', "quotation marks"),
    ("j.csv", JUDGED + "0,a,r0,p,1\n", "already on line 2: take their mean .*--on-duplicate mean"),
    ("j.csv", JUDGED + "99,a,r,p,1\n", "item '99' by system 'a' is judged but not in"),
    ("j.csv", JUDGED + "9,A,r,p,1\n", "is judged but not in"),
    ("j.csv", JUDGED + "9.0,a,r,p,1\n", "an item there is '9', so write whole numbers without .0"),
    ("j.csv", JUDGED + "9,a ,r,p,1\n", "is judged but not in"),
    ("j.csv", JUDGED.replace("score", "Score"), "`Score` looks like `score`.* run: "),
    ("j.csv", JUDGED.replace("score", "rating"), "`rating` looks like `score`"),
    ("j.csv", JUDGED.replace("item", "doc_id"), "`doc_id` looks like `item`"),
    ("j.csv", JUDGED.replace("system", "model"), "`model` looks like `system`"),
    ("j.csv", JUDGED.replace("rater", "worker_id"), "`worker_id` looks like `rater`"),
    ("j.csv", JUDGED.replace("prompt", "criterion"), "`criterion` looks like `prompt`"),
    ("j.csv", JUDGED.replace("score", "verdict"), "no column `score`; the columns are"),
    ("j.csv", JUDGED.replace("rater", "item"), "two columns are named `item`"),
    ("j.csv", (JUDGED + "9,ä,r,p,1\n").encode("latin-1"), "line 10: the bytes are not UTF-8"),
    ("j.csv", b"\xff\xfe\x00", "neither UTF-8 nor UTF-16|cannot be read"),
    ("j.csv", bytes(range(256)), "j.csv"),
    ("j.csv", b"\x00" * 64, "j.csv"),
    ("j.csv", "<html>\n<body>503</body>\n</html>\n", "no column"),
    ("j.csv", '{"item": 1}\n{"item": 2}\n', "no column"),
    ("j.txt", JUDGED, "the extension must be .* got '.txt': rename"),
    ("j", JUDGED, "the extension must be"),
    ("j.csv.bz2", b"BZh9", "the extension must be"),
    ("j.csv.gz", JUDGED.encode()[:40], "no column|holds no rows|line|is judged|blank on all"),
    ("j.csv.gz", gzip.compress(JUDGED.encode(), mtime=0)[:40], "cannot be read"),
    ("j.csv.gz", gzip.compress(b"", mtime=0), "j.csv.gz"),
    ("j.csv.zst", b"\x28\xb5\x2f\xfdxx", "cannot be read"),
    ("j.jsonl", "", "the file is empty"),
    ("j.jsonl", "\n \n", "only blank lines"),
    ("j.jsonl", "{", "line 1: expected a JSON object, got malformed JSON"),
    ("j.jsonl", "nonsense\n", "malformed JSON"),
    ("j.jsonl", lines(OBJECT) + "[1]\n", "line 2: expected a JSON object, got"),
    ("j.jsonl", lines(OBJECT) + "null\n", "line 2|cannot be read"),
    ("j.jsonl", lines(OBJECT)[:-10], "malformed JSON"),
    ("j.jsonl", lines(OBJECT, {**OBJECT, "item": 2, "score": "x"}), "line 2, column score: .*'x'"),
    ("j.jsonl", lines({**OBJECT, "score": [1]}), "column score: expected finite numbers"),
    ("j.jsonl", lines({**OBJECT, "score": {"value": 1}}), "column score: expected finite numbers"),
    ("j.jsonl", lines({**OBJECT, "item": [1]}), "column item: expected text or whole numbers"),
    ("j.jsonl", lines({**OBJECT, "item": 1.5}), "column item: .*1.5"),
    ("j.jsonl", lines({**OBJECT, "item": True}), "column item: .*Boolean"),
    ("j.jsonl", lines({**OBJECT, "item": ""}), "column item: .*''"),
    ("j.jsonl", lines({**OBJECT, "rater": None}), "column rater: .*nothing"),
    ("j.jsonl", lines(without(OBJECT, "score", "item")), "no column `item`, `score`"),
    ("j.jsonl", lines({**OBJECT, "seconds": "long"}), "column seconds"),
    ("j.jsonl", lines({**OBJECT, "probability": 2}), "column probability"),
    ("j.jsonl", lines(OBJECT, OBJECT), "already on line 1"),
    ("j.jsonl", lines({}), "no column|holds no rows|cannot be read"),
    ("j.jsonl", '{"score": NaN}\n', "blank on all|line 1"),
    ("j.jsonl", lines(OBJECT).encode("utf-16-be"), "j.jsonl"),
    ("j.json", "[1, 2]", "record 1: expected a record"),
    ("j.json", "[]", "holds no rows"),
    ("j.json", "[{}]", "no column|holds no rows"),
    ("j.json", "{", "malformed JSON"),
    ("j.json", json.dumps([OBJECT])[:-1], "malformed JSON"),
    ("j.json", '"text"', "got str"),
    ("j.json", json.dumps([{**OBJECT, "score": "x"}]), "row 1, column score: .*'x'"),
    ("j.parquet", b"PAR1", "cannot be read"),
    ("j.parquet", JUDGED, "cannot be read"),
    ("j.parquet", lambda folder: parquet(folder, pl.DataFrame([OBJECT]))[:-6], "cannot be read"),
    ("j.parquet", lambda folder: parquet(folder, pl.DataFrame([OBJECT]).clear()), "holds no rows"),
    ("j.parquet", lambda folder: parquet(folder, pl.DataFrame({"x": [1]})), "no column"),
    ("j.parquet.gz", b"PAR", "compresses its own columns"),
    ("j.xlsx", b"PK\x03\x04", "cannot be read as a spreadsheet"),
    ("j.xlsx", JUDGED, "cannot be read as a spreadsheet"),
    ("j.xlsx", lambda folder: xlsx(folder, {"s": []}), "holds no rows"),
    (
        "j.xlsx",
        lambda folder: xlsx(folder, {"s": [["item"]], "t": [["item"]]}),
        "holds 2 sheets: s, t",
    ),
    ("j.xlsx", lambda folder: xlsx(folder, {"s": [["item", "item"], [1, 2]]}), "are named `item`"),
    (
        "j.xlsx",
        lambda folder: xlsx(folder, {"s": [["item", "system", "score"], [1, "a", "#N/A"]]}),
        "score",
    ),
]
POOLS = [
    ("o.csv", "item,system,output,g\n", "holds no rows"),
    ("o.csv", OUTPUTS + "1,a,x,1\n", "is there already on line 3: keep one of them"),
    ("o.csv", OUTPUTS + ",a,x,1\n", "line 14, column item"),
    ("o.csv", OUTPUTS + "13,,x,1\n", "line 14, column system"),
    ("o.csv", OUTPUTS + "13,a,x,1,2\n", "expected 4 fields, got 5"),
    ("o.csv", OUTPUTS.replace(",g", ",item"), "two columns are named `item`"),
    ("o.csv", OUTPUTS.replace("item", "Item"), "`Item` looks like `item`"),
    ("o.csv", "item,system\n1,a\n", "no column `output`"),
    (
        "o.tsv",
        "item\tsystem\tg\n1\ta\t1,500\n",
        "column g: the cells look like numbers with commas",
    ),
    ("o.jsonl", lines(without(ROW, "output", "g")), "no column `output`"),
    ("o.jsonl", lines({**ROW, "output": ["x"]}), "column output: expected text"),
    ("o.jsonl", lines({**ROW, "reference": {"a": 1}}), "column reference"),
    ("o.jsonl", lines(ROW, ROW), "is there already on line 1"),
    (
        "o.parquet",
        lambda folder: parquet(folder, pl.DataFrame([ROW, ROW])),
        "there already on row 1",
    ),
    ("o.parquet", lambda folder: parquet(folder, pl.DataFrame({"g": [1]})), "no column"),
]
USES = [
    (("--column", "item"), "`--column` must look like"),
    (("--column", "item=nowhere"), "column 'nowhere' is mapped to 'item' but found in neither"),
    (("--column", "judgments:what=nowhere"), "mapped to .what. but not found in judgments"),
    (("--system", "--metric"), "must be followed by a name"),
    (("--system", "a", "--system", "-a"), "and leaves it out"),
    (("--system", "-z"), "must name systems of .*: a; got 'z'"),
    (("--system", "-a"), "leaves nothing of"),
    (("--prompt", "q"), "prompt 'q' has no judgments in .*; there are: p"),
    (("--system", "z"), "system 'z' has no judgments in .*; there are: a"),
    (("--metric", "h"), "no metric `h` among the columns that hold numbers; there are: g"),
]


def written(folder, name, content):
    path = folder / name
    content = content(folder) if callable(content) else content
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(run, match, *arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("steelyard: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert re.search(match, err), err


def identified(cases):
    return [pytest.param(*case, id=f"{number}-{case[0]}") for number, case in enumerate(cases)]


@pytest.mark.parametrize(("name", "content", "match"), identified(JUDGMENTS))
def test_bad_judgments_are_refused_in_one_line(run, tmp_path, name, content, match):
    outputs = written(tmp_path, "outputs.csv", OUTPUTS)
    path = written(tmp_path, name, content)
    before = path.read_bytes()
    refused(run, match, "estimate", outputs, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("name", "content", "match"), identified(POOLS))
def test_bad_outputs_are_refused_in_one_line(run, tmp_path, name, content, match):
    path = written(tmp_path, name, content)
    before = path.read_bytes()
    refused(run, match, "estimate", path, written(tmp_path, "judgments.csv", JUDGED))
    assert path.read_bytes() == before


@pytest.mark.parametrize(("options", "match"), USES, ids=lambda value: " ".join(value)[:30])
def test_bad_choices_are_refused_in_one_line(run, tmp_path, options, match):
    outputs = written(tmp_path, "o.csv", OUTPUTS)
    refused(run, match, "estimate", outputs, written(tmp_path, "j.csv", JUDGED), *options)


@pytest.mark.parametrize("name", ["nowhere.csv", "no/folder.csv", "*.parquet", ".", "o.csv#Sheet"])
def test_names_of_nothing_are_refused_in_one_line(run, tmp_path, name):
    written(tmp_path, "o.csv", OUTPUTS)
    refused(run, "", "estimate", tmp_path / name, tmp_path / "o.csv")


@pytest.mark.parametrize(("name", "content", "match"), identified([*JUDGMENTS, *POOLS]))
def test_check_says_something_of_every_bad_file(run, tmp_path, name, content, match):
    assert match
    path = written(tmp_path, name, content)
    code, out, err = run("check", path)
    assert code in {0, 2}
    assert (err.count("\n"), bool(out)) == ((0, True) if code == 0 else (1, False))
    assert "Traceback" not in out + err


def test_a_missing_file_is_said_before_what_else_is_needed(run):
    code, _, err = run("estimate", "nowhere.jsonl")
    assert (code, err) == (2, "steelyard: nowhere.jsonl: no such file\n")
