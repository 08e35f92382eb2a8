import json
import re

import click
import polars as pl
import pytest
from jsonschema_rs import meta

from printed_json import schema_errors
from steelyard.cli.main import steelyard
from steelyard.schemas import COMMANDS, schema


def commands_with_json():
    context = click.Context(steelyard)
    for name in steelyard.list_commands(context):
        command = steelyard.get_command(context, name)
        if any("--json" in option.opts for option in command.params):
            yield name


def test_every_command_with_json_has_a_schema():
    assert list(COMMANDS) == list(commands_with_json())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_schema_is_valid_and_named(command):
    found = schema(command)
    meta.validate(found)
    assert re.fullmatch(rf"steelyard/{command}/[0-9]+", found["$id"])


def objects(value):
    """Return all parts of a schema that are about objects with keys of their own."""
    if isinstance(value, dict):
        if "properties" in value:
            yield value
        for one in value.values():
            yield from objects(one)
    elif isinstance(value, list):
        for one in value:
            yield from objects(one)


@pytest.mark.parametrize("command", COMMANDS)
def test_objects_have_all_of_their_keys_and_no_others(command):
    for one in objects(schema(command)):
        assert one["additionalProperties"] is False
        assert set(one["properties"]) == set(one["required"])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"surprise": 1}, "surprise"),
        ({"estimate": "0.5"}, "is not of type"),
        ({"estimate": None}, "is not of type"),
        ({"about": "everything"}, "everything"),
        ({"n_judgments": 1.5}, "is not of type"),
        ({"notes": None}, "is not of type"),
    ],
)
def test_what_does_not_follow_is_found(run, campaign, change, says):
    _, out, _ = run("estimate", *campaign, "--metric", "length", "--json")
    first, *rest = json.loads(out)
    assert schema_errors("estimate", [first, *rest]) == []
    [error] = schema_errors("estimate", [first | change, *rest])
    assert says in error


def test_a_missing_key_is_found(run, campaign):
    _, out, _ = run("estimate", *campaign, "--metric", "length", "--json")
    rows = json.loads(out)
    del rows[1]["about"]
    [error] = schema_errors("estimate", rows)
    assert '"about" is a required property' in error


# What follows is held against its schema by `run`; each case has something that is null or missing.


def test_estimates_without_metrics_and_raters(run, campaign, tmp_path):
    outputs, judgments = campaign
    anonymous = tmp_path / "anonymous.jsonl"
    pl.read_ndjson(judgments).drop("rater").write_ndjson(anonymous)
    code, out, _ = run("estimate", outputs, anonymous, "--metric", "none", "--json")
    first = json.loads(out)[0]
    assert code == 0
    assert (first["n_raters"], first["these_raters"], first["metrics"]) == (None, None, [])


def test_a_diagnosis_without_metrics_and_second_judgments(run, campaign, tmp_path):
    outputs, judgments = campaign
    thin = tmp_path / "thin.jsonl"
    pl.read_ndjson(judgments).unique(["item", "system"], maintain_order=True).write_ndjson(thin)
    bare = tmp_path / "bare.jsonl"
    pl.read_ndjson(outputs).drop("length", "noise").write_ndjson(bare)
    code, out, _ = run("diagnose", bare, thin, "--json")
    [found] = json.loads(out)
    assert (code, found["judges"]) == (0, [])
    assert found["noise_share"] == {"value": None, "low": None, "high": None}


def test_a_plan_that_is_out_of_reach(run):
    assumed = ("item-variance=1", "rater-variance=50", "correlation=0.9", "pool-size=20")
    options = [part for one in assumed for part in ("--assume", one)]
    code, out, _ = run("plan", *options, "--half-width", 0.12, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["assured"] is None


def test_files_that_are_no_tables_of_ours(run, campaign, tmp_path):
    (tmp_path / "wide.csv").write_text("question,ann_gpt,ann_opt,bob_gpt\n1,2,3,4\n")
    (tmp_path / "notes.txt").write_text("nothing to see here")
    (tmp_path / "one.csv").write_text("item,output,score\n1,a,0.5\n2,b,0.7\n")
    for name in ("wide.csv", "notes.txt", "one.csv"):
        code, out, _ = run("check", tmp_path / name, "--json")
        assert code == 0
        assert len(json.loads(out)["files"]) == 1
    code, out, _ = run("check", *campaign, "--json")
    assert [one["kind"] for one in json.loads(out)["files"]] == ["outputs", "judgments"]
