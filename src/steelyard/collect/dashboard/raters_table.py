"""The raters of a snapshot: how they work, what rules say, and what was decided."""

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.money import money_text
from steelyard.collect.policy.exclusion import flags_of
from steelyard.collect.policy.rater_work import RaterWork
from steelyard.collect.store.decisions import About, Decision
from steelyard.collect.store.progress import RaterRow

__all__ = ["raters_table"]

_BY_DEFAULT = {"estimate": "include", "payment": "pay"}


def raters_table(
    campaign: Campaign,
    raters: Sequence[RaterRow],
    *,
    work: Mapping[str, RaterWork],
    decided: Mapping[tuple[str, About], Decision],
) -> list[dict[str, Any]]:
    """Return one entry a rater, by number; panel ids are not in it."""
    rows = []
    for rater in raters:
        found = work.get(rater.id)
        agreement = found.agreement if found else None
        rows.append(
            {
                "id": rater.id,
                "number": rater.number,
                "judgments": rater.judgments,
                "median_seconds": found.median_seconds if found else None,
                "agreement": agreement.share if agreement else None,
                "compared": agreement.submissions if agreement else 0,
                "leniency": agreement.leniency if agreement else None,
                "gold": rater.gold,
                "handed_back": rater.handed_back,
                "gold_missed": found.gold_missed if found else 0,
                "flags": [
                    {"rule": flag.rule, "excludes": flag.excludes, "reason": flag.reason}
                    for flag in flags_of(campaign, rater, found)
                ],
                "estimate": _decision(decided.get((rater.id, "estimate")), "estimate"),
                "payment": _decision(decided.get((rater.id, "payment")), "payment"),
                "earned": f"{money_text(rater.earned)} {campaign.pay.currency}"
                if rater.earned
                else None,
                "earned_amount": rater.earned,
                "last": rater.last_seen,
            }
        )
    return rows


def _decision(found: Decision | None, about: About) -> dict[str, Any]:
    if found is None:
        return {"verdict": _BY_DEFAULT[about], "reason": None, "by": None, "time": None}
    return {
        "verdict": found.verdict,
        "reason": found.reason,
        "by": found.by,
        "time": found.time,
    }
