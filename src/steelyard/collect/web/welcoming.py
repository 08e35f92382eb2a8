"""The first page: what it is for, what it takes and pays, and whether somebody agrees; and leaving."""

import hashlib
from functools import partial

from fastapi import APIRouter, Response
from sqlalchemy import Connection

from steelyard.collect.config.wording import phrase
from steelyard.collect.store import rater_answers
from steelyard.collect.web import messages
from steelyard.collect.web.cookies import RATER_COOKIE, Cookie
from steelyard.collect.web.guards import RaterVisit, change
from steelyard.collect.web.refusals import RefusedError, refusals
from steelyard.collect.web.site import Site

__all__ = ["router", "welcome_state"]

router = APIRouter()


def welcome_state(site: Site, connection: Connection, rater: str) -> messages.Welcome | None:
    """Return what a rater is told first; None if there is nothing, or the rater has agreed."""
    welcome = site.campaign.welcome
    if welcome is None:
        return None
    agreed = rater_answers.agreement(connection, rater=rater, words=_words(site))
    if agreed:
        return None
    return messages.Welcome(
        purpose=welcome.purpose, consent=welcome.consent, terms=site.terms, agreed=agreed
    )


@router.post("/api/consent", **change(404))
async def consent(visit: RaterVisit, sent: messages.Consent) -> messages.Consented:
    """Keep whether a rater agrees to take part."""
    site = visit.site
    if site.campaign.welcome is None:
        raise RefusedError(404, phrase("no-consent-asked"))
    await site.write(
        partial(
            rater_answers.record_agreement,
            rater=visit.rater,
            words=_words(site),
            agreed=sent.agreed,
            now=site.clock(),
        )
    )
    return messages.Consented(agreed=sent.agreed)


@router.post("/api/leave", **change())
async def leave(visit: RaterVisit, sent: messages.Nothing, answer: Response) -> messages.Left:
    """Forget who works in this browser; the link brings the rater back."""
    del sent
    site = visit.site
    cookie = Cookie(
        site.cookie_name(RATER_COOKIE),
        path="/",
        same_site=site.same_site(),
        secure=site.origin.startswith("https://"),
    )
    value, seconds = "", 0
    if site.campaign.session.one_per_browser:
        # it lets nobody in, but shows that somebody has taken part here
        expires = site.expiry()
        value = site.keys.sign("left", visit.rater, expires=expires)
        seconds = (expires - site.clock()) // 1_000
    answer.headers.append("set-cookie", cookie.header(value, seconds=seconds))
    return messages.Left()


@router.get("/api/notice", responses=refusals(401, 429))
async def notice(visit: RaterVisit) -> messages.Notice:
    """Return what whoever runs the campaign tells all raters."""
    return messages.Notice(text=visit.site.notice.text)


def _words(site: Site) -> str:
    """Return a digest of what raters are told: other words ask anew."""
    welcome = site.campaign.welcome
    assert welcome is not None
    told = f"{welcome.purpose}\n{welcome.consent or ''}"
    return hashlib.sha256(told.encode()).hexdigest()
