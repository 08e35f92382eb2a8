"""Keeps as many places of a study at Prolific open as the campaign needs, and pauses it otherwise."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Self

from steelyard.collect.campaign import Campaign
from steelyard.collect.campaign_panels import ProlificPanel, ProlificPlaces
from steelyard.collect.integrations.outgoing import OutgoingError
from steelyard.collect.integrations.prolific_api import ProlificApi, Study
from steelyard.collect.integrations.prolific_demand import wanted_visits
from steelyard.collect.integrations.services import Outside, secret_word
from steelyard.collect.money import micro
from steelyard.collect.store import Store

__all__ = ["Recruiter", "prolific_token"]

# All places are taken, or somebody ended the study.
_OVER = frozenset({"AWAITING REVIEW", "COMPLETED"})
# With any other status, Prolific is at work on the study.
_KNOWN = frozenset({"ACTIVE", "PAUSED", *_OVER})


@dataclass(kw_only=True)
class Recruiter(Outside):
    """Brings a study in line with what the campaign needs, again and again.

    What is done follows from how study and campaign stand now, so that nothing is lost when a
    request fails or the server starts anew. A study that somebody paused or ended at Prolific
    stays so: only a pause of our own is ended by us. Nothing is ever published.

    Attributes
    ----------
    panel, declared
        What the campaign file says of Prolific.
    api
        The study.
    """

    name = "prolific"
    panel: ProlificPanel
    declared: ProlificPlaces
    api: ProlificApi

    @classmethod
    def of(cls, campaign: Campaign, store: Store) -> Self | None:
        """Return the recruiter of a campaign; None if its places are filled by hand.

        Raises
        ------
        InvalidDataError
            If the variable with the token is not set.
        """
        panel, token = campaign.panel, prolific_token(campaign)
        if token is None or not isinstance(panel, ProlificPanel) or panel.places is None:
            return None
        declared = panel.places
        api = ProlificApi(declared.address, declared.study, token)
        return cls(campaign=campaign, store=store, panel=panel, declared=declared, api=api)

    def regret(self, error: OutgoingError, seconds: float) -> str:
        """Return what the dashboard says of a failure."""
        return (
            f"Prolific did not do what it was asked: {error}. The campaign goes on; places are "
            f"looked at again in {seconds:.0f} seconds, or fill and pause them by hand."
        )

    async def act(self, *, now: int) -> str | None:
        """Look at the study and do what is due."""
        study = await self.api.read()
        wanted = await asyncio.to_thread(
            self.store.read,
            partial(
                wanted_visits,
                per_visit=self.campaign.visit_judgments or 1,
                price=micro(self.campaign.pay.per_judgment),
                lease_ms=round(self.campaign.lease_minutes * 60_000),
                now=now,
            ),
        )
        told = [await self._acted(study, wanted), self._unknown_codes(study)]
        return " ".join(one for one in told if one) or None

    async def _acted(self, study: Study, wanted: int) -> str | None:
        """Do what is due; return what somebody must do at Prolific instead of us."""
        if not wanted:
            if study.status == "ACTIVE":
                # kept before: a pause that nobody remembers would last for ever
                await self.remember({"paused": True})
                await self.api.change("PAUSE")
            return None
        ours = bool((await self.known()).get("memory", {}).get("paused"))
        by_hand = _by_hand(study, ours=ours)
        if by_hand is not None or study.status not in _KNOWN:
            return by_hand
        study = await self._filled(study, wanted)
        if study.status == "PAUSED" and study.free:
            await self.api.change("START")
            await self.remember({"paused": False})
        elif ours and study.status == "ACTIVE":
            await self.remember({"paused": False})
        if study.free:
            return None
        return (
            f"All {study.places} places of the study are taken, judgments are lacking, and panel.places.most "
            "allows no more places: raise it in the campaign file and start the server again."
        )

    async def _filled(self, study: Study, wanted: int) -> Study:
        open_places = min(wanted, self.declared.at_once)
        places = min(study.taken + open_places, self.declared.most)
        return study if places <= study.places else await self.api.add_places(places)

    def _unknown_codes(self, study: Study) -> str | None:
        """Return which codes of the campaign file the study does not know."""
        if study.codes is None:
            return None
        named = {
            name: getattr(self.panel, name)
            for name in ("completion_code", "screen_out_code", "excluded_code", "no_consent_code")
        }
        missing = [name for name, code in named.items() if code and code not in study.codes]
        if not missing:
            return None
        return (
            f"The study at Prolific does not know {', '.join(f'panel.{name}' for name in missing)} of the campaign "
            "file: give it that code there, or raters cannot go back."
        )


def prolific_token(campaign: Campaign) -> str | None:
    """Return the token for Prolific; None if places are filled by hand.

    Raises
    ------
    InvalidDataError
        If the variable that should hold it does not.
    """
    if not isinstance(campaign.panel, ProlificPanel) or campaign.panel.places is None:
        return None
    key = ("panel", "places", "token_env")
    otherwise = "take out panel.places to fill places by hand"
    return secret_word(campaign, key, what="token", otherwise=otherwise)


def _by_hand(study: Study, *, ours: bool) -> str | None:
    """Return what somebody must do at Prolific before the study brings raters."""
    if study.status == "PAUSED" and not ours:
        return "The study is paused at Prolific, and not by this server: start it there."
    if study.status in _OVER and study.free:
        return "The study was ended at Prolific: go on with it there, or stop the campaign."
    if study.status == "UNPUBLISHED":
        return "The study is not published at Prolific: publish it there."
    return None
