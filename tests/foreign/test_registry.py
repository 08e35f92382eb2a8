import json
import re
from pathlib import Path

import pytest

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.foreign import FORMATS, Options, converted, format_named, formats_of
from steelyard.foreign.documents import open_document

FILES = Path(__file__).parent / "files"
EXAMPLES = {
    "argilla": ["argilla/flat.json", "argilla/nested.json"],
    "arena": ["arena/battles.jsonl", "arena/kaggle.csv", "arena/evalica.csv"],
    "deepeval": ["deepeval/latest_run_full.json", "deepeval/latest_test_run.json"],
    "helm": ["helm/run", "helm/run/scenario_state.json"],
    "inspect": ["inspect/edited.json", "inspect/epochs.eval"],
    "label-studio": ["label-studio/tasks.json", "label-studio/min.json", "label-studio/min.csv"],
    "langfuse": ["langfuse/scores.json", "langfuse/traces.jsonl", "langfuse/run_items.jsonl"],
    "lm-eval": ["lm-eval/dummy"],
    "mt-metrics-eval": ["mt-metrics-eval/wmt99"],
    "mturk": ["mturk/batch.csv"],
    "pearmut": ["pearmut/annotations.jsonl"],
    "phoenix": ["phoenix/annotations.json", "phoenix/spans.csv", "phoenix/experiment.json"],
    "potato": ["potato/ann", "potato/export.csv"],
    "prolific": ["prolific/submissions.csv"],
    "promptfoo": ["promptfoo/results.json", "promptfoo/results.jsonl", "promptfoo/version1.json"],
    "ragas": ["ragas/result.csv"],
    "wmt-mqm": ["wmt-mqm/mqm.tsv"],
}
ALL = [(name, file) for name, files in EXAMPLES.items() for file in files]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_registered_under_its_name(name):
    assert format_named(name).name == name


def test_every_tool_has_a_file():
    assert EXAMPLES.keys() | {"own", "wide", "price-of-debiasing"} == FORMATS.keys()


@pytest.mark.parametrize(("name", "file"), ALL)
def test_a_file_is_recognised_by_its_own_format_and_no_other(name, file):
    document = open_document(FILES / file)
    assert [found.name for found in formats_of(document)] == [name]


@pytest.mark.parametrize(("name", "file"), ALL)
def test_a_wrong_name_is_answered_with_the_right_one(name, file):
    wrong = "inspect" if name != "inspect" else "promptfoo"
    with pytest.raises(InvalidDataError, match=f"it looks like {name}: --from {name}$"):
        converted([FILES / file], wrong)


def test_an_unknown_file_is_described_with_all_names(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"alpha": 1, "beta": [2]}))
    with pytest.raises(
        InvalidDataError, match=r"a JSON object with the keys `alpha`, `beta`"
    ) as refusal:
        converted([path])
    assert all(name in str(refusal.value) for name in FORMATS)
    with pytest.raises(InvalidDataError, match=r"no file of inspect, which has a log with `eval`"):
        converted([path], "inspect")


def test_an_unknown_table_may_be_wide(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("doc,ann,bob\n1,2,3\n")
    with pytest.raises(
        InvalidDataError, match=re.escape("--wide PATTERN, such as '{rater}_{system}'")
    ):
        converted([path])


def test_files_of_two_tools_are_refused():
    paths = [FILES / "inspect/edited.json", FILES / "ragas/result.csv"]
    with pytest.raises(InvalidDataError, match=r"looks like inspect, .* looks like ragas: convert"):
        converted(paths)


def test_a_known_file_beside_an_unknown_one_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidDataError, match="not recognised"):
        converted([FILES / "inspect/edited.json", path])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"only": {"filter": "x"}}, "`--only` can name epoch or prompt in files of inspect"),
        ({"columns": {"text": "x"}}, "`--column` can name item or system in files of inspect"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, says):
    with pytest.raises(InvalidArgumentError, match=re.escape(says)):
        converted([FILES / "inspect/edited.json"], "inspect", Options(**options))


def test_wide_patterns_are_for_wide_tables():
    with pytest.raises(InvalidArgumentError, match="`--wide` is for wide tables"):
        converted([FILES / "inspect/edited.json"], "inspect", Options(wide=("{rater}",)))


def test_errors_about_all_files_name_the_first():
    with pytest.raises(InvalidDataError, match=r"result\.csv: no output and no judgment was found"):
        converted([FILES / "ragas/result.csv"])


@pytest.mark.parametrize(
    "file", ["arena/battles.jsonl", "wmt-mqm/mqm.tsv", "pearmut/annotations.jsonl"]
)
def test_an_option_that_would_be_ignored_is_refused(file):
    with pytest.raises(InvalidArgumentError, match="`--system` is for files that do not name"):
        converted([FILES / file], options=Options(system="s"))


def test_a_misspelt_format_is_answered_with_the_nearest_name():
    with pytest.raises(InvalidArgumentError, match="got 'promtfoo': did you mean promptfoo"):
        format_named("promtfoo")


def test_a_text_is_no_table(tmp_path):
    path = tmp_path / "notes.md"
    path.write_text("# Notes\n\nOne, two, three.\n")
    with pytest.raises(
        InvalidDataError, match=r"notes\.md: not recognised: a text that starts with"
    ):
        converted([path])


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("mturk/batch.csv", {"columns": {"output": "Input.text"}}),
        ("inspect/edited.json", {"columns": {"item": "uid"}}),
        ("label-studio/min.csv", {"columns": {"score": "tone"}}),
        (
            "wide/per_rater.csv",
            {"columns": {"output": "{system}_text"}, "wide": ("{rater:ann|bob}",)},
        ),
    ],
)
def test_a_column_that_no_record_has_is_refused(file, options):
    ((ours, theirs),) = options["columns"].items()
    with pytest.raises(
        InvalidArgumentError, match=re.escape(f"`--column` {ours}={theirs}: no record")
    ):
        converted([FILES / file], options=Options(**options))
