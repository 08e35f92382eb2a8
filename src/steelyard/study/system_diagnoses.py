"""The paper's variance components and correlations, of each system and of all at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from steelyard.arrays import PoolMoments
from steelyard.study.cell_diagnosis import diagnose
from steelyard.study.diagnosis import Diagnosis
from steelyard.study.judged import Cell, judged_table
from steelyard.study.within_systems import Labels, systems_of

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["system_diagnoses"]


def system_diagnoses(
    study: "Study",
    *,
    prompts: Sequence[str],
    systems: Sequence[str],
    resamples: int = 1000,
    seed: int = 0,
) -> list[Diagnosis]:
    """Return for each prompt one diagnosis of each system and, with system ``*``, one of all within systems.

    Parameters
    ----------
    study : Study
        Outputs that were drawn simply at random, all of them with all metrics.
    prompts, systems : sequence of str
        Which to look at.
    resamples, seed
        Of the bootstrap.
    """
    names = study.metrics
    table = judged_table(study.outputs, study.judgments, names)
    pools = study.outputs.pool_moments(names)
    found = []
    for prompt in dict.fromkeys(asked for asked, _ in study.judged_pairs(prompts, systems)):
        chosen = [one for asked, one in study.judged_pairs(prompts, systems) if asked == prompt]
        cells: list[tuple[Cell, PoolMoments | None, Labels | None]] = [
            (table.cell(prompt, one), pools.get(one), None) for one in chosen
        ]
        if len(chosen) > 1:
            own = systems_of(table, prompt, chosen)
            cells.append((table.all_systems(prompt, chosen), None, own))
        found += [
            diagnose(
                cell,
                names,
                pool,
                systems=within,
                level=0.95,
                resamples=resamples,
                rng=np.random.default_rng(seed),
            )
            for cell, pool, within in cells
        ]
    return found
