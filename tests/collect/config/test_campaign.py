import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.collect.config import campaign as campaign_module
from steelyard.collect.config import parts as campaign_parts
from steelyard.collect.config.campaign import check_metrics, load_campaign
from steelyard.collect.config.declared import Declared
from steelyard.collect.config.parts import Sample
from steelyard.collect.integrations import panels
from steelyard.collect.tasks import (
    check_answer,
    check_content,
    choices,
    derive_scores,
    read_gold,
    score_bounds,
    scores,
    task,
    tutorial,
    widgets,
)
from steelyard.errors import InvalidDataError
from steelyard.tables import read_outputs

PAGE = Path("docs/reference/campaign.md")
EXAMPLES = Path(campaign_module.__file__).parent.parent / "examples"
CAMPAIGN = """\
title: Our texts
outputs: outputs.jsonl
task: language-quality
sample: {n: 12, seed: 1}
judgments_per_output: 2
metrics: [rouge-l]
goal: {half_width: 0.05, prompts: [overall]}
panel: {kind: prolific, complete: C1}
session: {judgments: 20}
pay: {currency: USD, per_judgment: 0.25, tutorial_bonus: 0.5}
quality:
  active_seconds: 4
  agreement: 0.5
public_url: https://judge.example.org
"""


def write(folder, text, **files):
    (folder / "outputs.jsonl").write_text('{"item": 1, "system": "a", "output": "x"}\n')
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content, encoding="utf-8")
    path = folder / "campaign.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_campaign_is_read_whole(tmp_path):
    campaign = load_campaign(write(tmp_path, CAMPAIGN))
    assert campaign.title == "Our texts"
    assert campaign.task.name == "language-quality"
    assert campaign.outputs == tmp_path / "outputs.jsonl"
    assert campaign.directory == tmp_path
    assert campaign.database == str(tmp_path / "campaign.sqlite")
    assert campaign.sample == Sample(n=12, seed=1, same_items=True)
    assert (campaign.goal.level, campaign.goal.budget) == (0.95, None)
    assert campaign.goal_prompts == ("overall",)
    assert (campaign.panel.kind, campaign.panel.screen_out) == ("prolific", None)
    assert campaign.quality.agreement == 0.5
    assert campaign.quality.edit_characters is None
    assert campaign.lease_minutes == 10


def test_four_keys_are_enough(tmp_path):
    text = "title: T\noutputs: outputs.jsonl\ntask: language-quality\nsample: {n: 1, seed: 0}\n"
    campaign = load_campaign(str(write(tmp_path, text)))
    assert campaign.goal is None
    assert campaign.goal_prompts == campaign.task.prompts
    assert campaign.panel.kind == "invitation"
    assert campaign.pay.per_judgment == 0
    assert campaign.session.judgments is None


def test_a_database_may_be_a_server_and_a_sample_a_file(tmp_path):
    text = CAMPAIGN.replace("{n: 12, seed: 1}", "drawn.jsonl")
    text += "database: postgresql://user:secret@db/campaign\n"
    campaign = load_campaign(write(tmp_path, text, drawn_jsonl="{}\n"))
    assert campaign.sample == tmp_path / "drawn.jsonl"
    assert campaign.database == "postgresql://user:secret@db/campaign"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("half_width: 0.05", "half_width: -1", "line 7, key goal.half_width: must be greater than 0; got -1"),
        ("half_width: 0.05", "half_widht: 0.05", "line 7, key goal.half_widht: is not a key here; did you mean `half_width`?"),
        ("half_width: 0.05", "half_width: wide", "line 7, key goal.half_width: must be a number; got 'wide'"),
        ("half_width: 0.05, ", "", "line 7, key goal: must have either half_width or decide"),
        ("half_width: 0.05", "half_width: .nan", "line 7, key goal.half_width: must be a finite number"),
        ("half_width: 0.05", "half_width: 0.05, level: 1", "line 7, key goal.level: must be less than 1; got 1"),
        ("half_width: 0.05", "half_width: 0.05, method: magic", "line 7, key goal.method: is gone: intervals that hold at all times need no choice of a method any more"),
        ("prompts: [overall]", "prompts: [ovrall]", "line 7, key goal.prompts[0]: 'ovrall' is no prompt of the task language-quality; did you mean `overall`?"),
        ("prompts: [overall]", "prompts: [overall, overall]", "line 7, key goal.prompts[1]: 'overall' is there twice"),
        ("prompts: [overall]", "prompts: overall", "line 7, key goal.prompts: must be a list; got 'overall'"),
        ("title: Our texts\n", "email: {host: a}\ntitle: Our texts\n", "line 1, key email: is gone: set `webhook`"),
        ("title: Our texts\n", "", "line 1, key title: must be given"),
        ("outputs: outputs.jsonl\n", "", "line 1, key outputs: must be given"),
        ("outputs: outputs.jsonl", "outputs: output.jsonl", "line 2, key outputs: there is no file output.jsonl in "),
        ("outputs: outputs.jsonl", "outputs: 3", "line 2, key outputs: must be the path of a file; got 3"),
        ("task: language-quality", "task: languge-quality", "line 3, key task: there is no file 'languge-quality'; did you mean `language-quality`?"),
        ("task: language-quality", "task: [a]", "line 3, key task: must be a file or a name; got a list"),
        ("task: language-quality\n", "", "line 1, key task: must be given"),
        ("{n: 12, seed: 1}", "{n: 0, seed: 1}", "line 4, key sample.n: must be greater than 0; got 0"),
        ("{n: 12, seed: 1}", "{n: 1.5, seed: 1}", "line 4, key sample.n: must be a whole number; got 1.5"),
        ("{n: 12, seed: 1}", "{n: 12}", "line 4, key sample.seed: must be given"),
        ("{n: 12, seed: 1}", "{n: 12, sed: 1}", "line 4, key sample.sed: is not a key here; did you mean `seed`?"),
        ("{n: 12, seed: 1}", "{n: 12, seed: 1, systems: [a, a]}", "line 4, key sample.systems[1]: 'a' is there twice"),
        ("{n: 12, seed: 1}", "12", "line 4, key sample: must have n and seed, or be a file; got 12"),
        ("{n: 12, seed: 1}", "drawn.jsonl", "line 4, key sample: there is no file drawn.jsonl"),
        ("judgments_per_output: 2", "judgments_per_output: true", "line 5, key judgments_per_output: must be a whole number; got true"),
        ("metrics: [rouge-l]", "metrics: [rouge-l, rouge-l]", "line 6, key metrics[1]: 'rouge-l' is there twice"),
        ("metrics: [rouge-l]", "metric: [rouge-l]", "line 6, key metric: is not a key here; did you mean `metrics`?"),
        ("kind: prolific", "kind: prolifik", "line 8, key panel: kind 'prolifik' is not known; did you mean `prolific`?"),
        ("kind: prolific, complete: C1", "complete: C1", "line 8, key panel: must have the key `kind`"),
        (", complete: C1", "", "line 8, key panel.complete: must be given"),
        ("complete: C1", "complete: 123", "line 8, key panel.complete: must be text; got 123: put it in quotation marks"),
        ("{judgments: 20}", "20", "line 9, key session: must hold keys with values; got 20"),
        ("currency: USD", "currency: dollars", "line 10, key pay.currency: must match"),
        ("per_judgment: 0.25", "per_judgment: -0.25", "line 10, key pay.per_judgment: must be at least 0; got -0.25"),
        ("agreement: 0.5", "agreement: 50", "key quality.agreement: must be at most 1; got 50"),
        ("agreement: 0.5", "agreement: {share: 0.5}", "key quality.agreement: is the share alone now"),
        ("active_seconds: 4", "gold_failures: 2", "line 12, key quality.gold_failures: needs `gold`"),
        ("title: Our texts\n", "limits: {body_bytes: 9}\ntitle: Our texts\n", "key limits: is gone: how large"),
        ("title: Our texts\n", "link_days: 9\ntitle: Our texts\n", "key link_days: is gone: links hold for 90"),
        ("title: Our texts\n", "webhook: {url: x}\ntitle: Our texts\n", "key webhook: is the address alone now"),
        ("https://judge.example.org", "judge.example.org", "line 14, key public_url: must be like https://example.org; got 'judge.example.org'"),
        ("title: Our texts", "title: Our texts\ngold: {file: gold.jsonl, every: 10}", "line 2, key gold.file: there is no file gold.jsonl"),
        ("title: Our texts", "title: Our texts\ngold: {file: outputs.jsonl, every: 1}", "line 2, key gold.every: must be at least 2; got 1"),
        ("title: Our texts", "title: Our texts\ndatabase: mysql://root:secret@db/x", "line 2, key database: must be the path of a file, or an address that begins postgresql://"),
        ("title: Our texts", "title: Our texts\ntitle: Again", "line 2, key title: the key is there twice, first on line 1"),
        ("  active_seconds", "\tactive_seconds", "line 12: is not YAML: a tab cannot indent"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_by_file_line_and_key(tmp_path, old, new, message):
    assert old in CAMPAIGN
    with pytest.raises(InvalidDataError) as caught:
        load_campaign(write(tmp_path, CAMPAIGN.replace(old, new, 1)))
    said = str(caught.value)
    assert said.startswith("campaign.yaml, line ")
    assert message in said
    assert "\n" not in said
    assert "secret" not in said


def test_a_mistake_in_the_task_file_is_named_there(tmp_path):
    path = write(tmp_path, CAMPAIGN.replace("language-quality", "mine.yaml"), mine_yaml="name: x\n")
    with pytest.raises(InvalidDataError, match=r"^mine.yaml, line 1, key title: must be given$"):
        load_campaign(path)


def test_a_missing_campaign_is_named(tmp_path):
    with pytest.raises(InvalidDataError, match=r"none.yaml: cannot be read"):
        load_campaign(tmp_path / "none.yaml")


def test_pairs_need_two_systems_on_the_same_items(tmp_path):
    text = CAMPAIGN.replace("language-quality", "pairwise").replace(
        "prompts: [overall]", "prompts: []"
    )
    with pytest.raises(InvalidDataError, match=r"line 4, key sample.systems: must name the two"):
        load_campaign(write(tmp_path, text))
    text = text.replace("seed: 1}", "seed: 1, systems: [a, b], same_items: false}")
    with pytest.raises(InvalidDataError, match=r"line 4, key sample.same_items: must be true"):
        load_campaign(write(tmp_path, text))
    campaign = load_campaign(write(tmp_path, text.replace(", same_items: false", "")))
    assert campaign.sample.systems == ("a", "b")
    assert campaign.goal_prompts == ("preference",)


def test_metrics_are_numeric_columns(tmp_path):
    campaign = load_campaign(write(tmp_path, CAMPAIGN))
    check_metrics(campaign, ["rouge-l", "bleu"])
    with pytest.raises(
        InvalidDataError,
        match=r"^campaign.yaml, line 6, key metrics\[0\]: 'rouge-l' is no numeric column of "
        r"outputs.jsonl; did you mean `rouge-1`\?$",
    ):
        check_metrics(campaign, ["rouge-1", "bleu"])
    with pytest.raises(InvalidDataError, match="there is none"):
        check_metrics(campaign, [])


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("title: Our texts", "title: Other", True),
        ("half_width: 0.05", "half_width: 0.5", True),
        ("per_judgment: 0.25", "per_judgment: 1", True),
        ("active_seconds: 4", "active_seconds: 9", True),
        ("kind: prolific, complete: C1", "kind: open", True),
        ("metrics: [rouge-l]", "metrics: []", True),
        ("seed: 1", "seed: 2", False),
        ("n: 12", "n: 13", False),
        ("judgments_per_output: 2", "judgments_per_output: 3", False),
        ("task: language-quality", "task: answer-correctness", False),
    ],
)
def test_the_fingerprint_binds_what_is_judged_and_how(tmp_path, old, new, is_same):
    before = load_campaign(write(tmp_path, CAMPAIGN.replace("prompts: [overall]", "prompts: []")))
    text = CAMPAIGN.replace("prompts: [overall]", "prompts: []").replace(old, new)
    after = load_campaign(write(tmp_path, text))
    assert (before.fingerprint == after.fingerprint) is is_same


def test_the_fingerprint_binds_the_outputs_but_not_the_wording(tmp_path):
    shipped = (EXAMPLES / "language-quality" / "task.yaml").read_text(encoding="utf-8")
    text = CAMPAIGN.replace("language-quality", "mine.yaml")

    def fingerprint(mine):
        return load_campaign(write(tmp_path, text, mine_yaml=mine)).fingerprint

    first = fingerprint(shipped)
    reworded = shipped.replace("Is the text fluent English?", "Is it fluent?")
    assert fingerprint(reworded.replace('version: "1"', 'version: "2"')) == first
    assert fingerprint(shipped.replace("otherwise: 0", "otherwise: 1")) != first
    path = write(tmp_path, text, mine_yaml=shipped)
    (tmp_path / "outputs.jsonl").write_text('{"item": 1, "system": "a", "output": "y"}\n')
    assert load_campaign(path).fingerprint != first


NAMES = ("answer-correctness", "direct-assessment", "esa", "language-quality", "pairwise")


@pytest.mark.parametrize("name", [*NAMES, "mqm", "side-by-side"])
def test_examples_are_complete(name):
    campaign = load_campaign(EXAMPLES / name / "campaign.yaml")
    outputs = read_outputs(campaign.outputs)
    check_metrics(campaign, outputs.metrics)
    assert campaign.metrics
    assert campaign.panel.kind == "open"
    assert campaign.pay.per_judgment > 0
    assert campaign.goal is not None
    sizes = set(outputs.sizes.values())
    assert len(sizes) == 1
    assert campaign.sample.n < min(sizes)
    if name in ("language-quality", "answer-correctness"):
        assert min(sizes) >= 60
    if campaign.gold is not None:
        assert len(read_gold(campaign.gold.file, campaign.task)) >= 5
    for row in rows_of(name):
        content = row | {"first": row["output"], "second": row["output"]}
        assert check_content(campaign.task, content) is None


def rows_of(name):
    text = (EXAMPLES / name / "outputs.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_some_systems_of_an_example_gave_the_same_output(name):
    by_item = defaultdict(list)
    for row in rows_of(name):
        by_item[row["item"]].append(row["output"])
    same = [texts for texts in by_item.values() if len(set(texts)) < len(texts)]
    assert 2 <= len(same) < len(by_item)


@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        ("language-quality", ["rouge-l", "chrf"]),
        ("answer-correctness", ["rouge-l"]),
        ("direct-assessment", ["chrf"]),
        ("esa", ["chrf"]),
        ("mqm", ["chrf"]),
    ],
)
def test_metrics_of_the_examples_are_steelyard_s(name, metrics):
    rows = rows_of(name)
    outputs, references = zip(*((row["output"], row["reference"]) for row in rows), strict=True)
    for metric, column in sy.score(outputs, references, metrics=metrics).items():
        assert [row[metric] for row in rows] == pytest.approx([float(one) for one in column])


def test_the_translations_have_scripts_that_run_the_other_way_and_without_spaces():
    outputs = "".join(row["output"] for row in rows_of("direct-assessment"))
    inputs = "".join(row["input"] for row in rows_of("direct-assessment"))
    for text in (outputs, inputs):
        assert re.search(r"[\u0600-\u06ff]", text)
        assert re.search(r"[\u4e00-\u9fff]", text)
    assert re.search(r"[\u0590-\u05ff]", inputs)


def test_the_language_task_asks_for_an_edit_below_the_top_of_any_facet():
    campaign = load_campaign(EXAMPLES / "language-quality" / "campaign.yaml")
    content = {"output": "It rain a lot."}
    good = {"fluency": 3, "redundancy": 3, "overall": 3}
    assert check_answer(campaign.task, content, good) == []
    assert derive_scores(campaign.task, content, good) == {
        "fluency": 3,
        "redundancy": 3,
        "overall": 3,
        "Edit": 0,
    }
    for facet in good:
        answer = good | {facet: 2}
        (problem,) = check_answer(campaign.task, content, answer)
        assert problem.widget == "edit"
        (problem,) = check_answer(campaign.task, content, answer | {"edit": content["output"]})
        assert problem.widget == "edit"
        edited = answer | {"edit": "It rains a lot."}
        assert check_answer(campaign.task, content, edited) == []
        assert derive_scores(campaign.task, content, edited)["Edit"] == 0.25
    assert score_bounds(campaign.task)["overall"] == (1, 3)


def test_the_answer_task_goes_straight_on_when_the_answer_is_implausible():
    campaign = load_campaign(EXAMPLES / "answer-correctness" / "campaign.yaml")
    content = {"input": "how deep", "output": "9 m", "passages": ["It is 9 m.", "It is 8 m."]}
    for answer in ({"sense": "no"}, {"sense": "yes", "plausible": "no"}):
        assert check_answer(campaign.task, content, answer) == []
        assert derive_scores(campaign.task, content, answer) == {"AnyCorrect": 0, "AvgCorrect": 0}
    verdicts = [
        {"verdict": "right", "highlights": [[6, 9]], "confirmed": True},
        {"verdict": "wrong", "highlights": [[6, 9]], "confirmed": True},
    ]
    answer = {"sense": "yes", "plausible": "yes", "verdicts": verdicts}
    assert check_answer(campaign.task, content, answer) == []
    assert derive_scores(campaign.task, content, answer) == {"AnyCorrect": 1, "AvgCorrect": 0.5}


def models():
    for module in (
        campaign_module,
        campaign_parts,
        panels,
        task,
        choices,
        widgets,
        scores,
        tutorial,
    ):
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Declared) and value is not Declared:
                yield value


def test_there_are_no_more_keys_than_these():
    own = {
        (model, name)
        for model in set(models())
        for name in vars(model).get("__annotations__", {})
        if name in model.model_fields
        and not any(name in getattr(base, "model_fields", {}) for base in model.__mro__[1:])
    }
    # a key that comes needs one that goes
    assert len(own) <= 129


@pytest.mark.skipif(not PAGE.is_file(), reason="not run from the root of the repository")
def test_every_key_is_on_the_reference_page():
    page = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"`([A-Za-z_-]+)`", page))
    assert len(set(models())) > 25
    for model in set(models()):
        for key in model.key_names():
            assert key in named, f"{model.__name__}.{key}"


@pytest.mark.skipif(not PAGE.is_file(), reason="not run from the root of the repository")
def test_the_examples_of_the_reference_page_are_right(tmp_path):
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (whole,) = (block for block in blocks if block.startswith("title:"))
    (declared,) = (block for block in blocks if block.startswith("name:"))
    (questions,) = (block for block in blocks if block.startswith("tutorial:"))
    write(tmp_path, whole.replace("task.yaml", "language-quality"))
    assert load_campaign(tmp_path / "campaign.yaml").goal.budget == 200
    parts = [block for block in blocks if re.match(r"(sample|goal|panel|session|quality):", block)]
    assert len(parts) == 6
    for part in parts:
        keys = {line.split(":")[0] for line in part.splitlines() if not line.startswith(" ")}
        rest = [line for line in CAMPAIGN.splitlines() if not line.startswith("  ")]
        kept = [line for line in rest if line.split(":")[0] not in {*keys, "quality"}]
        path = write(tmp_path, "\n".join(kept) + "\n" + part, gold_jsonl="{}")
        assert load_campaign(path).title == "Our texts"
    (tmp_path / "task.yaml").write_text(declared, encoding="utf-8")
    assert task.load_task(tmp_path / "task.yaml").prompts == ("politeness", "Edit")
    # a list of widgets, put in the place of the others
    for block in blocks:
        if block.startswith("- id:"):
            inner = "".join(f"  {line}\n" for line in block.splitlines())
            text = declared.replace("scores:", inner + "scores:")
            (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
            assert len(task.load_task(tmp_path / "task.yaml").widgets) == 3
    text = declared + questions.replace("ask: fluency", "ask: polite").replace("8", "1")
    (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
    assert task.load_task(tmp_path / "task.yaml").tutorial.pass_mark == 1
