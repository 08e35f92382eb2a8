"""What every request of one campaign needs."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit

from fastapi import Request
from jinja2 import Environment
from sqlalchemy import Connection
from starlette.responses import HTMLResponse

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.live_snapshots import LiveSnapshots
from steelyard.collect.integrations.panels import InvitationPanel, Panel
from steelyard.collect.policy.budget import Budget
from steelyard.collect.sampling.documents import EARLIER, SEGMENT
from steelyard.collect.store import Store
from steelyard.collect.store.shown import ShownContent
from steelyard.collect.web.attention import AttentionChecks
from steelyard.collect.web.limits import Limits, RateLimit
from steelyard.collect.web.media import MediaFolder
from steelyard.collect.web.presentation import presented, public_content
from steelyard.collect.web.templates import templates
from steelyard.collect.web.tokens import Keys
from steelyard.errors import SteelyardError

__all__ = ["Clock", "Memory", "Notice", "Role", "Site", "site_of", "system_clock", "tried"]

Clock: TypeAlias = Callable[[], int]
Role: TypeAlias = Literal["admin", "viewer"]
T = TypeVar("T")

_ASSIGNMENTS = 4_096
_DAY_MS = 24 * 60 * 60 * 1_000
_MILLION = 1_000_000
# A campaign is over before, or the server prints new links when it starts again.
_LINK_DAYS = 90


def system_clock() -> int:
    """Return the time in milliseconds UTC."""
    return time.time_ns() // 1_000_000


@dataclass
class Notice:
    """What all raters are told, as this process knows it; empty if nothing is."""

    text: str = ""


class Memory:
    """The last assignments given out.

    What one shows and to whom stays true for good, so that several processes may remember it
    apart; what is forgotten is looked up again.
    """

    def __init__(self) -> None:
        self._contents: OrderedDict[str, ShownContent] = OrderedDict()

    def keep(self, assignment: str, content: ShownContent) -> None:
        """Remember what an assignment shows."""
        self._contents[assignment] = content
        self._contents.move_to_end(assignment)
        if len(self._contents) > _ASSIGNMENTS:
            self._contents.popitem(last=False)

    def content(self, assignment: str) -> ShownContent | None:
        """Return what an assignment shows, if it is remembered."""
        return self._contents.get(assignment)


@dataclass(frozen=True)
class Site:
    """A campaign as it is served by one process.

    Attributes
    ----------
    campaign, store
        What is asked, and where the answers are kept.
    panel
        Where the raters come from.
    keys
        What signs tokens and cookies.
    live
        Snapshots for the dashboard.
    origin
        Where links lead: ``https://host``. The Host header of a request is never believed.
    clock
        The time in milliseconds UTC.
    limits, requests, joins
        What is taken from one sender: sizes, and times for each session and for each address.
    budget
        What may still be spent.
    checks
        Gold items that tell a rater what was missed.
    memory
        What this process remembers of the assignments it gave out.
    changed
        Set when somebody changes the campaign by hand, so that services outside are told soon.
    notice
        What all raters are told.
    media
        The files that the task shows; None if there are none.
    as_markdown
        Fields that are laid out as markdown because they look like it.
    """

    campaign: Campaign
    store: Store
    panel: Panel
    keys: Keys
    live: LiveSnapshots
    origin: str
    clock: Clock
    limits: Limits
    requests: RateLimit
    joins: RateLimit
    budget: Budget
    checks: AttentionChecks
    memory: Memory = field(default_factory=Memory)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    notice: Notice = field(default_factory=Notice)
    media: MediaFolder | None = None
    as_markdown: tuple[str, ...] = ()
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("steelyard.collect"))
    _pages: Environment = field(default_factory=templates)

    def on_page(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return a content for the page: its texts, and how they are laid out.

        Among documents, gold looks like one.
        """
        if self.campaign.documents is not None:
            content = {EARLIER: [], SEGMENT: [1, 1], **content}
        task = self.campaign.task
        shown = presented(task, self.media, content, wording=self.campaign.wording)
        return {"content": public_content(task, self.media, content), "shown": shown}

    @property
    def base(self) -> str:
        """The path of our host below which all addresses are; empty if there is none."""
        return urlsplit(self.origin).path

    async def write(self, operation: Callable[[Connection], T]) -> T:
        """Run an operation in the writer and return when it is durable."""
        return await asyncio.wrap_future(self.store.write(operation))

    async def read(self, operation: Callable[[Connection], T]) -> T:
        """Run an operation that changes nothing, in another thread."""
        return await asyncio.to_thread(self.store.read, operation)

    def page(self, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
        """Return a page."""
        text = self._pages.get_template(template).render(
            base=self.base, campaign=self.campaign, t=self.campaign.wording, **context
        )
        return HTMLResponse(text, status)

    def message_page(self, title: str, message: str, *, status: int = 200) -> HTMLResponse:
        """Return a page that says something and asks nothing."""
        say = self.campaign.wording.of
        return self.page("message.html", status=status, title=say(title), message=say(message))

    @property
    def pay_per_judgment(self) -> int:
        """What an output judged is paid, in millionths of the currency."""
        return round(self.campaign.pay.per_judgment * _MILLION)

    @property
    def tutorial_bonus(self) -> int:
        """What a tutorial passed is paid, in millionths of the currency."""
        return round(self.campaign.pay.tutorial_bonus * _MILLION)

    def money(self, amount: int) -> str | None:
        """Write millionths of the currency for a rater; None if nobody is paid."""
        if not self.pay_per_judgment and not self.tutorial_bonus:
            return None
        whole, _, cents = f"{amount / _MILLION:.6f}".partition(".")
        say = self.campaign.wording
        mark = say("decimal-mark")
        return f"{whole}{mark}{cents.rstrip('0').ljust(2, '0')} {self.campaign.pay.currency}"

    @property
    def terms(self) -> str:
        """What raters are told of time and pay before they begin; empty if nothing was declared."""
        told = [self.work_terms]
        if self.tutorial_bonus and self.campaign.task.tutorial is not None:
            say = self.campaign.wording
            told.append(say("terms-tutorial", amount=self.money(self.tutorial_bonus)))
        return " ".join(filter(None, told))

    @property
    def work_terms(self) -> str:
        """What raters are told of time and pay while they work, when the tutorial is behind them."""
        pay, say = self.campaign.pay, self.campaign.wording
        amount = self.money(self.pay_per_judgment)
        seconds = None if pay.expected_seconds is None else f"{pay.expected_seconds:g}"
        if seconds is not None and self.pay_per_judgment:
            return say("terms-both", seconds=seconds, amount=amount)
        if seconds is not None:
            return say("terms-time", seconds=seconds)
        return say("terms-pay", amount=amount) if self.pay_per_judgment else ""

    @property
    def lease_ms(self) -> int:
        """How long an output is kept for a rater."""
        return round(self.campaign.lease_minutes * 60_000)

    def expiry(self) -> int:
        """Return when a link made now is over."""
        return self.clock() + _LINK_DAYS * _DAY_MS

    def rater_link(self) -> str:
        """Return the link to give to the panel, or that of the first invited rater."""
        kind = self.campaign.panel.kind
        if self.printed_invitation is not None:
            return self.invitation(self.printed_invitation)
        token = self.keys.sign("panel", kind, expires=self.expiry())
        return self.panel.link(self.origin, token)

    @property
    def printed_invitation(self) -> str | None:
        """Whom the link that is printed at the start invites; None if it is the panel's."""
        return "first" if self.campaign.panel.kind == "invitation" else None

    def invitation(self, rater: str) -> str:
        """Return the link of one invited rater, in a campaign of any panel."""
        token = self.keys.sign("invitation", rater, expires=self.expiry())
        return InvitationPanel().link(self.origin, token)

    def admin_link(self, role: Role = "admin") -> str:
        """Return the link to the dashboard: for whoever runs the campaign, or for looking only."""
        token = self.keys.sign("admin-link", role, expires=self.expiry())
        return f"{self.origin}/admin/enter?token={token}"

    def cookie_name(self, kind: str) -> str:
        """Return what a cookie is called here: ports of one host share their cookies."""
        return f"{kind}_{self.keys.mark}"

    def same_site(self) -> Literal["lax", "none"]:
        """Return whether cookies must reach us in a frame of others."""
        framed = bool(self.panel.framed_by)
        return "none" if framed and self.origin.startswith("https://") else "lax"


def site_of(request: Request) -> Site:
    """Return the site that a request came to."""
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


async def tried(site: Site, applied: Awaitable[None]) -> None:
    """Apply the rules of quality; what goes wrong is no fault of the rater's."""
    try:
        await applied
    except SteelyardError as error:
        site.log.warning("the rules of quality were not applied: %s", error)
