"""A system that comes into a campaign that has begun: from the outputs file to the estimate."""

import json

import pytest

from steelyard import Study
from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.dashboard.exports import judgments
from steelyard.collect.store import Store, StoreError
from steelyard.collect.store.queue import drawn
from steelyard.errors import InvalidDataError

ITEMS = 20


def rows(system, items=range(ITEMS), text="{system} on {item}."):
    return [
        {
            "item": f"i{item}",
            "system": system,
            "output": text.format(system=system, item=item),
            "length": item,
        }
        for item in items
    ]


def append(server, added):
    path = server.campaign.outputs
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in added)


@pytest.fixture
def begun(serve):
    """Begin a campaign of two systems on 8 of 20 items; return it and what starts it again."""
    started = []

    def begin(extra="", *, sample="n: 8, seed: 1", systems=("a", "b")):
        server = serve(outputs=2)
        folder = server.campaign.directory / "own"
        folder.mkdir()
        text = (server.campaign.directory / "campaign.yaml").read_text().partition("sample:")
        rest = text[2].partition("\n")[2]
        path = folder / "campaign.yaml"
        path.write_text(f"{text[0]}sample: {{{sample}}}\n{rest}{extra}")
        (folder / "task.yaml").write_text((server.campaign.directory / "task.yaml").read_text())
        (folder / "outputs.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for one in systems for row in rows(one))
        )
        store = Store.open(load_campaign(path).database)
        kind = type(server)

        def start():
            started.append(kind(load_campaign(path), store, server.clock, server.portal))
            return started[-1]

        start.store = store
        start.path = path
        return start

    yield begin
    for one in started:
        one.portal.call(one.site.live.close)
        one.store.close()


def judge_all(server, name="ann"):
    rater, count = server.rater(name), 0
    while rater.next()["status"] == "task":
        server.clock.forward(seconds=20)
        rater.judge([{"fluency": 2}, {"fluency": 1, "edit": "Better."}][count % 2])
        count += 1
    return count


def test_a_new_system_is_judged_on_the_items_that_are_drawn(begun):
    start = begun()
    first = start()
    link = first.site.invitation("ann")
    assert judge_all(first) == 16
    before = first.store.read(drawn)
    append(first, rows("c"))
    second = start()
    # links from before hold
    assert second.site.keys.read("invitation", link.partition("token=")[2], now=second.clock())
    after = second.store.read(drawn)
    assert [one for one in after if one.system != "c"] == before
    new = {(one.item, one.draw, one.probability) for one in after if one.system == "c"}
    assert new == {(one.item, one.draw, one.probability) for one in before}
    assert judge_all(second, "bob") == 8
    # starting again adds nothing
    assert start().store.read(drawn) == after


def test_the_estimate_has_the_new_system_with_its_draw(begun, tmp_path):
    start = begun()
    judge_all(start())
    append(start(), rows("c"))
    server = start()
    judge_all(server)
    path = tmp_path / "judgments.jsonl"
    judgments(server.store, server.campaign).write_ndjson(path)
    found = Study.read(server.campaign.outputs, path).estimate(prompts=["fluency"])
    sizes = {one.system: (one.n_outputs, one.pool_size) for one in found}
    assert sizes == dict.fromkeys("abc", (8, ITEMS))


def test_a_text_that_was_judged_already_counts_for_the_new_system(begun):
    start = begun()
    judge_all(start())
    append(start(), rows("c", text="a on {item}."))
    assert judge_all(start()) == 0


def test_with_separate_draws_the_new_system_gets_its_own(begun):
    start = begun(sample="n: 8, seed: 1, same_items: false")
    first = start()
    append(first, rows("c", range(12)))
    found = [one for one in start().store.read(drawn) if one.system == "c"]
    assert len(found) == 8
    assert [one.probability for one in found] == pytest.approx([8 / 12] * 8)


def test_a_system_that_is_named_in_the_sample_comes_in_too(begun):
    start = begun(sample="n: 8, seed: 1, systems: [b, a]")
    first = start()
    append(first, rows("c"))
    with pytest.raises(InvalidDataError, match="does not name 'c'"):
        start()
    start.path.write_text(start.path.read_text().replace("[b, a]", "[b, a, c]"))
    assert {one.system for one in start().store.read(drawn)} == set("abc")


@pytest.mark.parametrize(
    ("added", "extra", "says"),
    [
        (rows("a", range(20, 25)), "", "25 outputs of system 'a', of which 20 were there"),
        (rows("c", range(19)), "", "new system 'c' with other items .* such as 'i19'"),
        (
            rows("c"),
            "goal: {decide: best, prompts: [fluency]}\n",
            "cannot come into a running campaign that is a race",
        ),
    ],
)
def test_what_would_make_probabilities_wrong_is_refused(begun, added, extra, says):
    start = begun(extra)
    first = start()
    before = first.store.read(drawn)
    append(first, added)
    with pytest.raises(InvalidDataError, match=says):
        start()
    assert first.store.read(drawn) == before


def test_a_changed_row_is_another_campaign(begun):
    start = begun()
    path = start().campaign.outputs
    path.write_text(path.read_text().replace("a on 3.", "a on three."))
    with pytest.raises(StoreError, match="at the end of the outputs file"):
        start()
