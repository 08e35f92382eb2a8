"""What tests ask of a campaign's database, as lists of records."""

from types import SimpleNamespace

from sqlalchemy import func, select

from steelyard.collect.store.judgments import judgment_rows
from steelyard.collect.store.tables import ledger, raters


def scored_rows(connection):
    return [SimpleNamespace(**row) for row in judgment_rows(connection).iter_rows(named=True)]


def entries(connection):
    return connection.execute(select(ledger).order_by(ledger.c.id)).all()


def totals(connection):
    """What each rater has earned, by number."""
    amount = func.sum(ledger.c.amount).label("amount")
    earned = select(raters.c.number, amount).join_from(
        raters, ledger, raters.c.id == ledger.c.rater
    )
    return connection.execute(earned.group_by(raters.c.number).order_by(raters.c.number)).all()
