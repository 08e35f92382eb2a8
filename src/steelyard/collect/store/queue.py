"""The queue: units, the outputs they stand for, and a slot for every judgment that is wanted."""

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import (
    Connection,
    bindparam,
    case,
    func,
    insert,
    select,
    update,
)

from steelyard.collect.sampling.unit import Target, Unit
from steelyard.collect.store.ids import salt
from steelyard.collect.store.refusals import StoreError
from steelyard.collect.store.tables import raters, settings, slots, submissions, targets, units
from steelyard.records import DRAW_RECORD

__all__ = ["add_units", "drawn", "rebalance", "stored_contents"]

_TARGET_FIELDS = tuple(field.name for field in fields(Target))
_COUNTED = (
    select(func.count())
    .select_from(submissions)
    .join(raters, raters.c.id == submissions.c.rater)
    .where(submissions.c.unit == units.c.id, raters.c.excluded.is_(False))
    .scalar_subquery()
)
# A text that was set aside needs none.
_NEEDED = case((units.c.set_aside.is_(None), units.c.wanted - _COUNTED), else_=0)


def add_units(connection: Connection, *, new: Sequence[Unit], now: int) -> int:
    """Put units at the end of the queue, in the order given.

    A unit that is there already stays where it is, with its judgments; it may come to stand for
    further outputs, and what the draw recorded of its outputs is brought up to date, because
    probabilities grow with the draw.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    new : sequence of Unit
        Units; for a draw that was extended, all units of the larger draw.
    now : int
        Milliseconds.

    Returns
    -------
    int
        How many were not there before.

    Raises
    ------
    StoreError
        If an output of the draw has another content than before.
    """
    # Nobody else may number units until this is committed.
    grown = {"revision": settings.c.revision + 1, "changed": now}
    connection.execute(update(settings).values(grown))
    known = {row.digest: row.id for row in connection.execute(select(units.c.digest, units.c.id))}
    fresh = list({unit.digest: unit for unit in new if unit.digest not in known}.values())
    last = max(known.values(), default=0)
    known.update({unit.digest: last + number for number, unit in enumerate(fresh, start=1)})
    if fresh:
        connection.execute(insert(units), [_unit_row(known[unit.digest], unit) for unit in fresh])
    slot_rows = [
        _slot_row(known[unit.digest], unit.digest, kind="wanted")
        for unit in fresh
        for _ in range(unit.wanted)
    ]
    if slot_rows:
        connection.execute(insert(slots), slot_rows)
    pairs = [(known[unit.digest], target) for unit in new for target in unit.targets]
    _record_targets(connection, pairs)
    size = select(func.coalesce(func.max(targets.c.draw), 0)).scalar_subquery()
    connection.execute(update(settings).values(sample_size=size))
    return len(fresh)


def drawn(connection: Connection) -> list[Target]:
    """Return every output of the draw, in the order of the draw."""
    wanted = select(*(targets.c[name] for name in _TARGET_FIELDS))
    ordered = wanted.order_by(targets.c.draw, targets.c.item, targets.c.side)
    return [Target(**row) for row in connection.execute(ordered).mappings()]


def stored_contents(connection: Connection, *, most: int) -> list[dict[str, Any]]:
    """Return the contents of the first units of the queue, so many at most."""
    wanted = select(units.c.content).order_by(units.c.id).limit(most)
    return [json.loads(content) for content in connection.execute(wanted).scalars()]


def rebalance(connection: Connection, unit_ids: Sequence[int], *, now: int) -> int:
    """Offer as many slots of each unit as it still needs judgments.

    Judgments of raters who are excluded from the estimate do not count. Where slots are lacking,
    new ones are added at the front of the queue; where there are too many, those that nobody
    holds are not offered any more.

    Returns
    -------
    int
        How many slots were added.
    """
    added = 0
    needs = select(units.c.digest, _NEEDED.label("needed")).where(units.c.gold.is_(None))
    for unit in unit_ids:
        wanting = connection.execute(needs.where(units.c.id == unit)).one_or_none()
        if wanting is None:
            continue
        needed = max(0, wanting.needed)
        unfilled = select(slots.c.id, slots.c.offered).where(slots.c.unit == unit, ~slots.c.done)
        # to keep offering come first those that somebody holds, then the oldest
        kept = connection.execute(unfilled.order_by(slots.c.expires <= now, slots.c.id)).all()
        for number, slot in enumerate(kept):
            if slot.offered != (number < needed):
                offered = update(slots).where(slots.c.id == slot.id)
                connection.execute(offered.values(offered=number < needed))
        if needed > len(kept):
            row = _slot_row(unit, wanting.digest, kind="replacement")
            connection.execute(insert(slots), [row] * (needed - len(kept)))
            added += needed - len(kept)
    return added


def _unit_row(number: int, unit: Unit) -> dict[str, Any]:
    return {
        "id": number,
        "digest": unit.digest,
        "item": unit.item,
        "content": json.dumps(unit.content, ensure_ascii=False),
        "pair": unit.pair,
        "wanted": unit.wanted,
        "gold": None if unit.gold is None else json.dumps(unit.gold, ensure_ascii=False),
        "document": unit.document,
        "place": unit.place,
    }


def _slot_row(unit: int, digest: str, *, kind: str) -> dict[str, Any]:
    position = 0 if kind == "replacement" else unit
    return {"unit": unit, "position": position, "salt": salt(digest), "kind": kind}


def _record_targets(connection: Connection, pairs: Sequence[tuple[int, Target]]) -> None:
    known = {(row.item, row.system): row for row in connection.execute(select(targets))}
    fresh, changed = [], []
    for unit, target in pairs:
        row = {"unit": unit} | {name: getattr(target, name) for name in _TARGET_FIELDS}
        before = known.get((target.item, target.system))
        if before is None:
            fresh.append(row)
        elif before.unit != unit:
            raise StoreError(
                f"the output of system {target.system!r} for item {target.item!r} is not the one "
                "that was put to raters before: bring back the outputs file as it was"
            )
        elif any(getattr(before, name) != row[name] for name in DRAW_RECORD):
            key = {"of_item": target.item, "of_system": target.system}
            changed.append({**key, **{f"new_{name}": row[name] for name in DRAW_RECORD}})
    if fresh:
        connection.execute(insert(targets), fresh)
    if changed:
        of_output = update(targets).where(
            targets.c.item == bindparam("of_item"), targets.c.system == bindparam("of_system")
        )
        new: dict[str, Any] = {name: bindparam(f"new_{name}") for name in DRAW_RECORD}
        connection.execute(of_output.values(new), changed)
