"""The end of a visit: what a rater is told, and the way back to the panel."""

from typing import Any

from sqlalchemy import Connection

from steelyard.collect.integrations.panels import Outcome
from steelyard.collect.policy.visit import visit_outcome
from steelyard.collect.store import sessions
from steelyard.collect.store.decisions import verdict
from steelyard.collect.store.hand_backs import handed_back
from steelyard.collect.web import messages
from steelyard.collect.web.site import Site

__all__ = ["ended"]


async def ended(site: Site, facts: sessions.Session, reason: Any) -> messages.Reply:
    """Return the end of a visit: why, in words, and the way back to where the rater came from."""

    def read(connection: Connection) -> Outcome:
        return visit_outcome(
            reason,
            judged=facts.done,
            handed_back=handed_back(connection, session=facts.id),
            decided=verdict(connection, rater=facts.rater, about="payment"),
        )

    way_back = _way_back(site, facts, await site.read(read))
    say = site.campaign.wording
    return {
        "status": "done",
        "reason": reason,
        "title": say(f"ended-title-{reason}"),
        "message": say(f"ended-{reason}"),
        "return": way_back,
    }


def _way_back(site: Site, facts: sessions.Session, outcome: Outcome) -> messages.Reply | None:
    if facts.panel != site.campaign.panel.kind:
        # somebody invited to a campaign that a panel works for
        return None
    found = site.panel.way_back(facts.parameters, outcome=outcome)
    if found is None:
        return None
    return {
        "method": found.method,
        "url": found.url,
        "fields": found.fields,
        "label": site.campaign.wording.of(found.label),
    }
