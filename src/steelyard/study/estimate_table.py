"""The estimates of a study: of every prompt and system, or of their slices."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from steelyard.errors import NotEstimableError
from steelyard.estimate import Estimate
from steelyard.study.balance import with_balance_notes
from steelyard.study.draw_order import with_gap_notes
from steelyard.study.drawn_groups import drawn_groups
from steelyard.study.estimates import Estimates
from steelyard.study.estimation import Asked
from steelyard.study.judged import drawn_table
from steelyard.study.recorded_draw import is_designed
from steelyard.study.scope import Scope
from steelyard.study.score_bounds import check_bounds
from steelyard.study.shared_judgments import with_sample
from steelyard.study.slice_estimates import multiplicity

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["estimates"]


def estimates(
    study: "Study",
    asked: Asked,
    scope: Scope,
    *,
    metrics: Sequence[str],
    prompts: Sequence[str] | None,
    systems: Sequence[str] | None,
    sample: pl.DataFrame | None,
    cluster_by: str | None,
) -> Estimates:
    """Return the estimates of a study; see `Study.estimate`.

    Parameters
    ----------
    study : Study
        The campaign.
    asked : Asked
        How to estimate.
    scope : Scope
        Which average over prompts, and which slices.
    metrics : sequence of str
        Metrics to correct with.
    prompts, systems : sequence of str or None
        Which to estimate; all that were judged by default.
    sample : polars.DataFrame or None
        The drawn sample.
    cluster_by : str or None
        Column that names the cluster of an output.
    """
    study, sample = with_sample(study, sample)
    study, remarks = scope.study(study, prompts, asked.raters_as)
    check_bounds(study.judgments, asked.bounds, prompts=prompts, systems=systems)
    wanted = study.judged_pairs(prompts, systems)
    table = drawn_table(
        study.outputs, study.judgments, metrics, sample=sample, cluster_by=cluster_by
    )
    slices = scope.slices(study.outputs, metrics)
    estimator = asked.estimator(study.outputs, table, slices)
    found: list[Estimate] = []
    left_out: dict[tuple[str, str], str] = {}
    left_slices: list[str] = []
    for prompt, system in wanted:
        for part, one in estimator(prompt, system).items():
            if isinstance(one, Estimate):
                found.append(one)
            elif part is None:
                left_out[prompt, system] = str(one)
            else:
                left_slices.append(f"{system}, {prompt}, {part}: left out: {one}")
    if not found and left_out:
        (prompt, system), reason = next(iter(left_out.items()))
        raise NotEstimableError(f"prompt {prompt!r}, system {system!r}: {reason}", reasons=left_out)
    if not found and left_slices:
        raise NotEstimableError(left_slices[0])
    if slices is not None:
        found = _by_slice(found, slices.names)
        remarks = (*remarks, *left_slices, *slices.notes)
        if slices.mix is None and len(found) > 1:
            remarks = (*remarks, multiplicity(len(found), asked.level))
    if not is_designed(study.judgments, sample) and "cluster" not in table.rows.columns:
        found = with_balance_notes(found, study.imbalances)
        groups = drawn_groups(study.outputs, study.judgments)
        remarks = (*remarks, *(() if groups is None else (groups.note,)))
    return Estimates(with_gap_notes(found, study.judgments, sample), left_out, remarks=remarks)


def _by_slice(found: Sequence[Estimate], names: Sequence[str]) -> list[Estimate]:
    """Return the estimates by prompt, and then by slice."""
    prompts = list(dict.fromkeys(one.prompt for one in found))
    place = {name: number for number, name in enumerate(names)}
    return sorted(found, key=lambda one: (prompts.index(one.prompt), place.get(str(one.slice), 0)))
