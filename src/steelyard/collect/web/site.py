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
from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from sqlalchemy import Connection
from starlette.responses import HTMLResponse

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.live_snapshots import LiveSnapshots
from steelyard.collect.integrations.panels import InvitationPanel, Panel
from steelyard.collect.money import money_text
from steelyard.collect.policy.budget import Budget
from steelyard.collect.sampling.documents import EARLIER, SEGMENT
from steelyard.collect.store import Store
from steelyard.collect.store.shown import ShownContent
from steelyard.collect.tasks import GoldItem, grade_gold
from steelyard.collect.tasks.gold import unordered
from steelyard.collect.web.limits import RateLimit
from steelyard.collect.web.media import MediaFolder
from steelyard.collect.web.presentation import presented, public_content
from steelyard.collect.web.tokens import Keys
from steelyard.errors import SteelyardError

__all__ = ["Clock", "Memory", "Role", "Site", "site_of", "system_clock", "tried"]

Clock: TypeAlias = Callable[[], int]
Role: TypeAlias = Literal["admin", "viewer"]
T = TypeVar("T")

_ASSIGNMENTS = 4_096
_DAY_MS = 24 * 60 * 60 * 1_000
# A campaign is over before, or the server prints new links when it starts again.
_LINK_DAYS = 90


def system_clock() -> int:
    """Return the time in milliseconds UTC."""
    return time.time_ns() // 1_000_000


def _sentence(text: str) -> str:
    """Return a message as a page shows it: with a capital and a full stop.

    Examples
    --------
    >>> _sentence("you have taken part already"), _sentence("Thank you.")
    ('You have taken part already.', 'Thank you.')
    """
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text[-1:] in {*".!?:", ""} else ".")


def _keyed(text: str) -> Markup:
    """Return a text in which what stands in backticks looks like a key."""
    return Markup("").join(
        Markup("<kbd>{}</kbd>").format(part) if place % 2 else part
        for place, part in enumerate(text.split("`"))
    )


_PAGES = Environment(
    loader=PackageLoader("steelyard.collect"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_PAGES.filters |= {"keyed": _keyed, "sentence": _sentence}


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


@dataclass
class Site:
    """A campaign as it is served by one process.

    Attributes
    ----------
    campaign, store
        What is asked, and where the answers are kept.
    keys
        What signs tokens and cookies.
    live
        Snapshots for the dashboard.
    origin
        Where links lead: ``https://host``. The Host header of a request is never believed.
    clock
        The time in milliseconds UTC.
    requests, joins
        How often anyone may ask: each session, and each address that opens links.
    budget
        What may still be spent.
    checks
        Gold items that tell a rater what was missed, by their content: that is all a submission is known by before
        it is stored.
    notice
        What all raters are told, as this process knows it; empty if nothing is.
    media
        The files that the task shows; None if there are none.
    as_markdown
        Fields that are laid out as markdown because they look like it.
    memory
        What this process remembers of the assignments it gave out.
    changed
        Set when somebody changes the campaign by hand, so that services outside are told soon.
    """

    campaign: Campaign
    store: Store
    keys: Keys
    live: LiveSnapshots
    origin: str
    clock: Clock
    requests: RateLimit
    joins: RateLimit
    budget: Budget
    checks: Mapping[str, GoldItem]
    notice: str = ""
    media: MediaFolder | None = None
    as_markdown: tuple[str, ...] = ()
    memory: Memory = field(default_factory=Memory)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("steelyard.collect"))

    @property
    def panel(self) -> Panel:
        """Where the raters come from."""
        return self.campaign.panel

    def on_page(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return a content for the page: its texts, and how they are laid out.

        Among documents, gold looks like one.
        """
        if self.campaign.documents is not None:
            content = {EARLIER: [], SEGMENT: [1, 1], **content}
        task = self.campaign.task
        shown = presented(task, self.media, content, wording=self.campaign.wording)
        return {"content": public_content(task, self.media, content), "shown": shown}

    def feedback(self, content: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
        """Return what a rater who missed an attention check is told; None if there is nothing to tell."""
        check = self.checks.get(unordered(content)) if self.checks else None
        if check is None or grade_gold(self.campaign.task, content, check.accepted, answer):
            return None
        return check.feedback

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
        text = _PAGES.get_template(template).render(
            base=self.base, campaign=self.campaign, t=self.campaign.wording, **context
        )
        return HTMLResponse(text, status)

    def message_page(self, title: str, message: str, *, status: int = 200) -> HTMLResponse:
        """Return a page that says something and asks nothing."""
        say = self.campaign.wording.of
        return self.page("message.html", status=status, title=say(title), message=say(message))

    def money(self, amount: int) -> str | None:
        """Write millionths of the currency for a rater; None if nobody is paid."""
        if not self.budget.pay and not self.budget.bonus:
            return None
        mark = self.campaign.wording("decimal-mark")
        written = money_text(amount).replace(",", "").replace(".", mark)
        return f"{written} {self.campaign.pay.currency}"

    @property
    def terms(self) -> str:
        """What raters are told of time and pay before they begin; empty if nothing was declared."""
        told = [self.work_terms]
        if self.budget.bonus:
            say = self.campaign.wording
            told.append(say("terms-tutorial", amount=self.money(self.budget.bonus)))
        return " ".join(filter(None, told))

    @property
    def work_terms(self) -> str:
        """What raters are told of time and pay while they work, when the tutorial is behind them."""
        pay, say = self.campaign.pay, self.campaign.wording
        amount = self.money(self.budget.pay)
        seconds = None if pay.expected_seconds is None else f"{pay.expected_seconds:g}"
        if seconds is not None and self.budget.pay:
            return say("terms-both", seconds=seconds, amount=amount)
        if seconds is not None:
            return say("terms-time", seconds=seconds)
        return say("terms-pay", amount=amount) if self.budget.pay else ""

    @property
    def lease_ms(self) -> int:
        """How long an output is kept for a rater."""
        return self.budget.lease_ms

    def expiry(self) -> int:
        """Return when a link made now is over."""
        return self.clock() + _LINK_DAYS * _DAY_MS

    def rater_link(self) -> str:
        """Return the link to give to the panel, or that of the first invited rater."""
        if self.printed_invitation is not None:
            return self.invitation(self.printed_invitation)
        token = self.keys.sign("panel", self.panel.kind, expires=self.expiry())
        return self.panel.link(self.origin, token)

    @property
    def printed_invitation(self) -> str | None:
        """Whom the link that is printed at the start invites; None if it is the panel's."""
        return "first" if self.panel.kind == "invitation" else None

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
