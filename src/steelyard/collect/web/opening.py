"""Opens the campaigns that a process serves; of several, the trouble of one stays its own."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from fastapi import FastAPI

from steelyard.collect.campaign_files import CampaignFile
from steelyard.collect.config.campaign import Campaign, load_campaign
from steelyard.collect.store import Store
from steelyard.collect.web.app import create_app, first_units
from steelyard.collect.web.logs import LogFormat
from steelyard.errors import InvalidArgumentError, SteelyardError

__all__ = ["Links", "Opened", "Running", "Served", "opened_campaigns", "read_campaigns"]


@dataclass(frozen=True)
class Links:
    """Where people go.

    Attributes
    ----------
    rater
        The link for raters: that of the panel, or the first invitation.
    admin
        The link to the dashboard: whoever has it may do everything.
    viewer
        The link to the dashboard for those who only look.
    """

    rater: str
    admin: str
    viewer: str


@dataclass(frozen=True)
class Served:
    """A campaign that is served, or why it is not.

    Attributes
    ----------
    file
        Its file and its name.
    campaign, links
        What it is and where people go; None if it could not be opened.
    as_markdown
        Fields that are laid out as markdown because they look like it.
    trouble
        Why it could not be opened.
    """

    file: CampaignFile
    campaign: Campaign | None = None
    links: Links | None = None
    as_markdown: tuple[str, ...] = ()
    trouble: str | None = None


@dataclass(frozen=True)
class Running:
    """How a process works and is watched."""

    log_format: LogFormat
    metrics_token: str | None = field(repr=False)
    processes: int = 1
    keeper: bool = True


@dataclass(frozen=True)
class Opened:
    """A campaign, and what answers its requests; None if it could not be opened."""

    served: Served
    app: FastAPI | None = None


def read_campaigns(found: Sequence[CampaignFile], *, processes: int) -> list[Served]:
    """Read campaign files; of several, one that is not right says why.

    Raises
    ------
    SteelyardError
        If there is only one, and it is not right.
    """
    read: list[Served] = []
    for one in found:
        try:
            read.append(Served(one, _campaign(one, read, processes=processes)))
        except SteelyardError as error:
            read.append(_failed(Served(one), error, alone=len(found) == 1))
    return read


@contextmanager
def opened_campaigns(
    read: Sequence[Served], running: Running, *, origin: str
) -> Iterator[list[Opened]]:
    """Open campaigns; of several, one that cannot be opened says why and is left out.

    Raises
    ------
    SteelyardError
        If there is only one, and it cannot be opened.
    InvalidArgumentError
        If none of several can be.
    """
    opened: list[Opened] = []
    with ExitStack() as stack:
        for one in read:
            try:
                opened.append(_open(one, running, stack, origin=origin))
            except SteelyardError as error:
                opened.append(Opened(_failed(one, error, alone=len(read) == 1)))
        if not any(one.app for one in opened):
            first = opened[0].served
            raise InvalidArgumentError(
                f"none of the {len(opened)} campaigns can be served; the first: {first.trouble}"
            )
        yield opened


def _failed(served: Served, error: SteelyardError, *, alone: bool) -> Served:
    if alone:
        raise error
    return replace(served, campaign=None, trouble=str(error))


def _campaign(file: CampaignFile, others: Sequence[Served], *, processes: int) -> Campaign:
    campaign = load_campaign(file.path)
    if processes > 1 and not str(campaign.database).startswith("postgresql"):
        raise InvalidArgumentError(
            f"`--processes` above 1 needs `database: postgresql://...` in {file.path.name}: an SQLite "
            "file has one writer"
        )
    for one in others:
        if one.campaign is not None and one.campaign.database == campaign.database:
            raise campaign.error(
                ("database",), f"is that of {one.file.name}, too: name another in one of them"
            )
    return campaign


def _open(served: Served, running: Running, stack: ExitStack, *, origin: str) -> Opened:
    campaign = served.campaign
    if campaign is None:
        return Opened(served)
    units = first_units(campaign)
    with ExitStack() as own:
        store = own.enter_context(Store.open(campaign.database))
        app = create_app(
            campaign,
            store,
            units=units,
            origin=origin,
            name=served.file.name,
            metrics_token=running.metrics_token,
            keeper=running.keeper,
        )
        stack.push(own.pop_all())
    site = app.state.site
    links = Links(site.rater_link(), site.admin_link(), site.admin_link("viewer"))
    return Opened(replace(served, links=links, as_markdown=site.as_markdown), app)
