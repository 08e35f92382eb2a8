"""A campaign with raters who are not there: they work through the store as real ones would."""

import heapq
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import yaml

from steelyard.collect.config.campaign import Campaign, load_campaign
from steelyard.collect.money import micro
from steelyard.collect.sampling.draw import units_of
from steelyard.collect.store import Store
from steelyard.collect.store.leases import Lease, next_lease
from steelyard.collect.store.raters import join, open_session
from steelyard.collect.store.settings import Facts, initialise
from steelyard.collect.store.submissions import submit
from steelyard.collect.tasks import derive_scores

START = 1_790_000_000_000
MINUTE = 60_000


@dataclass(frozen=True)
class Rater:
    """How a simulated rater works: seconds an output, leniency, noise, characters an edit, most outputs."""

    seconds: float = 40.0
    leniency: float = 0.0
    noise: float = 0.35
    edit: int = 12
    most: int = 10_000


GOOD = Rater()
HASTY = Rater(seconds=1.5, noise=2.0, edit=1, most=25)
CONTRARY = Rater(leniency=-9.0, noise=0.1)


def write_campaign(folder: Path, *, pool: int = 200, systems: int = 3, **keys) -> Path:
    """Write a campaign on the language of made-up outputs, some of which two systems share."""
    rng = np.random.default_rng(5)
    names = ["baseline", "large", "large-tuned", "distilled", "retrieval"][:systems]
    rows = []
    for item in range(pool):
        quality = rng.normal(size=systems) * 0.5 + rng.normal() * 0.4 + np.arange(systems) * 0.35
        texts = [f"The summary of story {item} by {name}." for name in names]
        if systems > 1 and rng.uniform() < 0.15:
            texts[1], quality[1] = texts[0], quality[0]
        for name, text, value in zip(names, texts, quality, strict=True):
            metric = float(0.5 + 0.25 * value + 0.12 * rng.normal())
            rows.append(
                {
                    "item": f"story-{item}",
                    "system": name,
                    "output": text,
                    "rouge-l": metric,
                    "truth": float(value),
                }
            )
    campaign = {
        "title": "How well are our summaries written?",
        "outputs": "outputs.jsonl",
        "task": "language-quality",
        "sample": {"n": 60, "seed": 1},
        "judgments_per_output": 2,
        "metrics": ["rouge-l"],
        "goal": {"half_width": 0.15, "prompts": ["overall"], "budget": 150.0},
        "panel": {"kind": "invitation"},
        "pay": {"per_judgment": 0.40, "tutorial_bonus": 0.75},
        "quality": {
            "active_seconds": 5,
            "edit_characters": 3,
            "agreement": 0.6,
        },
    } | keys
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "outputs.jsonl").write_text(lines, "utf-8")
    (folder / "campaign.yaml").write_text(yaml.safe_dump(campaign), "utf-8")
    return folder / "campaign.yaml"


def begin(path: Path, store: Store, *, now: int = START) -> Campaign:
    """Draw the sample and make the database ready."""
    campaign = load_campaign(path)
    facts = Facts.of(campaign)
    store.write(partial(initialise, facts=facts, units=units_of(campaign), now=now)).result()
    return campaign


def work(
    campaign: Campaign,
    store: Store,
    raters: list[Rater],
    *,
    judgments: int,
    seed: int = 0,
    start: int = START,
    prefers: str | None = None,
) -> int:
    """Let raters judge until so many judgments are in; return the time of the last.

    Raters of pairs prefer the system `prefers`.
    """
    rng = np.random.default_rng(seed)
    lines = campaign.outputs.read_text("utf-8").splitlines()
    qualities = {row["output"]: row["truth"] for row in map(json.loads, lines)}
    waiting = []
    for number in range(len(raters)):
        name = f"panel-id-{seed}-{number}"
        # ids are random, and the order in which a rater is given units is made of the id
        with patch("steelyard.collect.store.raters.new_id", return_value=f"id-{seed}-{number}"):
            joined = partial(join, panel="invitation", external_id=name, now=start)
            rater = store.write(joined).result()
        opened = partial(open_session, rater=rater, panel_session="s", parameters={}, now=start)
        session = store.write(opened).result()
        heapq.heappush(waiting, (start + number * MINUTE // 2, number, rater, session.id, None))
    counts = [0] * len(raters)
    done, now = 0, start
    while waiting and done < judgments:
        now, number, rater, session, lease = heapq.heappop(waiting)
        how = raters[number]
        if lease is not None:
            if prefers is None:
                answer = _answer(lease, how, qualities, rng)
            else:
                [widget] = [one for one in campaign.task.widgets if one.kind == "preference"]
                is_first = lease.shown.content["first"].endswith(f"by {prefers}.")
                answer = {widget.id: "first" if is_first else "second"}
            store.write(
                partial(
                    submit,
                    lease=lease.id,
                    rater=rater,
                    key=lease.id,
                    answer=answer,
                    scores=derive_scores(
                        campaign.task, lease.shown.content, answer, swapped=lease.shown.swapped
                    ),
                    active_ms=now - lease.started,
                    now=now,
                    pay=micro(campaign.pay.per_judgment),
                )
            ).result()
            done += 1
            counts[number] += 1
        if counts[number] >= how.most:
            continue
        asked = {"session": session, "rater": rater, "lease_ms": 30 * MINUTE}
        found = store.write(partial(next_lease, **asked, now=now)).result()
        if isinstance(found, Lease):
            seconds = how.seconds * rng.lognormal(0, 0.3)
            later = now + int(1000 * seconds)
            heapq.heappush(waiting, (later, number, rater, session, found))
    return now


def _answer(lease: Lease, how: Rater, qualities: dict[str, float], rng: np.random.Generator):
    """Rate a text by its quality and edit it if need be."""
    text = lease.shown.content["output"]
    answer = {}
    for facet in ("fluency", "redundancy", "overall"):
        seen = qualities[text] + how.leniency + how.noise * rng.normal()
        answer[facet] = int(np.clip(round(1.9 + 0.6 * seen), 1, 3))
    if min(answer.values()) < 3:
        # the worse the text, the more words are changed; a hasty rater changes a letter
        words = 3 - answer["overall"] if how.edit > 4 else 0
        answer["edit"] = text + words * "x " + "x" * (how.edit - 2 * words)
    return answer
