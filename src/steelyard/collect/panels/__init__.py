"""Where raters come from and where they go back to: invitations, panels, open local use."""

from steelyard.collect.campaign import Campaign
from steelyard.collect.campaign_panels import (
    ExternalQuestionPanel,
    GenericPanel,
    InvitationPanel,
    OpenPanel,
    ProlificPanel,
)
from steelyard.collect.panels.arriving import Arrival, Outcome, Panel, Return
from steelyard.collect.panels.external_question import ExternalQuestion
from steelyard.collect.panels.generic import Generic, leads_somewhere
from steelyard.collect.panels.invited import Invitation, Open
from steelyard.collect.panels.prolific import Prolific

__all__ = [
    "Arrival",
    "ExternalQuestion",
    "Generic",
    "Invitation",
    "Open",
    "Outcome",
    "Panel",
    "Prolific",
    "Return",
    "panel_of",
]


def panel_of(campaign: Campaign) -> Panel:
    """Return the panel that a campaign names.

    Raises
    ------
    InvalidDataError
        If an address of a generic panel does not say where it leads before its first parameter.
    """
    match campaign.panel:
        case InvitationPanel():
            return Invitation()
        case OpenPanel():
            return Open()
        case ProlificPanel() as named:
            return Prolific(
                named.completion_code,
                named.screen_out_code,
                named.excluded_code,
                named.no_consent_code,
            )
        case ExternalQuestionPanel() as named:
            return ExternalQuestion(tuple(_as_origin(host) for host in named.hosts))
        case GenericPanel() as named:
            addresses = (
                ("return", named.return_to),
                ("screen_out", named.screen_out),
                ("excluded", named.excluded),
                ("no_consent", named.no_consent),
            )
            for key, address in addresses:
                if address is not None and not leads_somewhere(address):
                    raise campaign.error(
                        ("panel", key),
                        f"must begin with https:// and a host, before any {{parameter}}; got {address!r}",
                    )
            return Generic(
                named.rater,
                named.session,
                named.return_to,
                named.screen_out,
                named.excluded,
                named.no_consent,
            )


def _as_origin(host: str) -> str:
    return (host if "://" in host else f"https://{host}").rstrip("/").lower()
