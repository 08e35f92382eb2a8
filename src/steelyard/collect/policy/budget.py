"""What may still be spent: asked before every unit that is given out."""

from dataclasses import dataclass, field
from typing import Literal, Self

from sqlalchemy import Connection, func, select

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.money import micro
from steelyard.collect.store.sql import first
from steelyard.collect.store.tables import ledger

__all__ = [
    "UNLIMITED",
    "Allowance",
    "Budget",
    "held_units",
    "is_spent",
    "payable_judgments",
    "spent",
]

# Entries that are added up anew each time, at most; older ones are remembered as a sum.
_RECENT = 2_000
# No operation takes so long: what is older is committed, whichever process wrote it.
_SETTLED_MS = 60_000

_RECENT_SUM = """
    SELECT count(*) AS entries, coalesce(sum(amount), 0) AS amount FROM ledger WHERE id > :mark"""
_SETTLED = """
    SELECT max(id) AS last, coalesce(sum(amount), 0) AS amount
    FROM ledger WHERE id > :mark AND time < :before"""
_HELD = """
    SELECT count(*) AS units FROM slots
    WHERE NOT done AND rater IS NOT NULL AND expires > :now"""
_LEARNING = """
    SELECT count(*) AS raters FROM rater_answers
    WHERE part = 'tutorial' AND question = '' AND passed IS NULL AND time > :since"""


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
class Budget:
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

    @classmethod
    def of(cls, campaign: Campaign) -> Self:
        """Return what a campaign pays."""
        bonus = 0 if campaign.task.tutorial is None else micro(campaign.pay.tutorial_bonus)
        lease_ms = round(campaign.lease_minutes * 60_000)
        return cls(pay=micro(campaign.pay.per_judgment), bonus=bonus, lease_ms=lease_ms)

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
        left = budget - self._spent(connection, now=now)
        if left < price:
            return Allowance("enough", 0)
        held = held_units(connection, now=now) * self.pay
        if self.bonus:
            learning = first(connection, _LEARNING, since=now - self.lease_ms).raters
            held += learning * (self.bonus + self.pay)
        if left - held < price:
            return Allowance("wait", 0)
        return Allowance(None, (left - held) // self.pay if self.pay else None)

    def _spent(self, connection: Connection, *, now: int) -> int:
        """Return what is owed to all; what is old is remembered, so that few entries are added up."""
        recent = first(connection, _RECENT_SUM, mark=self._mark)
        if recent.entries > _RECENT:
            settled = first(connection, _SETTLED, mark=self._mark, before=now - _SETTLED_MS)
            if settled.last is not None:
                self._mark, self._sum = settled.last, self._sum + int(settled.amount)
                recent = first(connection, _RECENT_SUM, mark=self._mark)
        return self._sum + int(recent.amount)


def held_units(connection: Connection, *, now: int) -> int:
    """Return how many units raters hold."""
    return int(first(connection, _HELD, now=now).units)


def spent(connection: Connection) -> int:
    """Return what is owed to all, in millionths of the currency."""
    return int(connection.execute(select(func.coalesce(func.sum(ledger.c.amount), 0))).scalar_one())


def is_spent(*, budget: int | None, spent: int, pay: int) -> bool:
    """Whether the budget cannot pay a further judgment, so that no work is given out."""
    return budget is not None and spent + max(pay, 1) > budget


def payable_judgments(lacking: int, *, budget: int | None, spent: int, pay: int) -> int:
    """Return how many of the judgments that are lacking can be paid for."""
    if budget is None or not pay:
        return lacking
    return max(0, min(lacking, (budget - spent) // pay))
