r"""The mean human scores of all systems of a campaign, estimated together.

Each estimate is a linear form :math:`c + \sum_j w_j y_j` in the judgments: the control that all systems teach
(`controlled`) gives c, the draw gives the weights of its outputs, and the leniency of raters (`leniency`) shifts
them. Its error variance has parts for outputs, raters and the finite pool; the systems lend one
another what they know of spread and shape (`lent`). Derived in docs/methods/campaign.md.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import NotEstimableError
from steelyard.estimate.controlled import (
    Controlled,
    JudgedSystem,
    controlled,
    judgments_paid,
    less_control,
)
from steelyard.estimate.intervals import check_options
from steelyard.estimate.ledger import Ledger, rough_ledger
from steelyard.estimate.options import Options
from steelyard.estimate.result import Estimate
from steelyard.estimate.slices import Cell, Slicing, sliced
from steelyard.estimate.together import Form, Together

__all__ = ["campaign_means", "slice_means"]

Floats = NDArray[np.float64]


def campaign_means(
    systems: Sequence[JudgedSystem], *, options: Options, seed: int = 0, beside: bool = True
) -> list[Estimate | NotEstimableError]:
    """Estimate the mean human score of every system, from all of them.

    Parameters
    ----------
    systems : sequence of JudgedSystem
        The systems, all with the same metrics.
    options : Options
        Target, raters, level and bounds. The interval is Student's, with the shape that the systems
        share where they are enough.
    seed : int
        Seed of the simulated shape.
    beside : bool
        Whether to give what stands beside an estimate: the plain mean of the same judgments, and
        intervals from other points of view. Without, estimate and interval take half the time.

    Returns
    -------
    list of Estimate or NotEstimableError
        One for each system, with the plain mean of the same judgments as `baseline`; or why it has
        none.

    Raises
    ------
    InvalidArgumentError
        If raters are unknown that are to be a sample, or a draw cannot go with an option.
    """
    if not systems:
        return []
    controls = controlled(systems)
    cells = [
        Cell(number, 0, *pair)
        for number, pair in enumerate(zip(systems, controls.values, strict=True))
    ]
    forms = [{number: 1.0} for number in range(len(systems))]
    if not (beside or options.ledger) and options.target == "pool":
        found = Together.of(systems, controls.samples, options, seed)
        return [_alone(found, form) for form in forms]
    return _estimates(cells, forms, controls, options=options, seed=seed)


def _alone(found: Together, form: Form) -> Estimate | NotEstimableError:
    """Return an estimate with nothing beside it."""
    try:
        return found.estimate(form)
    except NotEstimableError as error:
        return error


def slice_means(
    systems: Sequence[JudgedSystem],
    slicings: Sequence[Slicing],
    *,
    mix: Sequence[float] | None = None,
    options: Options,
    seed: int = 0,
) -> list[dict[int, Estimate | NotEstimableError]]:
    """Estimate the mean human score of every slice of every system, or of a mix of slices.

    The control is learned from all systems before the cut. Slices of all systems lend one another
    spread and shape, and leniency is learned from all of them.

    Parameters
    ----------
    systems : sequence of JudgedSystem
        The systems, all with the same metrics, simply drawn or in clusters.
    slicings : sequence of Slicing
        How each is cut.
    mix : (S,) sequence of float, optional
        Weight of each slice in a mean over slices.
    options, seed
        As in `campaign_means`.

    Returns
    -------
    list of dict
        For each system, estimates by number of the slice; with a `mix` one estimate, by 0, of each
        system that has judged outputs in all slices that count.
    """
    if not systems:
        return []
    controls = controlled(systems)
    cells: list[Cell] = []
    for parent, (system, slicing) in enumerate(zip(systems, slicings, strict=True)):
        own = {"control": controls.values[parent], "slope": controls.slopes[parent]}
        cells += sliced(parent, system, slicing, **own)
    number = {(cell.parent, cell.slice): place for place, cell in enumerate(cells)}
    forms: dict[tuple[int, int], Form] = {}
    for parent, slicing in enumerate(slicings):
        inside = [one for one in range(len(slicing.sizes) - 1) if (parent, one) in number]
        if mix is None:
            forms |= {(parent, one): {number[parent, one]: 1.0} for one in inside}
        elif set(inside) >= {one for one, weight in enumerate(mix) if weight > 0}:
            forms[parent, 0] = {number[parent, one]: mix[one] for one in inside if mix[one] > 0}
    results = _estimates(cells, forms.values(), controls, options=options, seed=seed)
    found: list[dict[int, Estimate | NotEstimableError]] = [{} for _ in systems]
    for (parent, one), result in zip(forms, results, strict=True):
        found[parent][one] = result
    return found


def _estimates(
    cells: Sequence[Cell],
    forms: Iterable[Form],
    controls: Controlled,
    *,
    options: Options,
    seed: int,
) -> list[Estimate | NotEstimableError]:
    """Return the estimate of each form, with the plain mean of the same judgments beside it."""
    usual = replace(options, raters_as="random") if options.raters_as == "adjusted" else options
    systems = [cell.system for cell in cells]
    for one in systems:
        check_options(one.draw, one.sample, usual)
    plain = Together.of(systems, [one.sample for one in systems], usual, seed)
    samples = [less_control(cell.system.sample, cell.control) for cell in cells]
    found = Together.of(systems, samples, options, seed)
    paid = judgments_paid(systems)
    results: list[Estimate | NotEstimableError] = []
    for form in forms:
        cell = cells[next(iter(form))]
        try:
            baseline = plain.estimate(form)
            estimate = found.estimate(form, controls.slopes[cell.parent])
        except NotEstimableError as error:
            results.append(error)
            continue
        shares = tuple(controls.shares[cell.parent].tolist())
        ledger = None
        if options.ledger:
            # A stage without an interval leaves the ledger unknown, not the estimate.
            with suppress(NotEstimableError):
                ledger = _ledger(plain, found, form, controls.slopes[cell.parent], paid)
        if ledger is not None:
            judged = np.concatenate([systems[number].sample.human for number in form])
            estimate = replace(estimate, notes=(*estimate.notes, *rough_ledger(judged)))
        estimate = replace(estimate, shares=shares, ledger=ledger)
        differ = cell.system.metric.shape[1] or estimate.raters != baseline.raters
        results.append(replace(estimate, baseline=baseline) if differ else estimate)
    return results


def _ledger(
    plain: Together, found: Together, form: Form, slope: Floats, paid: Sequence[float]
) -> Ledger | None:
    """Return what each device saved of the judgments that a plain mean would need.

    None for draws by strata, by unequal chances or of clusters: their judgments do not show what a plain mean would be.
    """
    cells = [plain.systems[number] for number in form]
    start = plain.plain_interval(form)
    if start.standard_error == 0 or not all(one.draw.uniform for one in cells):
        return None
    if any(plain.is_known(number) or found.is_known(number) for number in form):
        return None
    alone = replace(plain, lent=plain.lent.alone())
    spread = any(one.draw.place is not None for one in cells)
    simple = replace(plain.drawn_simply, lent=plain.drawn_simply.lent.alone()) if spread else alone
    usual = found
    if found.options.raters_as == "adjusted":
        usual = replace(found, options=replace(found.options, raters_as="random"))
    again = any(one.sample.n_judgments > one.sample.n_outputs for one in cells)
    stages = [
        *([("repeats", simple.unlimited_half_width(form))] if again else []),
        ("without_replacement", simple.half_width(form)),
        *([("spread", alone.half_width(form))] if spread else []),
        ("other_systems", plain.half_width(form)),
        *([("control", usual.half_width(form, slope))] if len(slope) else []),
        *([("raters", found.half_width(form, slope))] if usual is not found else []),
    ]
    return start.ledger(stages, used=sum(paid[number] for number in form))
