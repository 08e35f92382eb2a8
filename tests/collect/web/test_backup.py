"""Databases outlive servers: their backups."""

import json
import re
import sqlite3
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.store import Store
from steelyard.collect.store.progress import progress
from steelyard.collect.web.app import create_app

TASK = (
    "{name: t, title: T, show: [{field: output}], "
    "widgets: [{id: q, kind: slider, label: Q, min: 0, max: 100, step: 1}], "
    "scores: [{prompt: q, rule: value, from: q}]}\n"
)
NOW = 1_800_000_000_000


@pytest.fixture
def campaign(tmp_path):
    """A small campaign."""
    rows = [{"item": f"i{n}", "system": "a", "output": f"Text {n}."} for n in range(6)]
    (tmp_path / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "task.yaml").write_text(TASK)
    path = tmp_path / "campaign.yaml"
    path.write_text(
        "title: Upgraded\noutputs: outputs.jsonl\ntask: task.yaml\nsample: {n: 4, seed: 1}\n"
    )
    return load_campaign(path)


class Ann:
    """Rater ann at work."""

    def __init__(self, campaign, store):
        app = create_app(campaign, store, clock=lambda: NOW)
        self.link = app.state.site.invitation("ann")
        self.client = TestClient(app, base_url="http://127.0.0.1:8000")

    def come(self, link=None):
        page = self.client.get(link or self.link)
        assert page.status_code == 200, page.text
        self.word = re.search(r'name="csrf-token" content="([^"]+)"', page.text)[1]

    def judge(self):
        headers = {"X-CSRF-Token": self.word}
        given = self.client.post("/api/next", json={}, headers=headers).json()["assignment"]["id"]
        body = {"assignment": given, "key": f"key-{given}", "answer": {"q": 50}, "active_ms": 1_000}
        return self.client.post("/api/submit", json=body, headers=headers).json()


def counts(store):
    found = store.read(lambda connection: progress(connection, now=NOW))
    return found.judgments, found.raters, found.units


def test_a_backup_made_while_raters_work_can_be_restored(campaign, tmp_path):
    backup = tmp_path / "backup.sqlite"
    with Store.open(campaign.database) as store:
        ann = Ann(campaign, store)
        ann.come()
        ann.judge()
        with sqlite3.connect(campaign.database) as running, sqlite3.connect(backup) as copy:
            # what `sqlite3 campaign.sqlite ".backup ..."` does
            running.backup(copy)
        running.close()
        copy.close()
        ann.judge()
        link = ann.link
    for end in ("", "-wal", "-shm"):
        Path(f"{campaign.database}{end}").unlink(missing_ok=True)
    backup.rename(campaign.database)
    with Store.open(campaign.database) as store:
        assert counts(store) == (1, 1, 4)
        again = Ann(campaign, store)
        # the link from before still opens
        again.come(link)
        assert again.judge()["done"] == 2
    assert Path(campaign.database).stat().st_mode & 0o077 == 0
