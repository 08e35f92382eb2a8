"""The leniency of the raters of a campaign, from the judgments of all its systems."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard.arrays import JudgedOutputs
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.borrowed import MIN_SYSTEMS
from steelyard.estimate.controls import moderated_spreads
from steelyard.estimate.judged_system import JudgedSystem
from steelyard.estimate.leniency import Leniency, estimated_leniency
from steelyard.estimate.options import Options

__all__ = ["FEW_RATERS", "campaign_leniency", "leniency_of"]

# With fewer, raters tell too little of how much raters differ (measured).
FEW_RATERS = 5


def campaign_leniency(
    systems: Sequence[JudgedSystem], samples: Sequence[JudgedOutputs], options: Options
) -> Leniency | None:
    """Return the leniency of raters over all systems, None where they are fixed or alike."""
    return leniency_of(systems, samples, options)[0]


def leniency_of(
    systems: Sequence[JudgedSystem], samples: Sequence[JudgedOutputs], options: Options
) -> tuple[Leniency | None, Options, tuple[str, ...]]:
    """Estimate leniency over all systems; where nothing tells it, raters are seen as fixed."""
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
    try:
        # Few systems do not show whether their spreads differ.
        spread = np.ones(len(samples))
        if len(samples) >= MIN_SYSTEMS:
            spread = moderated_spreads([sample.mean for sample in samples])
        leniency = estimated_leniency(human, output, rater, system, spread=spread)
    except NotEstimableError:
        note = (
            "leniency cannot be told apart from systems or outputs, so the interval is about exactly "
            "these raters: let several raters judge each system, and each rater several outputs"
        )
        return None, replace(options, raters_as="fixed"), (note,)
    if len(known) >= FEW_RATERS:
        return leniency, options, ()
    note = (
        f"only {len(known)} raters: too few to tell how much raters differ, so the interval may be "
        f"too short for others than these; ask {FEW_RATERS} or more"
    )
    return leniency, options, (note,)
