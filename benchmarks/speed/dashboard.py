"""A judged campaign in a store, and the snapshot that the dashboard asks for.

12 drawn outputs of each system, a pool of 40, one metric, two judgments of every drawn output; one rater is left
out, so that estimates with and without exclusions are made.
"""

import json
from dataclasses import dataclass
from functools import partial

import numpy as np
import yaml
from sqlalchemy import insert, select, update

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.dashboard.pool import read_pool
from steelyard.collect.dashboard.snapshot import snapshot
from steelyard.collect.sampling.draw import units_of
from steelyard.collect.store import Store
from steelyard.collect.store.settings import Facts, initialise
from steelyard.collect.store.tables import leases, raters, sessions, slots, submissions

NOW = 1_790_000_000_000
TASK = {
    "name": "quality",
    "title": "Quality",
    "show": [{"field": "output"}],
    "widgets": [{"id": "quality", "kind": "slider", "label": "?", "min": 0, "max": 100, "step": 1}],
    "scores": [{"prompt": "quality", "rule": "value", "from": "quality"}],
}


def prepared(folder, systems):
    """A judged campaign's snapshot, to be called."""
    path = write_campaign(folder, systems)
    store = Store.open(folder / "campaign.sqlite")
    campaign = load_campaign(path)
    draw = partial(initialise, facts=Facts.of(campaign), units=units_of(campaign), now=NOW)
    store.write(draw).result()
    judgments = store.write(judge_all).result()
    return Snapshot(campaign, store, read_pool(campaign), judgments)


@dataclass(frozen=True)
class Snapshot:
    """What the observer makes when the dashboard asks; called, it writes it as JSON."""

    campaign: object
    store: Store
    pool: object
    judgments: int

    def __call__(self):
        made = snapshot(self.campaign, self.store, now=NOW, pool=self.pool)
        return json.dumps(made, allow_nan=False)


def write_campaign(folder, systems, *, pool=40, drawn=12):
    rng = np.random.default_rng(systems)
    rows = [
        {"item": f"i{item}", "system": f"s{system}", "output": f"{item} by {system}", "metric": one}
        for system in range(systems)
        for item, one in enumerate(rng.uniform(size=pool))
    ]
    (folder / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "task.yaml").write_text(yaml.safe_dump(TASK), "utf-8")
    campaign = {
        "title": "Benchmark",
        "outputs": "outputs.jsonl",
        "task": "task.yaml",
        "sample": {"n": drawn, "seed": 1},
        "judgments_per_output": 2,
        "metrics": ["metric"],
        "goal": {"half_width": 5.0},
        "panel": {"kind": "open"},
    }
    (folder / "campaign.yaml").write_text(yaml.safe_dump(campaign), "utf-8")
    return folder / "campaign.yaml"


def judge_all(connection, *, people=40):
    """Fill every slot, the last of the raters being left out; return how many judgments that makes."""
    rng = np.random.default_rng(0)
    names = [f"rater-{number}" for number in range(people)]
    joined = {"panel": "open", "joined": NOW}
    connection.execute(
        insert(raters),
        [{"id": one, "external_id": one, "excluded": one == names[-1]} | joined for one in names],
    )
    opened = {"panel_session": "s", "parameters": "{}", "opened": NOW}
    connection.execute(insert(sessions), [{"id": one, "rater": one} | opened for one in names])
    rows = []
    for slot, unit in connection.execute(select(slots.c.id, slots.c.unit).order_by(slots.c.id)):
        who = names[slot % people]
        score = float(np.clip(rng.normal(60, 20), 0, 100).round())
        rows.append(
            {
                "id": f"lease-{slot}",
                "lease": f"lease-{slot}",
                "key": f"key-{slot}",
                "slot": slot,
                "unit": unit,
                "rater": who,
                "session": who,
                "answer": json.dumps({"quality": score}),
                "scores": json.dumps({"quality": score}),
                "active_ms": 9000,
                "swapped": False,
                "started": NOW,
                "time": NOW + slot,
            }
        )
    names = [one.name for one in leases.columns if one.name in rows[0]]
    connection.execute(insert(leases), [{name: row[name] for name in names} for row in rows])
    rows = [{name: row[name] for name in row if name != "id"} for row in rows]
    connection.execute(insert(submissions), rows)
    connection.execute(update(slots).values(done=True))
    return len(rows)
