"""Systems that come into a campaign after it has begun, where the draw allows it."""

import hashlib
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.fingerprint import digest_of, draw_facts, facts_of
from steelyard.collect.sampling.contents import Contents
from steelyard.collect.sampling.draw import targets_of, units_for
from steelyard.collect.sampling.unit import Target, Unit
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.sampling.sample import sample
from steelyard.tables import Outputs, read_outputs

__all__ = ["added_units", "begun_with"]


def begun_with(campaign: Campaign, fingerprint: str) -> int | None:
    """Return how many bytes of the outputs file a campaign began with.

    A campaign grows by rows at the end of its outputs file: up to there it is byte by byte the file
    of before, and `sample.systems`, if there is one, has its new names at the end.

    Parameters
    ----------
    campaign : Campaign
        The campaign as its file is now.
    fingerprint : str
        That of its database.

    Returns
    -------
    int or None
        None if the file did not begin like that: it is another campaign.
    """
    asked = campaign.sample
    if isinstance(asked, Path):
        return None
    facts = facts_of(campaign)
    named = asked.systems or ()
    shorter = [asked.model_copy(update={"systems": named[:n]}) for n in range(1, len(named))]
    samples = [draw_facts(one) for one in (asked, *shorter)]
    for size, digest in _beginnings(campaign.outputs):
        for sample_facts in samples:
            if digest_of({**facts, "outputs": digest, "sample": sample_facts}) == fingerprint:
                return size
    return None


def added_units(campaign: Campaign, drawn: Sequence[Target], *, size: int) -> list[Unit]:
    """Return what is to be judged of systems that were added.

    Where all systems are judged on the same items, a new one is judged on those that are drawn, with
    their places in the draw: these items are a random sample of its items as well. Otherwise it gets a draw
    of as many outputs as each of the others has.

    Parameters
    ----------
    campaign : Campaign
        The campaign as its file is now.
    drawn : sequence of Target
        The draw so far.
    size : int
        Bytes of the outputs file that were there at the start.

    Raises
    ------
    InvalidDataError
        If probabilities would not stay exact; the message says what to do instead.
    """
    contents = Contents(campaign)
    before = _outputs_of(campaign.outputs, size)
    sizes = {**{one.system: one.stratum_size for one in drawn}, **before.sizes}
    _check_old_systems(campaign, sizes, contents.outputs)
    known = {target.system for target in drawn}
    assert not isinstance(campaign.sample, Path)
    named = campaign.sample.systems or contents.outputs.sizes
    new = [name for name in named if name not in known]
    unasked = set(contents.outputs.sizes) - set(before.sizes) - known - set(new)
    if unasked:
        raise campaign.error(
            ("sample", "systems"),
            f"does not name {min(unasked)!r}, which was added to the outputs: add it at the end",
        )
    if not new:
        return []
    _check_design(campaign, drawn)
    targets = [target for name in new for target in _draw(campaign, contents.outputs, drawn, name)]
    return units_for(campaign, contents, targets)


def _beginnings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield size and digest of the file up to the end of each line, with and without its break."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        for line in file:
            bare = line.rstrip(b"\r\n")
            for part in (bare, line[len(bare) :]):
                digest.update(part)
                size += len(part)
                yield size, digest.hexdigest()


def _outputs_of(path: Path, size: int) -> Outputs:
    """Read the outputs that were there at the start."""
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder, path.name)
        with path.open("rb") as file:
            part.write_bytes(file.read(size))
        return read_outputs(part)


def _check_old_systems(campaign: Campaign, sizes: Mapping[str, int | None], now: Outputs) -> None:
    for name, size in sizes.items():
        if now.sizes.get(name) != size:
            raise campaign.error(
                ("outputs",),
                f"has {now.sizes.get(name, 0)} outputs of system {name!r}, of which {size} were there when its "
                "sample was drawn: their probabilities would not hold. Take the new ones out, or begin a "
                "new campaign with all of them",
            )


def _check_design(campaign: Campaign, drawn: Sequence[Target]) -> None:
    decides = campaign.goal is not None and campaign.goal.decide is not None
    for wrong, what in (
        (campaign.task.pair, "whose task is about pairs"),
        (campaign.task.side_by_side, "whose task shows systems side by side"),
        (campaign.documents is not None, "of documents"),
        (decides, "that is a race (`goal.decide`)"),
        (any(one.design != "simple" for one in drawn), "whose draw is not a simple one"),
    ):
        if wrong:
            raise campaign.error(
                ("outputs",),
                f"has a new system, which cannot come into a running campaign {what}: take it out, and "
                "begin a new campaign for it",
            )


def _draw(campaign: Campaign, outputs: Outputs, drawn: Sequence[Target], name: str) -> list[Target]:
    assert not isinstance(campaign.sample, Path)
    first = drawn[0]
    own = [target for target in drawn if target.system == first.system]
    if campaign.sample.same_items:
        items = {one: set(_items(outputs, one)) for one in (first.system, name)}
        differ = items[name] ^ items[first.system]
        if differ or len(items[name]) != first.stratum_size:
            which = f", such as {min(differ)!r}" if differ else ""
            raise campaign.error(
                ("outputs",),
                f"has a new system {name!r} with other items than those that the sample was drawn "
                f"from{which}: it must have an output for each of these, and for no other",
            )
        return [replace(target, system=name) for target in own]
    seed = zlib.crc32(f"{first.seed} {name}".encode())
    try:
        found = sample(
            outputs, len(own), systems=[name], same_items=False, each_text_once=False, seed=seed
        )
    except (InvalidArgumentError, InvalidDataError) as error:
        raise campaign.error(("outputs",), f"has a new system {name!r}: {error}") from error
    return targets_of(found.frame)


def _items(outputs: Outputs, system: str) -> list[str]:
    rows = outputs.rows()
    return [str(one) for one in rows.filter(system=system)["item"].to_list()]
