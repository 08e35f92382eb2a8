"""Every command and every piece of Python that users read runs as it is written."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from made_up_files import write_files, write_lines
from snippets import blocks, commands
from steelyard.cli import main
from steelyard.testing import check_gate

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/tutorial").glob("*.md"))]
PAGES += sorted((ROOT / "docs/how-to").glob("*.md"))
PAGES += [ROOT / "docs/reference/python.md", ROOT / "docs/reference/campaign.md"]

# What cannot run here, by how it begins, and why.
NOT_RUN = {
    "make ": "installs and runs everything; tests/cli has what it calls",
    "pip install": "installs; `make wheel` does it",
    "steelyard demo": "tests/cli/test_demo.py; the files that it makes are there",
    "steelyard paper": "half a minute; tests/cli/test_paper.py",
    "steelyard serve": "serves until it is stopped; tests/cli/test_serve.py, tests/browser",
    "steelyard judge": "asks a server; tests/cli/test_judge.py",
    "steelyard compare side-by-side/": "an export of the server; tests/collect/web/test_ranking.py",
    "vllm ": "another program",
    "createdb ": "another program",
    "sqlite3 ": "another program",
    "umask ": "another program",
    "pg_dump ": "another program",
    "docker ": "another program; tests/docs/test_operation.py",
    "dask ": "starts a cluster; tests/scoring",
    "export DASK": "a setting of another program",
    "steelyard score pool.parquet": "starts a cluster; tests/scoring",
    "steelyard convert --from price-of-debiasing": "needs the authors' files",
    "steelyard diagnose converted/": "needs the authors' files",
    "steelyard diagnose judged.jsonl judgments.jsonl --metric judge.fluency --worth": (
        "its exit code is the verdict; tests/cli/test_diagnose.py"
    ),
    "# score_on_slurm.py": "needs a cluster",
    "from steelyard.judge import judge": "asks a server; tests/judge",
}


# With the 200 replays of the pages these take a minute.
FEWER = {"replay": ["--runs", "4"]}


def why_not_run(text):
    """Return the beginning under which a text is listed, or None."""
    return next((beginning for beginning in NOT_RUN if text.startswith(beginning)), None)


def plain(command):
    """Return a command without the folder of an environment, with single blanks."""
    return re.sub(r" +", " ", command.removeprefix(".venv/bin/"))


@pytest.fixture(scope="module")
def demo_files(tmp_path_factory):
    """Return the folder that `steelyard demo` makes, without its report."""
    from steelyard.demo import campaign

    folder = tmp_path_factory.mktemp("demo") / "steelyard-demo"
    folder.mkdir()
    made = campaign()
    write_lines(folder / "outputs.jsonl", made.outputs)
    write_lines(folder / "judgments.jsonl", made.judgments)
    return folder


@pytest.fixture
def here(tmp_path, monkeypatch, demo_files):
    """Return an empty folder to work in, with the files that the pages speak of."""
    write_files(tmp_path)
    pl.read_ndjson(tmp_path / "outputs.jsonl").write_parquet(tmp_path / "pool.parquet")
    (tmp_path / "steelyard-demo").symlink_to(demo_files)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_python_of_a_page_run(page, here, capsys):
    names = {"__name__": "page", "sy": sy, **_python_names(here)}
    for block in blocks(page.read_text(encoding="utf-8")):
        place = f"{page.name}:{block.line}"
        if block.language == "python" and not why_not_run(block.text):
            exec(compile(block.text, place, "exec"), names)  # noqa: S102
            for name in [name for name in names if name.startswith("test_")]:
                names.pop(name)(check_gate)
        if block.language == "csv":
            _named_after(block, page).write_text(block.text)
        if block.text.startswith("#!") and why_not_run(block.text):
            continue
        for command in commands(block):
            if why_not_run(plain(command.written)):
                continue
            capsys.readouterr()
            program, *arguments = command.arguments(here)
            assert program.rsplit("/")[-1] == "steelyard", place
            with pytest.raises(SystemExit) as stop:
                main([*arguments, *FEWER.get(arguments[0], [])])
            shown = capsys.readouterr()
            assert stop.value.code == 0, f"{place}: {command.written}: {shown.err}"
            if command.printed is not None:
                assert _lines(shown.out + shown.err) == _lines(command.printed), place


def test_nothing_is_listed_that_no_page_has():
    found = [
        text
        for page in PAGES
        for block in blocks(page.read_text(encoding="utf-8"))
        for text in [block.text, *(plain(command.written) for command in commands(block))]
    ]
    for beginning in NOT_RUN:
        assert any(text.startswith(beginning) for text in found), beginning


def _lines(text):
    return [line.rstrip() for line in text.strip().splitlines()]


def _named_after(block, page):
    """Return the file that a table is shown for: the one that the next command names."""
    after = page.read_text(encoding="utf-8").split(block.text, 1)[1]
    return Path(re.search(r"[\w-]+\.csv", after)[0])


def _python_names(folder):
    """Return the names that pieces of Python take for granted."""
    rows, judgments = (
        [json.loads(line) for line in (folder / name).read_text().splitlines()]
        for name in ("outputs.jsonl", "judgments.jsonl")
    )
    metric = [row["rouge-l"] for row in rows if row["system"] == "new"]
    return {
        "outputs_frame": [{"doc_id": row.pop("item"), **row} for row in rows],
        "judgments_list": judgments,
        "study": sy.Study.read("outputs.jsonl", "judgments.jsonl"),
        "human": [value + number % 3 for number, value in enumerate(metric[:40])],
        "metric": metric[:40],
        "metric_pool": metric,
        "items": list(range(40)),
        "first_part": metric[:200],
        "second_part": metric[200:],
    }
