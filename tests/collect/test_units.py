import json
from functools import partial
from importlib.resources import files

import polars as pl
import pytest
from simulated_campaign import GOOD, begin, work, write_campaign

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.sampling.draw import more_units, units_of
from steelyard.collect.store import Store
from steelyard.collect.store.judgments import judgment_rows
from steelyard.collect.store.leases import next_lease
from steelyard.collect.store.queue import add_units, drawn
from steelyard.collect.store.raters import join, open_session
from steelyard.collect.store.settings import Facts, initialise
from steelyard.collect.store.submissions import submit
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import DRAW_COLUMNS
from steelyard.sampling.sample import sample
from steelyard.study import Study
from steelyard.tables import read_judgments, read_outputs, write_table

TASK = """
name: quality
title: How good is it?
show:
  - {field: input, label: Question}
  - {field: output, label: Text}
widgets:
  - {id: fluency, kind: likert, label: Fluent?, levels: [{value: 0, label: Bad}, {value: 1, label: Good}]}
scores:
  - {prompt: fluency, rule: value, from: fluency}
"""
PAIR = """
name: pairwise
title: Which is better?
pair: true
show:
  - {field: input, label: Question}
  - {field: first, label: A}
  - {field: second, label: B}
widgets:
  - {id: better, kind: preference, ties: true, label: Which?}
scores:
  - {prompt: better, rule: preference, from: better}
"""
PASSAGES = """
name: passages
title: Is it right?
show:
  - {field: output, label: Answer}
widgets:
  - id: verdicts
    kind: passages
    field: passages
    label: Does it say so?
    verdicts:
      - {value: right, label: Right, highlight: true}
      - {value: neither, label: Neither, highlight: false}
scores:
  - {prompt: AnyCorrect, rule: any, from: verdicts, of: right}
"""


def rows(n=20, systems=("a", "b")):
    """Two systems that give the same output for every fourth item."""
    return [
        {
            "item": f"i{number:02d}",
            "system": system,
            "input": f"question {number}",
            "output": f"answer {number}" + ("" if number % 4 == 0 else f" of {system}"),
            "length": number % 7,
        }
        for number in range(n)
        for system in systems
    ]


@pytest.fixture
def campaign(tmp_path):
    """Write a campaign and load it."""

    def make(sampling, *, outputs=None, task=TASK, more="", name="outputs.jsonl"):
        (tmp_path / "task.yaml").write_text(task)
        if isinstance(outputs, str):
            (tmp_path / name).write_text(outputs)
        else:
            write_table(pl.DataFrame(rows() if outputs is None else outputs), tmp_path / name)
        text = f"title: A\noutputs: {name}\ntask: task.yaml\nsample: {sampling}\n{more}"
        (tmp_path / "campaign.yaml").write_text(text)
        return load_campaign(tmp_path / "campaign.yaml")

    return make


def targets(units):
    return {(one.item, one.system): one for unit in units for one in unit.targets}


def test_units_are_the_outputs_that_a_sample_draws(campaign):
    found = campaign("{n: 6, seed: 3, same_items: false}")
    expected = sample(read_outputs(found.outputs), 6, same_items=False, seed=3).frame
    got = targets(units_of(found))
    assert len(got) == expected.height == 12
    for row in expected.iter_rows(named=True):
        target = got[row["item"], row["system"]]
        assert {name: getattr(target, name) for name in DRAW_COLUMNS} == {
            name: row[name] for name in DRAW_COLUMNS
        }


def test_equal_outputs_of_several_systems_are_one_unit(campaign):
    units = units_of(campaign("{n: 20, seed: 1}"))
    # of twenty items, five have the same output from both
    assert len(units) == 35
    assert sorted(len(unit.targets) for unit in units) == [1] * 30 + [2] * 5
    assert sum(len(unit.targets) for unit in units) == 40
    for unit in units:
        assert (len(unit.targets) == 2) == (" of " not in unit.content["output"])


def test_only_systems_whose_draw_holds_the_output_are_judged_by_it(campaign):
    found = campaign("{n: 8, seed: 5, same_items: false}")
    drawn_outputs = sample(read_outputs(found.outputs), 8, same_items=False, seed=5).frame
    expected = set(drawn_outputs.select("item", "system").rows())
    assert set(targets(units_of(found))) == expected


def test_the_queue_follows_the_draw_and_no_system_goes_first(campaign):
    units = units_of(campaign("{n: 20, seed: 1}"))
    first = [min(one.draw for one in unit.targets) for unit in units]
    assert first == sorted(first)
    single = [unit.targets[0].system for unit in units if len(unit.targets) == 1]
    # of fifteen pairs of neighbours, not all have the same system in front
    assert 0 < single[::2].count("a") < 15


def test_contents_hold_what_the_task_shows_and_no_system(campaign):
    for unit in units_of(campaign("{n: 4, seed: 1}")):
        assert set(unit.content) == {"input", "output"}


def test_the_same_file_gives_the_same_units(campaign):
    first = units_of(campaign("{n: 9, seed: 1}", more="judgments_per_output: 3\n"))
    again = units_of(
        campaign("{n: 9, seed: 1}", outputs=rows()[::-1], more="judgments_per_output: 3\n")
    )
    assert first == again
    assert {unit.wanted for unit in first} == {3}


def test_pairs_are_items_on_which_the_systems_differ(campaign):
    units = units_of(campaign("{n: 15, seed: 1, systems: [b, a]}", task=PAIR))
    assert len(units) == 15
    for unit in units:
        assert unit.pair
        assert set(unit.content) == {"input", "first", "second"}
        assert unit.content["first"].endswith(" of b")
        assert [(one.system, one.side) for one in unit.targets] == [("b", 1), ("a", 2)]
        assert {(one.design, one.share, one.probability) for one in unit.targets} == {
            ("paired", 0.75, 1.0)
        }


def test_a_field_that_differs_between_the_sides_of_a_pair_is_an_error(campaign):
    outputs = rows()
    for row in outputs:
        row["input"] += row["system"]
    found = campaign("{n: 15, seed: 1, systems: [a, b]}", task=PAIR, outputs=outputs)
    with pytest.raises(InvalidDataError, match=r"outputs.jsonl, line \d+, column input: expected"):
        units_of(found)


def test_a_sample_that_was_written_before_is_taken_as_it_is(campaign, tmp_path):
    pool = read_outputs(pl.DataFrame(rows()))
    design = {"strata": "length:2"}
    recorded = sample(pool, 8, seed=2, **design).frame
    for name in ("sample.jsonl", "sample.csv", "sample.parquet"):
        write_table(recorded, tmp_path / name)
        got = targets(units_of(campaign(name)))
        assert len(got) == 16
        for row in recorded.iter_rows(named=True):
            target = got[row["item"], row["system"]]
            assert target.probability == pytest.approx(row["probability"])
            assert (target.stratum, target.draw) == (row["stratum"], row["draw"])
            assert target.stratum_size == row["stratum_size"]


def test_a_sample_of_texts_makes_the_units_of_all_its_outputs(campaign, tmp_path):
    pool = read_outputs(pl.DataFrame(rows()))
    for name, once in (("texts.csv", True), ("outputs.csv", False)):
        write_table(sample(pool, 8, each_text_once=once, seed=2).frame, tmp_path / name)
    found, want = (units_of(campaign(name)) for name in ("texts.csv", "outputs.csv"))
    assert any(len(unit.targets) > 1 for unit in want)
    assert {(unit.digest, frozenset(unit.targets)) for unit in found} == {
        (unit.digest, frozenset(unit.targets)) for unit in want
    }


def test_a_paired_sample_that_was_written_before_makes_pairs(campaign, tmp_path):
    pool = read_outputs(pl.DataFrame(rows()))
    recorded = sample(pool, 5, pair=("a", "b"), seed=2).frame
    write_table(recorded, tmp_path / "sample.jsonl")
    assert len(units_of(campaign("sample.jsonl", task=PAIR))) == 5


def test_samples_that_do_not_suit_are_refused(campaign, tmp_path):
    pool = read_outputs(pl.DataFrame(rows()))
    recorded = sample(pool, 5, same_items=False, seed=2).frame
    write_table(recorded.drop("draw"), tmp_path / "sample.jsonl")
    with pytest.raises(InvalidDataError, match="no column `draw`: name the file that"):
        units_of(campaign("sample.jsonl"))
    write_table(recorded, tmp_path / "sample.jsonl")
    with pytest.raises(InvalidDataError, match="of one system only, and the task pairwise is"):
        units_of(campaign("sample.jsonl", task=PAIR))
    with pytest.raises(InvalidDataError, match=r"item 'i\d+' of system '.', which is not in"):
        units_of(campaign("sample.jsonl", outputs=rows(3)))
    write_table(recorded.filter(pl.col("system") == "a"), tmp_path / "sample.jsonl")
    with pytest.raises(InvalidDataError, match="the sample must hold two systems"):
        units_of(campaign("sample.jsonl", task=PAIR))


def test_lists_come_as_lists_also_from_a_csv_file(campaign):
    listed = [
        {"item": str(n), "system": "a", "output": str(n), "passages": [f"p{n}", "q, r"]}
        for n in range(3)
    ]
    written = [{**row, "passages": json.dumps(row["passages"])} for row in listed]
    for outputs, name in (
        (listed, "outputs.jsonl"),
        (listed, "outputs.parquet"),
        (written, "o.csv"),
    ):
        found = campaign("{n: 3, seed: 1}", outputs=outputs, task=PASSAGES, name=name)
        contents = [unit.content for unit in units_of(found)]
        assert sorted(one["passages"][0] for one in contents) == ["p0", "p1", "p2"]
        assert {one["passages"][1] for one in contents} == {"q, r"}


def test_text_of_a_csv_file_that_looks_like_a_number_is_text(campaign):
    task = TASK.replace("field: input", "field: year")
    outputs = "item,system,output,year\n1,a,x,1984\n2,a,y,2001\n"
    found = campaign("{n: 2, seed: 1}", outputs=outputs, task=task, name="o.csv")
    assert sorted(unit.content["year"] for unit in units_of(found)) == ["1984", "2001"]


def test_a_missing_field_is_named_by_file_line_and_column(campaign):
    outputs = rows(4, systems=("a",))
    outputs[2]["input"] = None
    with pytest.raises(
        InvalidDataError, match=r"outputs.jsonl, line 3, column input: `input` must be given"
    ):
        units_of(campaign("{n: 4, seed: 1}", outputs=outputs))
    with pytest.raises(InvalidDataError, match="no column `passages`, which the task passages"):
        units_of(campaign("{n: 4, seed: 1}", task=PASSAGES))
    text = '{"item": 1, "system": "a", "output": "x", "passages": ["p"]}\n'
    text += '{"item": 2, "system": "a", "output": "x", "passages": [null]}\n'
    with pytest.raises(InvalidDataError, match=r"outputs.jsonl, line 2, column passages: "):
        units_of(campaign("{n: 2, seed: 1}", outputs=text, task=PASSAGES))


def test_gold_units_come_last_and_stand_for_no_output(campaign, tmp_path):
    gold = {"input": "q", "output": "gold", "answer": {"fluency": [1]}}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    found = campaign("{n: 3, seed: 1}", more="gold: {file: gold.jsonl, every: 5}\n")
    *others, last = units_of(found)
    assert all(unit.gold is None for unit in others)
    assert (last.wanted, last.targets) == (0, ())
    assert last.content == {"input": "q", "output": "gold"}
    assert "fluency" in last.gold


@pytest.mark.parametrize(
    ("sampling", "task"),
    [
        ("{n: 6, seed: 1}", TASK),
        ("{n: 6, seed: 1, same_items: false}", TASK),
        ("{n: 6, seed: 1, systems: [b, a]}", PAIR),
    ],
)
def test_a_larger_draw_begins_with_the_smaller(campaign, sampling, task):
    found = campaign(sampling, task=task)
    before = targets(units_of(found))
    after = targets(more_units(found, list(before.values()), 4))
    assert len(after) == 20
    for key, target in before.items():
        assert (after[key].draw, after[key].side) == (target.draw, target.side)
    eligible = 15 if task is PAIR else 20
    assert {one.probability for one in after.values()} == {10 / eligible}
    assert {after[key].draw for key in after.keys() - before.keys()} == {7, 8, 9, 10}


def test_every_output_left_is_as_likely_to_be_added(campaign):
    added = dict.fromkeys((f"i{number:02d}" for number in range(20)), 0)
    for seed in range(60):
        found = campaign(f"{{n: 5, seed: {seed}, systems: [a]}}")
        before = targets(units_of(found))
        after = targets(more_units(found, list(before.values()), 5))
        for item, _ in after.keys() - before.keys():
            added[item] += 1
    # 300 over 20 items: 15 each, with standard deviation of about 3.4
    assert min(added.values()) >= 3
    assert max(added.values()) <= 28


def test_a_sample_larger_than_the_pool_is_refused_by_line_and_key(campaign):
    with pytest.raises(InvalidDataError, match=r"line 4, key sample: `n` must be from 1 to .* 20"):
        units_of(campaign("{n: 21, seed: 1}"))


def test_what_cannot_be_extended_says_why(campaign, tmp_path):
    found = campaign("{n: 6, seed: 1}")
    before = list(targets(units_of(found)).values())
    with pytest.raises(InvalidArgumentError, match="`more` must not exceed the 14 that the draw"):
        more_units(found, before, 15)
    with pytest.raises(InvalidArgumentError, match="`more` must be at least 1"):
        more_units(found, before, 0)
    larger = [{**row, "size": row["length"] + 1.0} for row in rows()]
    for design, options in (
        ("stratified", {"strata": "length:2"}),
        ("proportional-to-size", {"size": "size"}),
    ):
        frame = sample(read_outputs(pl.DataFrame(larger)), 8, seed=2, **options).frame
        write_table(frame, tmp_path / "sample.jsonl")
        found = campaign("sample.jsonl")
        before = list(targets(units_of(found)).values())
        with pytest.raises(InvalidArgumentError, match=f"a {design} draw cannot be extended here"):
            more_units(found, before, 2)


@pytest.mark.parametrize(
    "example",
    [
        "language-quality",
        "answer-correctness",
        "pairwise",
        "direct-assessment",
        "esa",
        "mqm",
        "side-by-side",
    ],
)
def test_the_examples_have_units(example):
    path = files("steelyard.collect") / "examples" / example / "campaign.yaml"
    found = units_of(load_campaign(str(path)))
    assert len({unit.digest for unit in found}) == len(found) > 5


def test_judgments_of_a_campaign_are_estimated_before_and_after_the_draw_is_extended(
    campaign, tmp_path
):
    found = campaign("{n: 8, seed: 4}", more="metrics: [length]\n")
    with Store.open(tmp_path / "a.sqlite") as store:

        def write(operation, **options):
            return store.write(partial(operation, **options)).result()

        write(initialise, facts=Facts.of(found), units=units_of(found), now=0)
        rater = write(join, panel="open", external_id="ann", now=1)
        visit = write(open_session, rater=rater, panel_session="", parameters={}, now=1).id

        def finish():
            ask = {"rater": rater, "session": visit, "now": 2, "lease_ms": 100}
            while not isinstance(lease := write(next_lease, **ask), str):
                score = float(len(lease.shown.content["output"]) % 3)
                write(
                    submit,
                    lease=lease.id,
                    rater=rater,
                    key=lease.id,
                    answer={},
                    scores={"fluency": score},
                    active_ms=0,
                    now=3,
                    pay=0,
                )
            columns = ("item", "system", "rater", "prompt", "score", *DRAW_COLUMNS)
            frame = store.read(judgment_rows).select(columns)
            return Study.read(found.outputs, frame).estimate(["length"])

        assert [one.n_outputs for one in finish()] == [8, 8]
        larger = more_units(found, store.read(drawn), 4)
        write(add_units, new=larger, now=4)
        assert [one.n_outputs for one in finish()] == [12, 12]
        assert {one.probability for one in store.read(drawn)} == {12 / 20}


def test_second_judgments_are_wanted_of_a_random_share_of_each_prefix(tmp_path):
    path = write_campaign(
        tmp_path,
        pool=200,
        sample={"n": 100, "seed": 3},
        judgments_per_output=1,
        second_judgments=30,
    )
    campaign = load_campaign(path)
    units = units_of(campaign)
    twice = {one.draw for unit in units if unit.wanted == 2 for one in unit.targets}
    once = {one.draw for unit in units if unit.wanted == 1 for one in unit.targets}
    assert len(twice) == 30
    assert twice | once == set(range(1, 101))
    assert not twice & once  # all systems of an item alike
    for size in (20, 50, 80):
        assert abs(len([number for number in twice if number <= size]) - 0.3 * size) < 1
    drawn = [target for unit in units for target in unit.targets]
    larger = more_units(campaign, drawn, 50)
    assert len({one.draw for unit in larger if unit.wanted == 2 for one in unit.targets}) == 45


def test_more_second_judgments_than_outputs_are_refused(tmp_path):
    path = write_campaign(tmp_path, sample={"n": 10, "seed": 3}, second_judgments=11)
    with pytest.raises(InvalidDataError, match="second_judgments: must not exceed the 10 outputs"):
        load_campaign(path)


def test_second_judgments_come_from_another_rater_and_enter_the_estimate(tmp_path):
    path = write_campaign(
        tmp_path,
        pool=60,
        systems=1,
        sample={"n": 40, "seed": 3},
        judgments_per_output=1,
        second_judgments=12,
        quality={},
    )
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        work(campaign, store, [GOOD] * 4, judgments=52)
        rows = store.read(judgment_rows)
    overall = rows.filter(pl.col("prompt") == "overall")
    assert (overall["use"] == "used").all()
    judged = overall.group_by("item").agg(pl.col("rater").n_unique(), pl.len())
    assert sorted(judged["len"]) == [1] * 28 + [2] * 12
    assert (judged["rater"] == judged["len"]).all()
    study = Study(read_outputs(campaign.outputs, metrics=["rouge-l"]), read_judgments(overall))
    [found] = study.estimate(["rouge-l"])
    assert (found.n_outputs, found.n_judgments) == (40, 52)


def test_lines_are_counted_only_where_something_is_wrong(campaign, monkeypatch):
    def counted(*_):
        raise AssertionError("the file was read anew to say where a row stands")

    monkeypatch.setattr("steelyard.tables.tables.line_numbers", counted)
    assert units_of(campaign("{n: 3, seed: 1}"))
