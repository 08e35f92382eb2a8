"""A plan, and what it takes from a pilot."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from steelyard.design import Assumptions, Judged, Pair, Plan, Prices
from steelyard.design import plan as plan_of
from steelyard.design.pilot_draws import pilot_draws
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.campaign_leniency import FEW_RATERS
from steelyard.questions.compare import check_pairs
from steelyard.records import names_of
from steelyard.study.mean_pilot import MeanPilot
from steelyard.study.pair_pilot import PairPilot
from steelyard.study.texts_once import texts_per_item

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard.study.study import Study

__all__ = ["PilotPlan", "PlannedDraw", "difference_assumptions", "plan"]

PlannedDraw = Literal["simple", "spread"]


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
    assurance: float = 0.8,
    pool_size: int | None = None,
    output_price: float = 0.0,
    judgment_price: float = 1.0,
    judgments_per_output: int | None = None,
    n_raters: int | None = None,
    pass_rater_variance: bool = False,
    design: PlannedDraw = "simple",
    level: float = 0.95,
) -> PilotPlan:
    """Plan how many outputs to judge, and how often, from a pilot.

    Parameters
    ----------
    study : Study
        The pilot: some outputs must have two judgments.
    metrics : str or sequence of str
        Metrics that will be corrected with; all by default, as in `estimate` and `compare`.
    prompt : str, optional
        The prompt; needed when several were judged.
    systems : str or sequence of str, optional
        Systems whose means are planned, with as many outputs of each; all that were judged by default.
    compare : (str, str), optional
        Two systems whose difference is planned, instead of the mean of one: the interval of
        `compare` with this `pair`, from judgments of the same items, on which the two differ.
    half_width, budget, difference, power, assurance, judgments_per_output, level
        As in `steelyard.plan`; exactly one goal must be given.
    pool_size : int, optional
        Outputs of one system; those of the pilot by default. Of a pair it is the number of items,
        the share with identical outputs being that of the pilot's pool.
    output_price, judgment_price : float
        Of an output and of a judgment.
    n_raters : int, optional
        Raters who will judge, all about as much; as many as in the pilot by default. It counts where
        raters are a sample, that is if the pilot has five or more.
    pass_rater_variance : bool
        Whether the estimate will be told the rater variance.
    design : {"simple", "spread"}
        How outputs will be drawn: simply, or spread over metrics; only for means.

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
    names = study.metrics if metrics is None else names_of(metrics) or ()
    if design not in get_args(PlannedDraw):
        raise InvalidArgumentError(f"`design` must be simple or spread; got {design!r}")
    prompt = study.only_prompt(prompt)
    pair: Pair | None = None
    judged: Judged | None = None
    if compare is not None:
        if systems is not None:
            raise InvalidArgumentError(
                "`compare` names its two systems: leave out `systems` (--system)"
            )
        if design == "spread":
            raise InvalidArgumentError(
                '`design` "spread" goes with means: pairs are drawn simply (`steelyard sample --pair`)'
            )
        check_pairs([compare], None, study.systems)
        assumed, paired = difference_assumptions(study, names, prompt=prompt, pair=compare)
        pair, size = paired.pair, paired.items
        pilot = paired.pilot
    else:
        chosen = list(study.systems if systems is None else names_of(systems))
        found = MeanPilot.of(study, names, prompt=prompt, systems=chosen)
        assumed, judged = found.assumed, found.judged
        judged = replace(judged, spread=design == "spread")
        pilot = found.pilot
        size = max(study.outputs.sizes[one] for one in chosen)
    if n_raters is not None:
        pair, judged = _with_raters(n_raters, pair, judged)
    made = plan_of(
        assumed,
        half_width=half_width,
        budget=budget,
        difference=difference,
        power=power,
        assurance=assurance,
        pool_size=size if pool_size is None else pool_size,
        prices=Prices(output=output_price, judgment=judgment_price),
        judgments_per_output=judgments_per_output,
        n_metrics=len(names),
        level=level,
        paired=pair or difference is not None,
        judged=judged,
        rater_variance_given=pass_rater_variance,
    )
    notes = [*made.notes, *_pilot_notes(made, len(pilot.mean))]
    if judged is not None and judged.systems > 1:
        texts = texts_per_item(study.outputs, chosen)
        notes += _campaign_notes(made, judged.systems, texts)
    return PilotPlan(**vars(made) | {"notes": tuple(notes)})


def _with_raters(
    number: int, pair: Pair | None, judged: Judged | None
) -> tuple[Pair | None, Judged | None]:
    """Return what is known of a campaign, with another number of raters."""
    about = judged if pair is None else pair
    if number < FEW_RATERS:
        raise InvalidArgumentError(f"`n_raters` must be at least {FEW_RATERS}; got {number}")
    if about is None or about.raters is None:
        raise InvalidArgumentError(
            f"`n_raters` counts where raters are a sample, and the pilot has fewer than {FEW_RATERS}: "
            "leave it out"
        )
    # Others than those of the pilot, whose leniency is drawn anew.
    planned = replace(about.raters, number=float(number), same=False)
    if pair is not None:
        return replace(pair, raters=planned), judged
    assert judged is not None
    return pair, replace(judged, raters=planned)


def _pilot_notes(made: Plan, outputs: int) -> Iterator[str]:
    """Say what a pilot of this size can promise."""
    sure, what = made.assured, "outputs" if made.pair is None else "items"
    if sure is not None:
        more = f"{sure.judgments / made.expected.judgments:.2f} times the judgments"
        if made.search.goal.budget is not None:
            more = f"a half-width of {sure.half_width / made.expected.half_width:.2f} times that"
        yield (
            f"the pilot has {outputs} judged {what}: {made.assurance:.0%} assurance takes {more} to be "
            "expected"
        )


def _campaign_notes(made: Plan, systems: int, texts: float) -> Iterator[str]:
    """Say what all systems need together: a text that several of them wrote is judged and paid once."""
    case, how = made.assured, f"for {made.assurance:.0%} assurance"
    if case is None:
        case, how = made.expected, "as expected"
    shared = ""
    if texts < systems:
        shared = (
            f"; on the same items their outputs are {texts:.3g} different texts per item, and a text "
            "that several systems wrote is judged once"
        )
    yield (
        f"numbers are of one system; all {systems} need {round(texts * case.judgments):,} judgments "
        f"{how}, price {texts * case.cost:,.2f}{shared}"
    )


def difference_assumptions(
    study: "Study", metrics: Sequence[str], *, prompt: str, pair: tuple[str, str]
) -> tuple[Assumptions, PairPilot]:
    """Return what a pilot tells of the difference of two systems on items where they differ.

    The j-th judgment of one system's output minus the j-th of the other's is a judgment of the
    difference, by both their raters, and the difference of their learned controls is its metric.
    """
    pilot = PairPilot.of(study, names_of(metrics), prompt=prompt, names=pair)
    # Most of leniency is taken out of a difference: what is not known of it matters little.
    drawn = replace(pilot_draws(pilot.pilot), leniency=pilot.leniency)
    return Assumptions.from_draws(drawn), pilot
