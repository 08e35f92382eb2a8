"""Leniency of raters over all systems of a campaign, as far as options and judgments allow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.borrowed import MIN_SYSTEMS, moderated_deviations
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.leniency import Leniency, estimated_leniency
from steelyard.estimate.options import Options

__all__ = ["FEW_RATERS", "UNKNOWN_LENIENCY", "campaign_leniency"]

Integers = NDArray[np.int64]

# With fewer, raters tell too little of how much raters differ (measured).
FEW_RATERS = 5
UNKNOWN_LENIENCY = (
    "leniency cannot be told apart from systems or outputs, so the interval is about exactly these "
    "raters: let several raters judge each system, and each rater several outputs"
)


@dataclass(frozen=True, eq=False)
class _Judgments:
    """The text, rater and owner of each judgment of a campaign, and which of them are each once.

    A text that several systems wrote belongs to the one of the lowest mean score, whatever their order.
    """

    text: Integers
    rater: Integers
    owner: Integers
    heard: Integers | None

    @classmethod
    def of(cls, systems: Sequence[JudgedSystem], rater: Integers) -> "_Judgments":
        sizes = [one.sample.n_outputs for one in systems]
        system = np.repeat(np.arange(len(systems)), [one.sample.n_judgments for one in systems])
        starts = np.cumsum(sizes) - sizes
        outputs = [one.sample.output + start for one, start in zip(systems, starts, strict=True)]
        output = np.concatenate(outputs)
        texts = [one.texts for one in systems if one.texts is not None]
        if len(texts) < len(systems):
            return cls(output, rater, system, None)
        text = np.unique(np.concatenate(texts), return_inverse=True)[1][output]
        place = np.argsort(np.argsort([one.sample.mean.mean() for one in systems]))
        first = np.unique(text[np.argsort(place[system], kind="stable")], return_index=True)[1]
        owner = system[np.argsort(place[system], kind="stable")[first]][text]
        # As they were given, because controls differ between systems that wrote the same text.
        given = np.concatenate([one.sample.human for one in systems])
        order = np.lexsort((system != owner, given, rater, text))
        same = [one[order][1:] == one[order][:-1] for one in (text, rater, given)]
        heard = order[np.append(True, ~np.logical_and.reduce(same))]
        return cls(text, rater, owner, np.sort(heard))


def campaign_leniency(
    systems: Sequence[JudgedSystem], samples: Sequence[JudgedOutputs], options: Options
) -> tuple[Leniency | None, Options, tuple[str, ...]]:
    """Estimate leniency over all systems; where nothing tells it, raters are seen as fixed.

    Parameters
    ----------
    systems, samples : sequence of JudgedSystem and of JudgedOutputs
        The systems, and their judged outputs with controls taken off.
    options : Options
        How raters are to be seen.

    Returns
    -------
    leniency : Leniency or None
        None where raters are fixed, or alike.
    options : Options
        With raters as they can be seen.
    notes : tuple of str
        What a reader must know of it.

    Raises
    ------
    InvalidArgumentError
        If raters are to be a sample and are unknown.
    """
    if options.raters_as == "fixed":
        return None, options, ()
    raters = [one.raters for one in systems if one.raters is not None]
    if len(raters) < len(systems):
        raise InvalidArgumentError(
            '`raters` are needed to see raters as a sample: pass them, or use raters_as="fixed"'
        )
    human = np.concatenate([sample.human for sample in samples])
    known, rater = np.unique(np.concatenate(raters), return_inverse=True)
    one = _Judgments.of(systems, rater)
    # Few systems do not show whether their spreads differ.
    spread = np.ones(len(samples))
    if len(samples) >= MIN_SYSTEMS:
        spread = moderated_deviations([sample.mean for sample in samples])
    try:
        leniency = estimated_leniency(
            human, one.text, one.rater, one.owner, spread=spread, heard=one.heard
        )
    except NotEstimableError:
        return None, replace(options, raters_as="fixed"), (UNKNOWN_LENIENCY,)
    if len(known) >= FEW_RATERS:
        return leniency, options, ()
    note = (
        f"only {len(known)} raters: too few to tell how much raters differ, so the interval may be "
        f"too short for others than these; ask {FEW_RATERS} or more"
    )
    return leniency, options, (note,)
