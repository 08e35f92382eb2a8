"""What binds a database to its campaign: a digest of all that must not change after the start."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steelyard.collect.config.campaign import Campaign
    from steelyard.collect.config.parts import Sample

__all__ = ["digest_of", "draw_facts", "facts_of", "fingerprint_of", "without_wording"]

# What the page says may be improved while a campaign runs; what is asked and counted may not.
_LATER = (
    ("missing", False),
    ("once", False),
    ("suggested", None),
)
_WORDING = {"label", "help", "tip", "key", "text", "confirm", "low", "high"}


def fingerprint_of(campaign: "Campaign") -> str:
    """Return the digest of the pool, the draw, the questions and the scores of a campaign."""
    return digest_of(facts_of(campaign))


def digest_of(facts: Mapping[str, Any]) -> str:
    """Return the digest of what `facts_of` returned."""
    text = json.dumps(facts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def facts_of(campaign: "Campaign") -> dict[str, Any]:
    """Return what must not change after the start."""
    task = campaign.task
    sample = campaign.sample
    facts: dict[str, Any] = {
        "outputs": _digest(campaign.outputs),
        "sample": _digest(sample) if isinstance(sample, Path) else draw_facts(sample),
        "judgments_per_output": campaign.judgments_per_output,
        "gold": None if campaign.gold is None else _digest(campaign.gold.file),
        "pair": task.pair,
        "fields": task.fields,
        "widgets": [_asked(widget.model_dump(mode="json")) for widget in task.widgets],
        "scores": [score.model_dump(mode="json") for score in task.scores],
    }
    if task.side_by_side:
        facts["side_by_side"] = True
    if campaign.documents is not None:
        facts["documents"] = campaign.documents.model_dump(mode="json")
    if campaign.second_judgments:  # campaigns of before have none
        facts["second_judgments"] = campaign.second_judgments
    return facts


def draw_facts(sample: "Sample") -> dict[str, Any]:
    """Return what is to be drawn."""
    return sample.model_dump(mode="json")


def _asked(widget: dict[str, Any]) -> Any:
    """Return what a widget asks, as campaigns of before have it where nothing newer is declared."""
    kept = {key: value for key, value in widget.items() if (key, value) not in _LATER}
    if "categories" in kept:
        kept["categories"] = [
            one if one["weights"] else one["value"] for one in widget["categories"]
        ]
    return without_wording(kept)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def without_wording(data: Any) -> Any:
    """Return what was declared without what may be improved while a campaign runs."""
    if isinstance(data, dict):
        return {key: without_wording(value) for key, value in data.items() if key not in _WORDING}
    return [without_wording(entry) for entry in data] if isinstance(data, list) else data
