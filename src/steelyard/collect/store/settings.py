"""What a campaign is, and the few things about it that may change while it runs."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, get_args

from sqlalchemy import Connection, insert, inspect, select, text, update

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.money import micro
from steelyard.collect.sampling.unit import Unit
from steelyard.collect.store.queue import add_units
from steelyard.collect.store.refusals import StoreError
from steelyard.collect.store.tables import settings
from steelyard.errors import InvalidArgumentError

__all__ = [
    "Facts",
    "Settings",
    "State",
    "change",
    "current",
    "has_begun",
    "initialise",
    "keep_service",
    "renew_secret",
    "service",
]

State = Literal["running", "paused", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a campaign file says that the database must know.

    Attributes
    ----------
    fingerprint : str
        Tells this campaign from others.
    judgments_per_output : int
        Judgments wanted of each unit.
    session_judgments : int or None
        Judgments after which a visit ends.
    gold_every : int or None
        Every how many units a rater is given a gold one.
    half_width : float or None
        The half-width to reach.
    budget : int or None
        What may be spent, in millionths of the currency.
    mirrored : tuple of str
        Prompts about preferences: the second system of a pair has 1 minus the score of the first, and the
        score of a system on a screen depends on which of the others wrote the same.
    """

    fingerprint: str
    judgments_per_output: int
    session_judgments: int | None = None
    gold_every: int | None = None
    half_width: float | None = None
    budget: int | None = None
    mirrored: tuple[str, ...] = ()

    @property
    def declared(self) -> str:
        """The goal and the budget, in JSON, to see later whether the file was edited."""
        return json.dumps({"half_width": self.half_width, "budget": self.budget})

    @classmethod
    def of(cls, campaign: Campaign) -> Self:
        """Return the facts of a campaign file."""
        goal, session, gold = campaign.goal, campaign.session, campaign.gold
        budget = None if goal is None else goal.budget
        return cls(
            fingerprint=campaign.fingerprint,
            judgments_per_output=campaign.judgments_per_output,
            session_judgments=session.judgments,
            gold_every=None if gold is None else gold.every,
            half_width=None if goal is None else goal.half_width,
            budget=None if budget is None else micro(budget),
            mirrored=tuple(
                score.prompt
                for score in campaign.task.scores
                if score.rule in {"preference", "rank"}
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Facts):
    """The campaign of a database, as it stands; what `Facts` holds may have been changed since.

    Attributes
    ----------
    secret : str
        Random, made once; what links and cookies are signed with.
    state : {"running", "paused", "stopped"}
        Whether raters are given work.
    sample_size : int
        Outputs of each system in the draw; items, when systems share them.
    revision : int
        Grows with every change of these settings and of the draw.
    created, changed : int
        Milliseconds.
    in_file : str
        The goal and the budget as the campaign file last had them.
    goal_met : bool
        Whether the server has paused because the present goal was reached.
    message : str or None
        What raters are told on their pages.
    services : mapping of str to mapping
        Of each service outside, its ``memory`` and its ``trouble``.
    """

    secret: str
    state: State
    sample_size: int
    revision: int
    created: int
    changed: int
    in_file: str
    goal_met: bool = False
    message: str | None = None
    services: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


_CURRENT = select(*(column for column in settings.c if column.name != "id"))
_ADD = insert(settings).values(id=1, state="running", sample_size=0, revision=1)
# Two processes that start at once must not both begin the campaign.
_ALONE = text("LOCK TABLE settings IN SHARE ROW EXCLUSIVE MODE")


def initialise(
    connection: Connection,
    *,
    facts: Facts,
    units: Sequence[Unit],
    now: int,
    added: Sequence[Unit] = (),
) -> Settings:
    """Begin a campaign in a new database, or return to the one that is there.

    What may change in a campaign file is taken over from it. A goal and a budget that were
    changed on the dashboard stay as they are until the file says something new.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    facts : Facts
        The campaign.
    units : sequence of Unit
        What a new campaign begins with, in the order of the queue. One that has begun stays as it is.
    now : int
        Milliseconds.
    added : sequence of Unit
        What has come to a campaign that has begun.

    Raises
    ------
    StoreError
        If the database belongs to another campaign.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(_ALONE)
    there = current(connection)
    if there is None:
        row = asdict(facts) | {"mirrored": json.dumps(facts.mirrored), "in_file": facts.declared}
        connection.execute(_ADD, {**row, "secret": _new_secret(), "created": now, "changed": now})
        add_units(connection, new=units, now=now)
        there = _begun(connection)
    elif added:
        _check(there, facts.fingerprint)
        add_units(connection, new=added, now=now)
        there = _begun(connection)
    _check(there, facts.fingerprint)
    return _followed(connection, there, facts, now)


def _followed(connection: Connection, there: Settings, facts: Facts, now: int) -> Settings:
    """Take over what the campaign file says by now."""
    goal = {"half_width": there.half_width, "budget": there.budget}
    before = json.loads(there.in_file)
    goal |= {
        name: value for name, value in json.loads(facts.declared).items() if value != before[name]
    }
    values = {
        **goal,
        "session_judgments": facts.session_judgments,
        "gold_every": facts.gold_every,
        "in_file": facts.declared,
    }
    if all(getattr(there, name) == value for name, value in values.items()):
        return there
    return _changed(connection, now=now, **values)


def has_begun(connection: Connection) -> bool:
    """Whether there is a campaign in a database, be it one without tables."""
    return (
        inspect(connection).has_table(settings.name)
        and connection.execute(select(settings.c.id)).first() is not None
    )


def current(connection: Connection) -> Settings | None:
    """Return the campaign of this database; None in a new one."""
    found = connection.execute(_CURRENT).mappings().one_or_none()
    if found is None:
        return None
    parsed = {name: json.loads(found[name]) for name in ("mirrored", "services")}
    return Settings(**{**found, **parsed, "mirrored": tuple(parsed["mirrored"])})


def change(
    connection: Connection,
    *,
    state: State | None = None,
    half_width: float | None = None,
    budget: int | None = None,
    unlimited: bool = False,
    message: str | None = None,
    now: int,
) -> Settings:
    """Change what may be changed while the campaign runs; what is not given stays.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    state : {"running", "paused", "stopped"}, optional
        Whether raters are given work. What they hold already they may always submit.
    half_width : float, optional
        The half-width to reach.
    budget : int, optional
        What may be spent, in millionths of the currency.
    unlimited : bool
        Whether the budget is lifted, so that spending has no limit.
    message : str, optional
        What raters are told on their pages; empty: nothing any more.
    now : int
        Milliseconds.
    """
    if state is not None and state not in get_args(State):
        raise InvalidArgumentError(
            f"`state` must be one of {', '.join(get_args(State))}; got {state!r}"
        )
    if half_width is not None and not half_width > 0:
        raise InvalidArgumentError(f"`half_width` must be greater than 0; got {half_width}")
    if budget is not None and budget < 0:
        raise InvalidArgumentError(f"`budget` must not be negative; got {budget}")
    if budget is not None and unlimited:
        raise InvalidArgumentError(f"`budget` must not be given with `unlimited`; got {budget}")
    given = {"state": state, "half_width": half_width, "budget": budget, "message": message}
    values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if unlimited:
        values["budget"] = None
    if message is not None:
        values["message"] = message or None
    return _changed(connection, now=now, **values)


def service(connection: Connection, *, name: str) -> Mapping[str, Any]:
    """Return what is known of a service outside: its ``memory`` and its ``trouble``; or nothing."""
    return _begun(connection).services.get(name, {})


def keep_service(connection: Connection, *, name: str, **known: Any) -> None:
    """Keep what is known of a service outside: its `memory` (a mapping) or its `trouble`."""
    there = dict(_begun(connection).services)
    there[name] = {**there.get(name, {}), **known}
    connection.execute(update(settings).values(services=json.dumps(there)))


def _changed(connection: Connection, *, now: int, **values: Any) -> Settings:
    """Change settings; another half-width is another goal, which has yet to be met."""
    before = _begun(connection)
    if values.get("half_width", before.half_width) != before.half_width:
        values["goal_met"] = False
    changes = {**values, "revision": settings.c.revision + 1, "changed": now}
    connection.execute(update(settings).where(settings.c.id == 1).values(changes))
    return _begun(connection)


def renew_secret(connection: Connection, *, fingerprint: str, now: int) -> None:
    """Give the campaign a new secret: what was signed with the old one says nothing any more.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    fingerprint : str
        Of the campaign.
    now : int
        Milliseconds.

    Raises
    ------
    StoreError
        If the database belongs to another campaign.
    """
    _check(_begun(connection), fingerprint)
    _changed(connection, now=now, secret=_new_secret())


def _new_secret() -> str:
    return secrets.token_urlsafe(32)


def _check(there: Settings, fingerprint: str) -> None:
    if there.fingerprint != fingerprint:
        raise StoreError(
            "the database belongs to another campaign, or the campaign file was changed after it "
            "began: name another database, or bring back the file as it was (a new system comes in "
            "by rows at the end of the outputs file)"
        )


def _begun(connection: Connection) -> Settings:
    found = current(connection)
    if found is None:
        raise StoreError("no campaign has begun in this database: start it with `steelyard serve`")
    return found
