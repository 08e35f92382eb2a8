"""`Study.plan`: how many more judgments, of what, and what they cost."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.questions.about import Raters, Target
from steelyard.questions.plan import PlanAsked, PlanFor, pilot_plan
from steelyard.questions.planned import Plan
from steelyard.records import names_of

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["only_prompt", "plan"]


def plan(
    study: "Study",
    metrics: Sequence[str] | None = None,
    *,
    prompt: str | None = None,
    systems: Sequence[str] | None = None,
    pair: tuple[str, str] | None = None,
    what: PlanFor = "means",
    judge: Sequence[str] | None = None,
    half_width: float | None = None,
    difference: float | None = None,
    budget: float | None = None,
    assurance: float = 0.8,
    judgment_price: float = 1.0,
    n_raters: int | None = None,
    target: Target = "pool",
    raters: Raters | None = None,
    level: float = 0.95,
) -> Plan:
    """Plan further judgments: how many, of what, and what they cost.

    One of `half_width`, `difference`, `budget` and the order of all (``what="order"``) is the goal.

    Parameters
    ----------
    metrics, target, raters
        As in `estimate`.
    prompt : str, optional
        The prompt; needed when several were judged.
    systems : str or sequence of str, optional
        Systems that are asked about; all that were judged by default.
    pair : (str, str), optional
        Plan the difference of these two.
    what : {"means", "pairs", "order"}
        What is to be known of the systems: each mean, all differences together, or their order.
    judge : str or sequence of str, optional
        Systems that get further judgments; those asked about by default.
    half_width : float, optional
        How far intervals may reach to either side.
    difference : float, optional
        A difference to be shown.
    budget : float, optional
        What may be spent.
    assurance : float
        The probability of reaching the goal, and of showing the difference.
    judgment_price : float
        Of a judgment.
    n_raters : int, optional
        Raters of the further judgments; those of before by default.
    level : float
        Confidence level.

    Returns
    -------
    Plan
    """
    prompt = only_prompt(study, prompt)
    if systems is None and pair is None and study.today is not None:
        systems = study.today.systems
    return pilot_plan(
        study.fits(metrics),
        prompt,
        PlanAsked(
            half_width=half_width,
            difference=difference,
            budget=budget,
            order=what == "order",
            assurance=assurance,
            judgment_price=judgment_price,
            n_raters=n_raters,
            level=level,
        ),
        systems=names_of(systems),
        pair=pair,
        what=what,
        judge=names_of(judge),
        target=target,
        raters=raters,
    )


def only_prompt(study: "Study", prompt: str | None) -> str:
    """Return the prompt that was asked for, or else the only one.

    Raises
    ------
    InvalidArgumentError
        If none was asked for and there are several.
    """
    if prompt is None:
        study.check_judged()
        if len(study.prompts) > 1:
            raise InvalidArgumentError(
                f"`prompt` (--prompt) must be chosen; there are: {', '.join(study.prompts)}"
            )
    found = study.prompts[0] if prompt is None else prompt
    if found in study.judgments.preference_prompts:
        raise NotEstimableError(
            f"prompt {found!r} asks which of two outputs is better: use `steelyard compare`, "
            "which counts wins, ties and losses"
        )
    return found
