"""Units to judge: distinct contents, and the outputs for which each of them stands."""

import hashlib
import math
import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.rankings import is_only_ranked, rankable
from steelyard.collect.sampling.contents import Content, Contents
from steelyard.collect.sampling.documents import document_units
from steelyard.collect.sampling.screens import screens
from steelyard.collect.sampling.unit import Target, Unit
from steelyard.collect.tasks import read_gold
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import DRAW_RECORD
from steelyard.sampling.sample import sample
from steelyard.sampling.texts_once import for_all_writers
from steelyard.tables import Outputs, read_outputs

__all__ = ["more_units", "targets_of", "units_for", "units_of"]

_NEEDED = ("draw", "probability", "design")


def units_of(campaign: Campaign) -> list[Unit]:
    """Draw the outputs of a campaign and return what is to be judged, in the order of the queue.

    Outputs of several systems for one item whose contents are the same are one unit. Units come in
    the order of the draw: by the smallest draw number of their outputs, at random among equals.
    Gold units come last.

    Parameters
    ----------
    campaign : Campaign
        The campaign.

    Returns
    -------
    list of Unit

    Raises
    ------
    InvalidDataError
        If outputs lack a field that the task shows, or the sample does not suit the outputs or the
        task; the message names file, line and column or key.
    """
    contents = Contents(campaign)
    if campaign.documents is not None:
        units = document_units(campaign, contents)
    else:
        drawn = targets_of(_first_draw(campaign, _drawn_from(campaign, contents)))
        units = units_for(campaign, contents, drawn)
    for question in campaign.task.tutorial.questions if campaign.task.tutorial else ():
        contents.check_files(question.content, f"tutorial question {question.id}")
    return [*units, *_gold(campaign, contents)]


def _gold(campaign: Campaign, contents: Contents) -> Iterator[Unit]:
    """Yield the gold units."""
    if campaign.gold is None:
        return
    for number, one in enumerate(read_gold(campaign.gold.file, campaign.task), start=1):
        contents.check_files(one.content, f"{campaign.gold.file.name}, item {number}")
        # What is known of a pair is known of its sides: they stay where they are.
        yield Unit(item=f"gold-{number}", content=one.content, wanted=0, gold=one.accepted)


def more_units(campaign: Campaign, drawn: Sequence[Target], more: int) -> list[Unit]:
    """Extend the draw of a campaign.

    What is added is a random sample of what the draw has left, drawn in the same way, so that both
    together have the probabilities of the larger draw.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    drawn : sequence of Target
        The draw so far, as `steelyard.collect.store.queue.drawn` returns it.
    more : int
        Outputs of each system to add; items, when systems share them; documents, where they are drawn.

    Returns
    -------
    list of Unit
        The units of the whole larger draw, for `steelyard.collect.store.queue.add_units`, which
        knows those that are there already.

    Raises
    ------
    InvalidArgumentError
        If so many are not left, or a draw of this design cannot be extended.

    Notes
    -----
    The larger sample is unbiased if its size was not chosen for what the judgments so far say.
    The anytime-valid intervals of a simple draw hold in any case: they follow the order of the draw,
    and the larger draw begins with the smaller.
    """
    if more < 1:
        raise InvalidArgumentError(f"`more` must be at least 1; got {more}")
    design = drawn[0].design or "simple"
    if campaign.documents is not None:
        return document_units(campaign, Contents(campaign), before=drawn, more=more)
    if design not in {"simple", "paired"}:
        raise InvalidArgumentError(
            f"a {design} draw cannot be extended here: it depends on strata, sizes or clusters that the "
            "campaign does not know; draw a larger sample with `steelyard sample --extend` "
            "where that is possible, and begin a new campaign with it"
        )
    contents = Contents(campaign)
    systems = list(dict.fromkeys(one.system for one in sorted(drawn, key=lambda one: one.side)))
    size = _size(drawn, systems)
    outputs = _drawn_from(campaign, contents)
    left = _eligible(drawn, outputs) - size
    if more > left:
        raise InvalidArgumentError(
            f"`more` must not exceed the {left} that the draw has left; got {more}"
        )
    larger = sample(
        outputs,
        size + more,
        **_pair_or_systems(systems, pair=design == "paired"),
        extend=_frame(drawn),
        same_items=_same_items(drawn, systems),
        each_text_once=False,
        # The numbers that drew the first part must not draw the second too.
        seed=zlib.crc32(f"{drawn[0].seed} {size}".encode()),
    )
    return units_for(campaign, contents, targets_of(larger.frame))


def _drawn_from(campaign: Campaign, contents: Contents) -> Outputs:
    """Return the pool that is drawn from: all outputs, or those that can be ranked."""
    outputs = contents.outputs
    if not is_only_ranked(campaign) or isinstance(campaign.sample, Path):
        return outputs
    return rankable(campaign, outputs, systems=campaign.sample.systems)


def _first_draw(campaign: Campaign, outputs: Outputs) -> pl.DataFrame:
    """Return the rows of the sample, with the columns of the draw."""
    asked = campaign.sample
    if isinstance(asked, Path):
        return _recorded_draw(asked)
    try:
        return sample(
            outputs,
            asked.n,
            **_pair_or_systems(asked.systems or outputs.systems, pair=campaign.task.pair),
            same_items=asked.same_items,
            # Units are made of what raters see, which may be more than the text.
            each_text_once=False,
            seed=asked.seed,
        ).frame
    except InvalidArgumentError as error:
        raise campaign.error(("sample",), str(error)) from error


def _pair_or_systems(systems: Sequence[str], *, pair: bool) -> dict[str, Any]:
    """Return how `sample` is told of the systems: two whose outputs are compared, or those to draw from."""
    return {"pair" if pair else "systems": tuple(systems)}


def _recorded_draw(path: Path) -> pl.DataFrame:
    rows = for_all_writers(read_outputs(path).rows())
    for column in _NEEDED:
        if column not in rows.columns:
            raise InvalidDataError(
                f"{path}: no column `{column}`: name the file that `steelyard sample` wrote"
            )
        if rows[column].null_count():
            raise InvalidDataError(
                f"{path}, column {column}: expected a value in every row: name the file that "
                "`steelyard sample` wrote"
            )
    return rows


def units_for(campaign: Campaign, contents: Contents, targets: Sequence[Target]) -> list[Unit]:
    """Return a unit for each distinct content of a draw, in the order of the queue."""
    twice = _second_judgments(campaign, targets)
    together = screens if campaign.task.side_by_side else _singles
    found = (_pairs if campaign.task.pair else together)(contents, targets)
    units: dict[str, Unit] = {}
    for content, stands_for in found:
        unit = Unit(
            item=stands_for[0].item,
            content=content,
            wanted=campaign.judgments_per_output + (stands_for[0].draw in twice),
            targets=stands_for,
            pair=campaign.task.pair,
        )
        if unit.digest in units:
            known = units[unit.digest]
            unit = replace(
                unit,
                targets=(*known.targets, *stands_for),
                wanted=max(known.wanted, unit.wanted),
            )
        units[unit.digest] = unit
    seed = targets[0].seed

    def place(unit: Unit) -> tuple[int, bytes]:
        lot = hashlib.sha256(f"{seed} {unit.digest}".encode()).digest()
        return min(target.draw for target in unit.targets), lot

    return sorted(units.values(), key=place)


def _second_judgments(campaign: Campaign, targets: Sequence[Target]) -> set[int]:
    """Return the numbers of the draw whose outputs are judged once more.

    The draw is in random order, so numbers at equal distances after a random start are a random
    choice of its outputs, as many as were asked for; a prefix has its share, and so has a draw
    that is extended.
    """
    if not campaign.second_judgments:
        return set()
    asked = campaign.sample
    size = _recorded_draw(asked)["draw"].max() if isinstance(asked, Path) else asked.n
    share = min(campaign.second_judgments / int(str(size)), 1.0)
    start = random.Random(f"second judgments {targets[0].seed}").random()
    numbers = {target.draw for target in targets}
    return {
        number
        for number in numbers
        # a little more, so that rounding loses none
        if math.floor(number * share + start + 1e-9)
        > math.floor((number - 1) * share + start + 1e-9)
    }


def _singles(
    contents: Contents, targets: Iterable[Target]
) -> Iterator[tuple[Content, tuple[Target, ...]]]:
    for target in targets:
        yield contents.single(target.item, target.system), (target,)


def _pairs(
    contents: Contents, targets: Sequence[Target]
) -> Iterator[tuple[Content, tuple[Target, ...]]]:
    """Yield the two outputs of each item; the first system is the one that is named first."""
    asked = contents.campaign.sample
    named = None if isinstance(asked, Path) else asked.systems
    systems = tuple(named or dict.fromkeys(target.system for target in targets))
    if len(systems) != 2:
        raise InvalidDataError(
            f"the sample must hold two systems, because the task {contents.campaign.task.name} is "
            f"about pairs; it holds {len(systems)}"
        )
    items: dict[str, dict[str, Target]] = {}
    for target in targets:
        items.setdefault(target.item, {})[target.system] = target
    for item, sides in items.items():
        if len(sides) != 2:
            raise InvalidDataError(
                f"the sample holds item {item!r} of one system only, and the task "
                f"{contents.campaign.task.name} is about pairs: draw the same items of both "
                "systems (`steelyard sample --pair A B`)"
            )
        stands_for = tuple(
            replace(sides[system], side=side) for side, system in enumerate(systems, start=1)
        )
        yield contents.pair(item, systems), stands_for


def targets_of(rows: pl.DataFrame) -> list[Target]:
    """Return the outputs of a draw, as its rows record them."""
    columns = ["item", "system", *(name for name in DRAW_RECORD if name in rows.columns)]
    texts = [name for name in ("stratum", "design", "signature") if name in columns]
    found = rows.select(columns).with_columns(pl.col(texts).cast(pl.String))
    return [Target(**row) for row in found.iter_rows(named=True)]


def _frame(drawn: Sequence[Target]) -> pl.DataFrame:
    """Return a draw as `steelyard.sampling.sample.sample` extends it."""
    return pl.DataFrame(
        {
            name: [getattr(target, name) for target in drawn]
            for name in ("item", "system", *DRAW_RECORD)
        },
        schema_overrides={"stratum": pl.String, "probability": pl.Float64, "place": pl.Float64},
    )


def _size(drawn: Sequence[Target], systems: Sequence[str]) -> int:
    """Return how many outputs of each system were drawn."""
    sizes = {sum(target.system == system for target in drawn) for system in systems}
    if len(sizes) > 1:
        raise InvalidArgumentError(
            "the draw cannot be extended, because it holds more outputs of one system than of "
            "another: draw a larger sample with `steelyard sample` and begin a new campaign with it"
        )
    return sizes.pop()


def _same_items(drawn: Sequence[Target], systems: Sequence[str]) -> bool:
    """Whether systems were drawn together: whether each draw number stands for one item."""
    items: dict[int, set[str]] = {}
    for target in drawn:
        items.setdefault(target.draw, set()).add(target.item)
    return len(systems) > 1 and all(len(one) == 1 for one in items.values())


def _eligible(drawn: Sequence[Target], outputs: Outputs) -> int:
    """Return how many outputs of a system, or pairs that differ, could be drawn in all."""
    first = drawn[0]
    if first.design == "paired":
        return round((first.share or 1.0) * (first.stratum_size or 0))
    return outputs.sizes[first.system]
