"""What may still be spent: asked before every unit that is given out."""

from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import Connection, bindparam, func, literal_column, select

from steelyard.collect.store.prepared import Prepared
from steelyard.collect.store.tables import ledger, slots, tutorials

__all__ = ["UNLIMITED", "Allowance", "Purse"]

# Entries that are added up anew each time, at most; older ones are remembered as a sum.
_RECENT = 2_000
# No operation takes so long: what is older is committed, whichever process wrote it.
_SETTLED_MS = 60_000

_SUM = Prepared(
    select(func.count(), func.coalesce(func.sum(ledger.c.amount), 0)).where(
        ledger.c.id > bindparam("mark")
    )
)
_SETTLED = select(func.max(ledger.c.id), func.coalesce(func.sum(ledger.c.amount), 0)).where(
    ledger.c.id > bindparam("mark"), ledger.c.time < bindparam("before")
)
_HELD = Prepared(
    select(func.count())
    .select_from(slots)
    .where(
        literal_column("NOT slots.done AND slots.rater IS NOT NULL"),
        slots.c.expires > bindparam("now"),
    )
)
_LEARNING = Prepared(
    select(func.count())
    .select_from(tutorials)
    .where(tutorials.c.passed.is_(None), tutorials.c.started > bindparam("since"))
)


@dataclass(frozen=True)
class Allowance:
    """What the budget allows now.

    Attributes
    ----------
    refusal : str or None
        Why nothing more can be paid for: "enough" if all is spent, "wait" if others hold what is left.
    judgments : int or None
        Judgments that can still be given out; None: any number.
    """

    refusal: Literal["enough", "wait"] | None
    judgments: int | None

    def window(self, positions: int) -> int:
        """Return from how many positions to choose: the last that can be paid follow the draw.

        What stands behind a gap when the money ends would be paid for and not used.
        """
        return 1 if self.judgments is not None and self.judgments <= positions else positions


UNLIMITED = Allowance(refusal=None, judgments=None)


@dataclass
class Purse:
    """What one process knows of the money of a campaign.

    Parameters
    ----------
    pay, bonus : int
        What a judgment and a tutorial are paid, in millionths of the currency.
    lease_ms : int
        How long a unit is kept for a rater; a tutorial under way is counted for as long.

    Notes
    -----
    Units that raters hold are counted as spent, because they may submit them at any time. So the
    budget is kept but for two cases, in which work that was done is paid all the same: a rater
    comes back to a unit after the lease was over, and several processes give out the last units at
    the same moment (one judgment for each further process at most).
    """

    pay: int
    bonus: int
    lease_ms: int
    _mark: int = field(default=0, init=False)
    _sum: int = field(default=0, init=False)

    def allowance(
        self, connection: Connection, *, budget: int | None, now: int, tutorial: bool = False
    ) -> Allowance:
        """Return what can still be paid for.

        Parameters
        ----------
        connection : Connection
            Of the writer.
        budget : int or None
            What may be spent; None: no limit.
        now : int
            Milliseconds.
        tutorial : bool
            Whether a tutorial has to be paid for first.
        """
        price = self.pay + (self.bonus if tutorial else 0)
        if budget is None or not price:
            return UNLIMITED
        left = budget - self.spent(connection, now=now)
        if left < price:
            return Allowance("enough", 0)
        held = _HELD.scalar(connection, {"now": now}) * self.pay
        if self.bonus:
            since = {"since": now - self.lease_ms}
            held += _LEARNING.scalar(connection, since) * (self.bonus + self.pay)
        if left - held < price:
            return Allowance("wait", 0)
        return Allowance(None, (left - held) // self.pay if self.pay else None)

    def spent(self, connection: Connection, *, now: int) -> int:
        """Return what is owed to all, in millionths of the currency."""
        recent, amount = _SUM.row(connection, {"mark": self._mark})
        if recent > _RECENT:
            values = {"mark": self._mark, "before": now - _SETTLED_MS}
            last, settled = connection.execute(_SETTLED, values).one()
            if last is not None:
                self._mark, self._sum = last, self._sum + int(settled)
                amount = _SUM.row(connection, {"mark": last})[1]
        return self._sum + int(amount)
