import csv
import io
import json
from functools import partial

import polars as pl
import pytest
from simulated_campaign import GOOD, HASTY, START, begin, work, write_campaign

from steelyard.cli import main
from steelyard.collect.dashboard.exports import NAMES, export, judgments, pseudonym
from steelyard.collect.dashboard.snapshot import snapshot
from steelyard.collect.policy.exclusion import due, exclude
from steelyard.collect.store import Store
from steelyard.collect.store.decisions import decide
from steelyard.collect.store.progress import rater_rows
from steelyard.errors import InvalidArgumentError
from steelyard.records import DRAW_COLUMNS
from steelyard.tables import read_judgments


@pytest.fixture(scope="module")
def campaign_done(tmp_path_factory):
    """Half a campaign, with a rater left out by rule and one whose payment is refused."""
    folder = tmp_path_factory.mktemp("exports")
    path = write_campaign(folder, pool=120, systems=2, sample={"n": 50, "seed": 1})
    with Store.open(folder / "campaign.sqlite") as store:
        campaign = begin(path, store)
        now = work(campaign, store, [GOOD] * 6 + [HASTY], judgments=140)
        exclude(store, due(campaign, store), now=now)
        refused = partial(
            decide,
            rater="id-0-6",
            about="payment",
            verdict="refuse",
            reason="=HYPERLINK(1) all in two minutes",
            by="admin",
            now=now,
        )
        store.write(refused).result()
        yield campaign, store, now


def printed(capsys, arguments):
    """What the command line prints as JSON."""
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--json"])
    found = capsys.readouterr()
    assert end.value.code == 0, found.err
    return json.loads(found.out)


def frame(campaign_done, **options):
    campaign, store, _ = campaign_done
    return judgments(store, campaign, **options)


def test_judgments_have_the_columns_of_the_design(campaign_done):
    found = frame(campaign_done)
    needed = ["item", "system", "rater", "prompt", "score", "seconds", "time", *DRAW_COLUMNS]
    assert found.columns[: len(needed)] == needed
    assert found.columns[len(needed) :] == ["submission", "unit", "use", "excluded"]
    assert len(read_judgments(found)) == found.height


def test_the_default_export_holds_what_the_estimate_uses_and_the_other_all(campaign_done):
    used, everything = frame(campaign_done), frame(campaign_done, rows="all")
    assert set(used["use"]) == {"used"}
    assert not used["excluded"].any()
    assert everything.filter(pl.col("use") == "used").equals(used)
    assert everything["submission"].n_unique() == 140
    assert "excluded" in set(everything["use"])


def test_raters_have_pseudonyms_and_panel_ids_are_in_the_files_for_paying_alone(campaign_done):
    campaign, store, _ = campaign_done
    found = {name: export(name, store, campaign, rows="all").body for name in NAMES}
    for name in ("ledger.csv", "payments.csv", "bonuses.csv"):
        assert b"panel-id-0-3" in found.pop(name)
    for name, body in found.items():
        assert b"panel-id" not in body, name
        assert b"id-0-" not in body, name
    assert set(frame(campaign_done, rows="all")["rater"]) == {pseudonym(n) for n in range(1, 8)}


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_the_commands_of_the_codebook_print_the_numbers_of_the_dashboard(
    campaign_done, tmp_path, capsys, kind
):
    campaign, store, now = campaign_done
    file = tmp_path / f"judgments.{kind}"
    file.write_bytes(export(file.name, store, campaign).body)
    text = export("codebook.md", store, campaign).body.decode()
    [line] = [one.strip() for one in text.splitlines() if "steelyard monitor" in one]
    words = line.replace("judgments.jsonl", str(file)).replace(
        "outputs.jsonl", str(campaign.outputs)
    )
    [looked] = printed(capsys, words.split()[1:])
    asked = ["estimate", str(campaign.outputs), str(file), "--metric", "rouge-l"]
    means = {(row["prompt"], row["system"]): row for row in printed(capsys, asked)}
    shown = snapshot(campaign, store, now=now)
    assert set(means) == {
        (prompt["prompt"], one["system"])
        for prompt in shown["prompts"]
        for one in prompt["systems"]
    }
    for prompt in shown["prompts"]:
        for one in prompt["systems"]:
            mean = means[prompt["prompt"], one["system"]]
            assert mean["estimate"] == pytest.approx(one["estimate"], abs=1e-9)
    [goal] = [one for one in shown["prompts"] if one["in_goal"]]
    assert (goal["answer"], goal["reached"]) == (looked["answer"], looked["reached"])
    for row, one in zip(looked["systems"], goal["systems"], strict=True):
        assert row["system"] == one["system"]
        for name in ("estimate", "low", "high"):
            assert row[name] == pytest.approx(one[name], abs=1e-9)


def test_a_spreadsheet_computes_nothing_of_a_csv(campaign_done):
    campaign, store, _ = campaign_done
    text = export("ledger.csv", store, campaign).body.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    reasons = {row["payment_reason"] for row in rows}
    assert "'=HYPERLINK(1) all in two minutes" in reasons
    assert not any(cell[:1] in "=+-@\t\r" for row in rows for cell in row.values() if cell)


def test_names_that_look_like_formulas_are_marked_in_csv_and_kept_elsewhere(tmp_path):
    path = write_campaign(tmp_path, pool=20, systems=1, sample={"n": 5, "seed": 1})
    text = (tmp_path / "outputs.jsonl").read_text()
    (tmp_path / "outputs.jsonl").write_text(text.replace('"story-', '"@story-'))
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        work(campaign, store, [GOOD, GOOD], judgments=10)
        export_csv = export("judgments.csv", store, campaign).body
        found = pl.read_csv(export_csv)
        exact = pl.read_ndjson(export("judgments.jsonl", store, campaign).body)
    assert found["item"].str.starts_with("'@story-").all()
    assert exact["item"].str.starts_with("@story-").all()
    # numbers are numbers, also negative ones
    assert found["score"].dtype.is_numeric()
    # and the file reads back as it was
    (tmp_path / "judgments.csv").write_bytes(export_csv)
    read = read_judgments(tmp_path / "judgments.csv")
    assert read.frame["item"].to_list() == exact["item"].to_list()


ODD = [
    *(
        "001",
        "null",
        "NA",
        "1e5",
        "true",
        " before",
        "after ",
        'a"b',
        "a,b",
        "a\nb",
        "a\r\nb",
        "a;b",
    ),
    *("=x", "'=x", "''-", "\t tab", "2020-01-01", "\N{ZERO WIDTH NO-BREAK SPACE}mark", "a\tb"),
]


def test_a_csv_reads_back_with_every_item_as_it_was(tmp_path):
    path = write_campaign(tmp_path, pool=len(ODD), systems=1, sample={"n": len(ODD), "seed": 1})
    rows = [json.loads(line) for line in (tmp_path / "outputs.jsonl").read_text().splitlines()]
    lines = [json.dumps(row | {"item": odd}) for row, odd in zip(rows, ODD, strict=True)]
    (tmp_path / "outputs.jsonl").write_text("\n".join(lines))
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        work(campaign, store, [GOOD, GOOD], judgments=2 * len(ODD))
        file = tmp_path / "judgments.csv"
        file.write_bytes(export(file.name, store, campaign, rows="all").body)
        exact = judgments(store, campaign, rows="all")
    read = read_judgments(file).frame
    assert set(read["item"]) == set(ODD)
    for column in ("item", "system", "rater", "prompt", "score"):
        assert read[column].to_list() == exact[column].to_list()


def test_the_ledger_has_an_amount_for_every_judgment_and_the_decision_about_paying(campaign_done):
    campaign, store, _ = campaign_done
    text = export("ledger.csv", store, campaign).body.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 140
    assert {row["amount"] for row in rows} == {"0.40"}
    refused = [row for row in rows if row["payment"] == "refuse"]
    assert {row["panel_id"] for row in refused} == {"panel-id-0-6"}
    assert {row["currency"] for row in rows} == {"USD"}


def test_submissions_hold_the_answers_as_they_were_given(campaign_done):
    campaign, store, _ = campaign_done
    body = export("submissions.jsonl", store, campaign).body.decode()
    rows = [json.loads(line) for line in body.splitlines()]
    assert len(rows) == 140
    first = rows[0]
    assert set(first["answer"]) >= {"fluency", "redundancy", "overall"}
    assert first["scores"]["overall"] == first["answer"]["overall"]
    assert first["content"]["output"].startswith("The summary")
    assert first["gold"] is False
    assert first["rater"].startswith("rater-")


def test_the_codebook_explains_prompts_uses_rules_and_decisions(campaign_done):
    campaign, store, _ = campaign_done
    text = export("codebook.md", store, campaign).body.decode()
    for part in (
        "# Codebook: How well are our summaries written?",
        "`overall`: rule value of the question `overall`; from 1 to 3",
        "simple|n=50|N=120|systems=",
        "at least 5 seconds",
        "rater-7: exclude (estimate, by rule)",
        "rater-7: refuse (payment, by hand)",
        "used ",
    ):
        assert part in text, part


def test_all_exports_can_be_made_before_the_first_judgment(store, tmp_path):
    path = write_campaign(tmp_path, pool=20, systems=1, sample={"n": 5, "seed": 1})
    campaign = begin(path, store, now=START)
    assert store.read(rater_rows) == []
    for name in NAMES:
        found = export(name, store, campaign)
        assert found.filename == name
    assert pl.read_parquet(export("judgments.parquet", store, campaign).body).height == 0


def test_the_file_of_all_judgments_has_a_name_of_its_own(campaign_done):
    campaign, store, _ = campaign_done
    found = export("judgments.csv", store, campaign, rows="all")
    assert found.filename == "judgments-all.csv"
    assert found.media_type.startswith("text/csv")


def test_an_unknown_export_is_refused(campaign_done):
    campaign, store, _ = campaign_done
    with pytest.raises(InvalidArgumentError, match=r"`name` must be one of judgments\.jsonl"):
        export("passwords.txt", store, campaign)
    with pytest.raises(InvalidArgumentError, match="`rows` must be estimate or all; got 'some'"):
        export("judgments.csv", store, campaign, rows="some")


def test_preferences_are_exported_with_what_compare_needs(tmp_path, capsys):
    path = write_campaign(
        tmp_path,
        pool=80,
        systems=2,
        task="pairwise",
        sample={"n": 20, "seed": 1, "systems": ["large", "baseline"]},
        goal={"half_width": 0.1},
        quality={},
    )
    text = (tmp_path / "outputs.jsonl").read_text().replace('"output"', '"input": "?", "output"')
    (tmp_path / "outputs.jsonl").write_text(text)
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        work(campaign, store, [GOOD] * 6, judgments=40, prefers="large")
        (tmp_path / "judgments.csv").write_bytes(export("judgments.csv", store, campaign).body)
        found = judgments(store, campaign)
        assert "`other_system`" in export("codebook.md", store, campaign).body.decode()
    assert set(found["first_system"]) == {"large", "baseline"}
    assert (found["system"] != found["other_system"]).all()
    [compared] = printed(
        capsys, ["compare", f"{tmp_path}/outputs.jsonl", f"{tmp_path}/judgments.csv"]
    )
    [pair] = compared["pairs"]
    assert (pair["a"], pair["b"], pair["verdict"]) == ("large", "baseline", "a")
    assert pair["n_judgments"] == found.height / 2
    assert pair["win"]["value"] == pytest.approx(1 - pair["identical_items"] / 80)
    assert [one["system"] for one in compared["strengths"]] == ["large", "baseline"]
    assert compared["order_effect"]["n_judgments"] == pair["n_judgments"]
