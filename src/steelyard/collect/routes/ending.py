"""The end of a visit: what a rater is told, and the way back to the panel."""

from functools import partial
from typing import Any

from steelyard.collect.panels import Outcome, Return
from steelyard.collect.routes import messages
from steelyard.collect.routes.site import Site
from steelyard.collect.store import sessions
from steelyard.collect.store.decisions import verdict

__all__ = ["ended"]


async def ended(site: Site, facts: sessions.Session, reason: Any) -> messages.NextDone:
    """Return the end of a visit: why, in words, and the way back to where the rater came from."""
    decided = await site.read(partial(verdict, rater=facts.rater, about="payment"))
    way_back = _way_back(site, facts, reason, decided)
    say, screening = site.campaign.wording, site.campaign.screening
    own = screening.message if screening is not None and reason == "screened-out" else None
    return messages.NextDone(
        reason=reason,
        title=say(f"ended-title-{reason}"),
        message=own or say(f"ended-{reason}"),
        way_back=way_back,
    )


def _way_back(
    site: Site, facts: sessions.Session, reason: str, decided: str | None
) -> messages.WayBack | None:
    """Return the way back; a decision about payment goes before what follows from the work."""
    if facts.panel != site.campaign.panel.kind:
        # somebody invited to a campaign that a panel works for
        return None
    is_screened = decided == "refuse" or (
        reason in {"tutorial-failed", "excluded", "no-consent", "screened-out"} and decided != "pay"
    )
    found: Return | None = None
    if facts.done and not is_screened:
        found = site.panel.way_back(facts.parameters, outcome="complete")
    else:
        outcome: Outcome = "excluded" if is_screened and facts.done else "screened-out"
        if reason == "no-consent":
            outcome = "no-consent"
        found = site.panel.way_back(facts.parameters, outcome=outcome)
        if found is None and not is_screened:
            # who came for nothing should not be left without a way back
            found = site.panel.way_back(facts.parameters, outcome="complete")
    if found is None:
        return None
    return messages.WayBack(
        method=found.method,
        url=found.url,
        fields=found.fields,
        label=site.campaign.wording.of(found.label),
    )
