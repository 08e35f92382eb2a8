"""A plan, and what it takes from a pilot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard import design
from steelyard.design import Assumptions, Pair, Plan, Prices
from steelyard.errors import InvalidArgumentError
from steelyard.records import names_of
from steelyard.study.comparison import check_pairs
from steelyard.study.judged import Cell, judged_table
from steelyard.study.pair_pilot import PairPilot
from steelyard.study.within_systems import Labels, systems_of
from steelyard.variance import Quantity, efficiency_of, variance_components

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard.study.study import Study

__all__ = ["PilotPlan", "difference_assumptions", "pilot_assumptions", "plan"]

# Both ends of three intervals would be too careful at 95%: a plan is not a claim.
_PILOT_LEVEL = 0.80


@dataclass(frozen=True, kw_only=True, repr=False)
class PilotPlan(Plan):
    """A plan made from a pilot; it can be drawn."""

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the price of each half-width: plain, with the metric, and at the two limits.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # matplotlib is slow to load
        from steelyard.study.result_plots import plot_plan  # noqa: PLC0415

        return plot_plan(self, ax)


def plan(
    study: "Study",
    metrics: Sequence[str] | None = None,
    *,
    prompt: str | None = None,
    systems: Sequence[str] | None = None,
    compare: tuple[str, str] | None = None,
    half_width: float | None = None,
    budget: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    pool_size: int | None = None,
    output_price: float = 0.0,
    judgment_price: float = 1.0,
    judgments_per_output: int | None = None,
    pass_rater_variance: bool = False,
    level: float = 0.95,
) -> PilotPlan:
    """Plan how many outputs to judge, and how often, from a pilot.

    Parameters
    ----------
    study : Study
        The pilot: some outputs must have two judgments.
    metrics : str or sequence of str
        Metrics that will be corrected with. By default none for the mean of a system, and all for a
        difference, as in `compare`.
    prompt : str, optional
        The prompt; needed when several were judged.
    systems : str or sequence of str, optional
        Systems to learn from; all that were judged by default.
    compare : (str, str), optional
        Two systems whose difference is planned, instead of the mean of one: the interval of
        `compare` with this `pair`, from judgments of the same items, on which the two differ.
    half_width, budget, difference, power, judgments_per_output, level
        As in `steelyard.plan`; exactly one goal must be given.
    pool_size : int, optional
        Outputs of one system; those of the pilot by default. Of a pair it is the number of items,
        the share with identical outputs being that of the pilot's pool.
    output_price, judgment_price : float
        Of an output and of a judgment.
    pass_rater_variance : bool
        Whether the estimate will be told the rater variance.

    Returns
    -------
    PilotPlan

    Raises
    ------
    InvalidArgumentError
        If an option breaks its rule.
    NotEstimableError
        If the pilot does not show the variances, or the goal cannot be reached.
    """
    names, prompt = names_of(metrics) or (), study.only_prompt(prompt)
    pair: Pair | None = None
    if compare is not None:
        if systems is not None:
            raise InvalidArgumentError(
                "`compare` names its two systems: leave out `systems` (--system)"
            )
        check_pairs([compare], None, study.systems)
        names = study.metrics if metrics is None else names
        assumed, pilot = difference_assumptions(study, names, prompt=prompt, pair=compare)
        pair, size = pilot.pair, pilot.items
        names = names if pilot.controlled else ()
    else:
        assumed = pilot_assumptions(study, names, prompt=prompt, systems=systems)
        chosen = study.systems if systems is None else names_of(systems)
        size = max(study.outputs.sizes[one] for one in chosen)
    made = design.plan(
        assumed,
        half_width=half_width,
        budget=budget,
        difference=difference,
        power=power,
        pool_size=size if pool_size is None else pool_size,
        prices=Prices(output=output_price, judgment=judgment_price),
        judgments_per_output=judgments_per_output,
        n_metrics=len(names),
        level=level,
        paired=pair or difference is not None,
        rater_variance_given=pass_rater_variance,
    )
    return PilotPlan(**vars(made))


def pilot_assumptions(
    study: "Study", metrics: Sequence[str], *, prompt: str, systems: Sequence[str] | None = None
) -> Assumptions:
    """Return what a pilot tells of one prompt, for the mean of one system.

    Parameters
    ----------
    study : Study
        The pilot: some outputs must have two judgments.
    metrics : sequence of str
        Metrics that will be corrected with; none for a plain mean.
    prompt : str
        The prompt.
    systems : sequence of str, optional
        Systems to learn from; all that were judged by default.

    Notes
    -----
    From several systems, variances and correlation are those within systems: what sets systems
    apart does not enter the mean of one. Item variance and correlation are free of leniency, which
    few raters share among all outputs. The rater variance is that of the pilot's raters, so its
    interval counts on raters as different from each other as these, as `estimate` does with raters
    fixed.
    """
    metrics = names_of(metrics)
    chosen = list(study.systems if systems is None else names_of(systems))
    study.check_judged([prompt], chosen)
    table = judged_table(study.outputs, study.judgments, metrics)
    if len(chosen) == 1:
        return _assumptions(table.cell(prompt, chosen[0]), None)
    return _assumptions(table.all_systems(prompt, chosen), systems_of(table, prompt, chosen))


def difference_assumptions(
    study: "Study", metrics: Sequence[str], *, prompt: str, pair: tuple[str, str]
) -> tuple[Assumptions, PairPilot]:
    """Return what a pilot tells of the difference of two systems on items where they differ.

    The j-th judgment of one system's output minus the j-th of the other's is a judgment of the
    difference, by both their raters, and the difference of their learned controls is its metric.
    """
    pilot = PairPilot.of(study, names_of(metrics), prompt=prompt, names=pair)
    return pilot.kept(_assumptions(pilot.difference(), None)), pilot


def _assumptions(cell: Cell, systems: Labels | None) -> Assumptions:
    human, metric, items = cell.human, cell.metric, cell.items
    # The raters at hand: of others, two or three raters tell next to nothing, and a plan that
    # allowed for any of them would ask for many times the judgments.
    rater = variance_components(human, items, systems=systems, level=_PILOT_LEVEL).rater
    if metric.shape[1]:
        found = efficiency_of(
            human, metric, items=items, raters=cell.raters, systems=systems, level=_PILOT_LEVEL
        )
        return replace(Assumptions.of(found), rater_variance=rater)
    components = variance_components(human, items, cell.raters, systems=systems, level=_PILOT_LEVEL)
    return Assumptions(
        item_variance=components.item,
        rater_variance=rater,
        correlation=Quantity(0.0, 0.0, 0.0),
    )
