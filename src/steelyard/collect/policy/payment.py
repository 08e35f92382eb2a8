"""Who is paid, and what: each entry of the ledger, the sum of each rater, the bonuses of a panel."""

from collections.abc import Sequence
from functools import partial

import polars as pl
from sqlalchemy import Connection, select

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.money import money_text
from steelyard.collect.store import Reader
from steelyard.collect.store.decisions import Decision, latest
from steelyard.collect.store.progress import RaterRow, rater_rows
from steelyard.collect.store.records import iso_time
from steelyard.collect.store.tables import ledger as entries
from steelyard.collect.store.tables import sessions, submissions

__all__ = ["bonuses", "ledger", "payments", "pseudonym"]

_ENTRIES = (
    select(entries, sessions.c.panel_session)
    .outerjoin(submissions, submissions.c.id == entries.c.submission)
    .outerjoin(sessions, sessions.c.id == submissions.c.session)
    .order_by(entries.c.id)
)
_LEDGER_COLUMNS = (
    *("entry", "rater", "panel", "panel_id", "panel_session", "kind", "amount", "currency", "time"),
    *("submission", "reference", "payment", "payment_reason"),
)


def pseudonym(number: int) -> str:
    """Return what a rater is called in exports.

    Examples
    --------
    >>> pseudonym(7)
    'rater-7'
    """
    return f"rater-{number}"


def ledger(store: Reader, campaign: Campaign) -> pl.DataFrame:
    """Return every entry of the ledger, with whether it is paid."""
    owed = store.read(partial(_owed, currency=campaign.pay.currency))
    return pl.DataFrame(owed, schema=dict.fromkeys(_LEDGER_COLUMNS, pl.String), orient="row")


def payments(store: Reader, campaign: Campaign) -> pl.DataFrame:
    """Return what each rater is to be paid, by the id that the panel knows."""
    del campaign
    rows = [
        (rater.external_id, money_text(rater.earned).replace(",", ""))
        for rater in store.read(_to_pay)
    ]
    return pl.DataFrame(rows, schema={"PID": pl.String, "amount": pl.String}, orient="row")


def bonuses(store: Reader, campaign: Campaign) -> pl.DataFrame:
    """Return the same for raters of the campaign's panel, in whole cents, as Prolific reads it."""
    rows = [
        (rater.external_id, money_text(cents * 10_000).replace(",", ""))
        for rater in store.read(_to_pay)
        if rater.panel == campaign.panel.kind and (cents := (rater.earned + 5_000) // 10_000)
    ]
    return pl.DataFrame(rows, schema={"PID": pl.String, "amount": pl.String}, orient="row")


def _to_pay(connection: Connection) -> list[RaterRow]:
    """Return who has earned something and is paid."""
    decided = latest(connection)
    return [
        rater
        for rater in rater_rows(connection)
        if rater.earned and _payment(rater, decided.get((rater.id, "payment"))) == "pay"
    ]


def _payment(rater: RaterRow, decision: Decision | None) -> str:
    """Return whether a rater is paid; who is left out is paid once somebody decides so."""
    if decision is not None:
        return decision.verdict
    return "undecided" if rater.excluded else "pay"


def _owed(connection: Connection, *, currency: str) -> Sequence[Sequence[str | None]]:
    raters = {one.id: one for one in rater_rows(connection)}
    decided = latest(connection)
    rows = []
    for entry in connection.execute(_ENTRIES):
        rater, decision = raters[entry.rater], decided.get((entry.rater, "payment"))
        rows.append(
            (
                str(entry.id),
                pseudonym(rater.number),
                rater.panel,
                rater.external_id,
                entry.panel_session,
                entry.kind,
                money_text(entry.amount).replace(",", ""),
                currency,
                iso_time(entry.time),
                None if entry.submission is None else str(entry.submission),
                entry.reference,
                _payment(rater, decision),
                None if decision is None else decision.reason,
            )
        )
    return rows
