"""What is estimated and compared: a mean of each system, of each slice of it, or of a mix of slices."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.model.campaign import Floats, Ints
from steelyard.questions.fitted import PromptFit

__all__ = ["Quantity", "quantities"]

# Fewer judged outputs of a slice are said.
_FEW_OUTPUTS = 5


@dataclass(frozen=True, eq=False)
class Quantity:
    """A mean human score, as a form of the means of the fitted model.

    Attributes
    ----------
    system : str
        The system.
    slice : str or None
        The slice of its pool, or the weights of a mix of slices; None for the whole pool.
    form : (k,) array
        The weight of each fitted mean.
    n_outputs, n_judgments, pool_size : int
        Judged outputs, judgments of them, and outputs in the pool.
    notes : tuple of str
        What a reader must know of it.
    """

    system: str
    slice: str | None
    form: Floats
    n_outputs: int
    n_judgments: int
    pool_size: int
    notes: tuple[str, ...] = ()


def quantities(found: PromptFit, systems: Sequence[str]) -> tuple[list[Quantity], list[str]]:
    """Return what can be estimated under a prompt, slice by slice, and why some is missing.

    Parameters
    ----------
    found : PromptFit
        The model of the systems, or of their slices.
    systems : sequence of str
        The systems in question, in the order in which they are shown.
    """
    slices, left_out = found.slices, found.left_out
    fitted = {one: place for place, one in enumerate(found.systems) if one not in left_out}
    same = _first_alike(found)
    if slices is None:
        there = [one for one in systems if one in fitted]
        return [_quantity(found, one, None, {fitted[one]: 1.0}, same) for one in there], []
    cut = {slices.system_of(one) for one in fitted}
    whole = [one for one in systems if one in cut]
    known, missing = [], []
    if slices.mix is not None:
        for system in whole:
            weights = {
                name: share for name, share in zip(slices.names, slices.mix, strict=True) if share
            }
            gaps = [name for name in weights if slices.cell(system, name) not in fitted]
            if gaps:
                reason = f"{gaps[0]}: {_why(found, system, gaps[0])}"
                missing.append(f"{system}, {found.prompt}, {slices.mix_name}: left out: {reason}")
                continue
            places = {fitted[slices.cell(system, one)]: share for one, share in weights.items()}
            known.append(_quantity(found, system, slices.mix_name, places, same))
        return known, missing
    for name in slices.names:
        for system in whole:
            place = fitted.get(slices.cell(system, name))
            if place is not None:
                known.append(_quantity(found, system, name, {place: 1.0}, same))
            elif slices.cell(system, name) in slices.cells:
                missing.append(
                    f"{system}, {found.prompt}, {name}: left out: {_why(found, system, name)}"
                )
    return known, missing


def _why(found: PromptFit, system: str, name: str) -> str:
    """Say why a slice of a system has no mean."""
    assert found.slices is not None
    cell = found.slices.cell(system, name)
    return found.left_out.get(cell, "no output of it was judged")


def _first_alike(found: PromptFit) -> Ints:
    """Return for each fitted mean the first whose outputs are all the same: they are one mean."""
    pools = found.fit.campaign.pools
    alike = (pools.identical == pools.size) & (pools.identical == pools.size[:, np.newaxis])
    return np.asarray(np.argmax(alike, axis=1), dtype=np.int64)


def _quantity(
    found: PromptFit, system: str, name: str | None, weights: dict[int, float], same: Ints
) -> Quantity:
    """Return the quantity with these weights on fitted means."""
    known, campaign = found.collected, found.fit.campaign
    form = np.zeros(campaign.k)
    places = list(weights)
    form[same[places]] = list(weights.values())
    few = [place for place in places if known.n_outputs[place] < _FEW_OUTPUTS]
    notes: list[str] = []
    if name is not None and few:
        outputs = int(min(known.n_outputs[few]))
        where = name if len(places) == 1 else "one of these slices"
        notes.append(f"only {outputs} judged outputs lie in {where}: the interval is rough")
    for place in places:
        notes += known.system_notes.get(campaign.systems[place], ())
    return Quantity(
        system=system,
        slice=name,
        form=form,
        n_outputs=int(known.n_outputs[places].sum()),
        n_judgments=int(known.n_judgments[places].sum()),
        pool_size=int(campaign.pools.size[places].sum()),
        notes=tuple(dict.fromkeys(notes)),
    )
