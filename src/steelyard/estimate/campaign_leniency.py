"""Leniency of raters over all systems of a campaign, as far as options and judgments allow."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard.arrays import JudgedOutputs
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.borrowed import MIN_SYSTEMS, moderated_deviations
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.leniency import Leniency, estimated_leniency
from steelyard.estimate.options import Options

__all__ = ["FEW_RATERS", "UNKNOWN_LENIENCY", "campaign_leniency"]

# With fewer, raters tell too little of how much raters differ (measured).
FEW_RATERS = 5
UNKNOWN_LENIENCY = (
    "leniency cannot be told apart from systems or outputs, so the interval is about exactly these "
    "raters: let several raters judge each system, and each rater several outputs"
)


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
    sizes = [sample.n_outputs for sample in samples]
    starts = np.cumsum(sizes) - sizes
    output = np.concatenate(
        [sample.output + start for sample, start in zip(samples, starts, strict=True)]
    )
    system = np.repeat(np.arange(len(samples)), [sample.n_judgments for sample in samples])
    human = np.concatenate([sample.human for sample in samples])
    known, rater = np.unique(np.concatenate(raters), return_inverse=True)
    # Few systems do not show whether their spreads differ.
    spread = np.ones(len(samples))
    if len(samples) >= MIN_SYSTEMS:
        spread = moderated_deviations([sample.mean for sample in samples])
    try:
        leniency = estimated_leniency(human, output, rater, system, spread=spread)
    except NotEstimableError:
        return None, replace(options, raters_as="fixed"), (UNKNOWN_LENIENCY,)
    if len(known) >= FEW_RATERS:
        return leniency, options, ()
    note = (
        f"only {len(known)} raters: too few to tell how much raters differ, so the interval may be "
        f"too short for others than these; ask {FEW_RATERS} or more"
    )
    return leniency, options, (note,)
