import json

import pytest

from steelyard.collect.answer_size import answer_bytes
from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.store import Store
from steelyard.collect.tasks import load_task
from steelyard.collect.web.app import create_app, first_units
from steelyard.errors import InvalidDataError


@pytest.fixture
def campaign(tmp_path):
    """Write a campaign about one text of a length, under a limit."""

    def write(length, limit, letter="x"):
        rows = [
            {"item": f"i{n}", "system": "a", "output": letter * (length if n else 10)}
            for n in range(2)
        ]
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (tmp_path / "outputs.jsonl").write_text(lines, "utf-8")
        path = tmp_path / "campaign.yaml"
        path.write_text(
            "title: A\noutputs: outputs.jsonl\ntask: language-quality\n"
            f"sample: {{n: 2, seed: 1}}\nlimits: {{body_bytes: {limit}}}\n"
        )
        return load_campaign(path)

    return write


def test_a_text_whose_answer_could_not_be_sent_is_refused_before_the_start(campaign):
    asked = campaign(100_000, 200_000)
    with pytest.raises(
        InvalidDataError,
        match=r"campaign.yaml, line 5, key limits.body_bytes: must be at least 200772 .*'i1'.*raise it",
    ):
        first_units(asked)
    assert len(first_units(campaign(100_000, 200_772))) == 2


def test_letters_of_several_bytes_count_as_such(campaign):
    with pytest.raises(InvalidDataError, match=r"at least 600772 "):
        first_units(campaign(100_000, 300_000, letter="漢"))


def test_a_limit_that_was_lowered_is_found_at_the_next_start(campaign):
    asked = campaign(10_000, 50_000)
    with Store.open(asked.database) as store:
        create_app(asked, store)
    lowered = campaign(10_000, 20_000)
    with (
        Store.open(asked.database) as store,
        pytest.raises(InvalidDataError, match="at least 20772"),
    ):
        create_app(lowered, store)


def test_the_largest_answer_that_a_careful_rater_gives_fits():
    task = load_task("language-quality")
    text = '"Wait",\nhe said.\\' * 500
    answer = {"fluency": 1, "redundancy": 1, "overall": 1, "edit": text * 2}
    sent = {"assignment": "a" * 64, "key": "k" * 64, "answer": answer, "active_ms": 10**12}
    size = len(json.dumps(sent, ensure_ascii=False).encode())
    assert size <= answer_bytes(task, {"output": text})
