"""What the report says about one prompt, with a reason for all that it cannot say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.names import known_names
from steelyard.questions.diagnosis import Diagnosis
from steelyard.questions.estimates import Baseline, Estimate
from steelyard.study import Study
from steelyard.study.answer import Answer, judgments_of, prompt_answers

__all__ = [
    "PromptFindings",
    "SystemFindings",
    "judged_outputs",
    "prompt_findings",
    "wanted_systems",
]


@dataclass(frozen=True)
class SystemFindings:
    """What is known of one system under one prompt.

    Attributes
    ----------
    system : str
        The system.
    estimate : Estimate or None
        Its mean human score, corrected where that is possible, else the plain mean.
    gap : str or None
        Why there is no estimate.
    """

    system: str
    estimate: Estimate | None
    gap: str | None

    @property
    def plain(self) -> Baseline | None:
        """The plain mean."""
        return None if self.estimate is None else self.estimate.baseline


@dataclass(frozen=True)
class PromptFindings:
    """What is known under one prompt.

    Attributes
    ----------
    prompt : str
        The prompt.
    metrics : tuple of str
        Metrics that were asked for; all metrics by default.
    systems : tuple of SystemFindings
        The best mean human score first, systems without one last.
    diagnosis : Diagnosis or None
        What the judgments say of metrics and raters.
    diagnosis_gap : str or None
        Why there is none.
    answer : Answer or None
        Which system is better; None of one system without an estimate.
    remarks : tuple of str
        What a reader must know of all estimates.
    n_judgments : int or None
        Judgments that were made.
    """

    prompt: str
    metrics: tuple[str, ...]
    systems: tuple[SystemFindings, ...]
    diagnosis: Diagnosis | None
    diagnosis_gap: str | None
    answer: Answer | None
    remarks: tuple[str, ...] = ()
    n_judgments: int | None = None

    @property
    def metric(self) -> str | None:
        """The most useful metric; if that is not known, the first."""
        if self.diagnosis is not None and self.diagnosis.judges:
            return self.diagnosis.judges[0].metric
        return next(iter(self.metrics), None)


def wanted_systems(
    study: Study, prompts: Sequence[str] | None, systems: Sequence[str] | None
) -> dict[str, list[str]]:
    """Return the systems to report on under each prompt, in order of first appearance.

    Raises
    ------
    InvalidArgumentError
        If a prompt or system was not judged, or none of these systems under any of these prompts.
    """
    for argument, asked, known in (
        ("prompts", prompts, study.prompts),
        ("systems", systems, study.systems),
    ):
        unknown = [one for one in asked or () if one not in known]
        if unknown:
            raise InvalidArgumentError(
                f"`{argument}` must have judgments in {study.judgments.name}; "
                f"got {unknown[0]!r}; {known_names(unknown[0], known)}"
            )
    judged = set(judged_outputs(study).select("prompt", "system").unique().iter_rows())
    wanted = {
        prompt: [
            system
            for system in dict.fromkeys(study.systems if systems is None else systems)
            if (prompt, system) in judged
        ]
        for prompt in dict.fromkeys(study.prompts if prompts is None else prompts)
    }
    wanted = {prompt: chosen for prompt, chosen in wanted.items() if chosen}
    if not wanted:
        raise InvalidArgumentError(
            "`systems` must have judgments under one of `prompts`; got none that has: ask for both "
            "as they stand in the judgments"
        )
    return wanted


def judged_outputs(study: Study) -> pl.DataFrame:
    """Return prompt, item and system of every judged output; two for a preference."""
    frame = study.judgments.frame
    own = frame.select("prompt", "item", "system")
    if "other_system" not in frame.columns:
        return own.unique(maintain_order=True)
    others = frame.filter(pl.col("other_system").is_not_null())
    other = others.select("prompt", "item", system="other_system")
    return pl.concat([own, other]).unique(maintain_order=True)


def prompt_findings(
    study: Study,
    prompt: str,
    systems: Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    level: float = 0.95,
) -> PromptFindings:
    """Compare, estimate and diagnose the systems under a prompt, with reasons for what cannot be.

    Parameters
    ----------
    study : Study
        The campaign.
    prompt : str
        The prompt.
    systems : sequence of str
        Systems that were judged under it.
    metrics : sequence of str, optional
        Metrics to correct with: all by default, and plain means when there are none.
    level : float
        Level of all intervals.

    Returns
    -------
    PromptFindings
    """
    names = study.metrics if metrics is None else tuple(metrics)
    estimates, refused, remarks = _estimates(study, prompt, systems, names, level)
    answers = prompt_answers(
        study, prompt, list(estimates.values()), names, systems=systems, level=level
    )
    diagnosis, gap = _diagnosis(study, prompt, systems, names, level)
    found = [
        SystemFindings(
            system=system,
            estimate=estimates.get(system),
            gap=refused.get(system),
        )
        for system in systems
    ]
    return PromptFindings(
        prompt=prompt,
        metrics=names,
        systems=tuple(sorted(found, key=_best_first(study, prompt))),
        diagnosis=diagnosis,
        diagnosis_gap=gap,
        answer=answers.get(None),
        remarks=remarks,
        n_judgments=judgments_of(study, prompt, systems),
    )


def _estimates(
    study: Study, prompt: str, systems: Sequence[str], metrics: Sequence[str], level: float
) -> tuple[dict[str, Estimate], dict[str, str], tuple[str, ...]]:
    """Return the estimates by system, the reasons of the systems that have none, and remarks on all."""
    try:
        found = study.estimate(metrics, prompts=[prompt], systems=systems, level=level)
    except NotEstimableError as error:
        return {}, _reasons(error, prompt, systems), ()
    refused = {system: reason for (_, system), reason in found.left_out.items()}
    return {str(one.system): one for one in found}, refused, found.remarks


def _diagnosis(
    study: Study, prompt: str, systems: Sequence[str], metrics: Sequence[str], level: float
) -> tuple[Diagnosis | None, str | None]:
    """Return what the judgments say of metrics and raters, or why they do not."""
    try:
        [found] = study.diagnose(metrics, prompts=[prompt], systems=systems, level=level)
    except NotEstimableError as error:
        return None, str(error)
    return found, None


def _reasons(error: NotEstimableError, prompt: str, systems: Sequence[str]) -> dict[str, str]:
    return {system: error.reasons.get((prompt, system), str(error)) for system in systems}


def _best_first(study: Study, prompt: str) -> Callable[[SystemFindings], float]:
    """Return what orders systems by their estimates, those without one last."""
    sign = 1 if prompt in study.judgments.lower_is_better else -1
    return lambda one: sign * one.estimate.estimate if one.estimate else float("inf")
