import asyncio
import json
import queue

import pytest
from starlette.testclient import TestClient

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.store import Store, StoreError
from steelyard.collect.web.app import create_app, prepared
from steelyard.errors import InvalidDataError

TASK = (
    "{name: t, title: T, show: [{field: output}], "
    "widgets: [{id: q, kind: slider, label: Q, min: 0, max: 100, step: 1}], "
    "scores: [{prompt: q, rule: value, from: q}]}"
)


@pytest.fixture
def campaign(tmp_path):
    def write(extra="", n=4):
        rows = [{"item": f"{n}", "system": "a", "output": f"Text {n}."} for n in range(8)]
        (tmp_path / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / "task.yaml").write_text(TASK)
        path = tmp_path / "campaign.yaml"
        path.write_text(
            "title: A\noutputs: outputs.jsonl\ntask: task.yaml\n"
            f"sample: {{n: {n}, seed: 1}}\n{extra}"
        )
        return load_campaign(path)

    return write


def test_the_description_is_not_served(campaign, tmp_path):
    with Store.open(tmp_path / "a.sqlite") as store:
        client = TestClient(create_app(campaign(), store))
        for path in ("/docs", "/redoc", "/openapi.json"):
            assert client.get(path).status_code == 404


def test_nothing_is_served_from_outside_the_folder_of_static_files(campaign, tmp_path):
    with Store.open(tmp_path / "a.sqlite") as store:
        client = TestClient(create_app(campaign(), store))
        found = client.get("/static/style.css")
        assert found.status_code == 200
        assert found.headers["cache-control"] == "no-cache"
        for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"):
            assert client.get(path).status_code == 404


def test_a_database_keeps_its_secret_and_its_sample(campaign, tmp_path):
    with Store.open(tmp_path / "a.sqlite") as store:
        first = prepared(campaign(), store, now=1)
        assert first.sample_size == 4
        assert prepared(campaign(), store, now=2) == first


def test_a_database_of_another_campaign_is_refused(campaign, tmp_path):
    with Store.open(tmp_path / "a.sqlite") as store:
        create_app(campaign(n=4), store)
        with pytest.raises(StoreError, match="belongs to another campaign"):
            create_app(campaign(n=5), store)


@pytest.mark.parametrize("started", [False, True], ids=["at first", "later"])
def test_a_metric_that_the_outputs_lack_is_refused_at_every_start(campaign, tmp_path, started):
    with Store.open(tmp_path / "a.sqlite") as store:
        if started:
            prepared(campaign(), store, now=1)
        with pytest.raises(InvalidDataError, match=r"line 5, key metrics\[0\]: 'bleu' is no"):
            prepared(campaign("metrics: [bleu]"), store, now=2)


@pytest.mark.parametrize("end", ["?a=1", "#top", "/a b", "//rate"])
def test_a_public_address_is_a_host_and_perhaps_a_path(campaign, tmp_path, end):
    with (
        Store.open(tmp_path / "a.sqlite") as store,
        pytest.raises(InvalidDataError, match="key public_url: must be "),
    ):
        create_app(campaign(f"public_url: https://example.org{end}\n"), store)


def test_a_mistake_of_ours_tells_nothing(campaign, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise KeyError("a secret name")

    with Store.open(tmp_path / "a.sqlite") as store:
        app = create_app(campaign(), store)
        monkeypatch.setattr("steelyard.collect.store.raters.join", fail)
        client = TestClient(app, raise_server_exceptions=False)
        answer = client.get(app.state.site.invitation("ann"))
    assert answer.status_code == 500
    assert "secret name" not in answer.text
    assert "try again" in answer.text


def test_rules_are_kept_while_nobody_looks(campaign, tmp_path, monkeypatch):
    kept = queue.SimpleQueue()
    monkeypatch.setattr("steelyard.collect.web.periodic_work._SECONDS", 0)

    async def apply_rules(live):
        kept.put(live._now())

    monkeypatch.setattr(
        "steelyard.collect.dashboard.live_snapshots.LiveSnapshots.apply_rules", apply_rules
    )

    async def live(app):
        async with app.router.lifespan_context(app) as state:
            assert "end_streams" in state
            return [await asyncio.to_thread(kept.get) for _ in range(3)]

    with Store.open(tmp_path / "a.sqlite") as store:
        times = asyncio.run(live(create_app(campaign(), store, clock=lambda: 7)))
    assert times == [7, 7, 7]
