"""What the report says about one prompt, with a reason for all that it cannot say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import Estimate, Raters
from steelyard.report.scatter import JudgedMetric
from steelyard.study import Diagnosis, Study
from steelyard.study.estimates import Estimates
from steelyard.study.judged import judged_table

__all__ = [
    "PromptFindings",
    "SystemFindings",
    "judged_metrics",
    "prompt_findings",
    "wanted_systems",
]

Answer = TypeVar("Answer", Estimate, Diagnosis)
_Ask = Callable[[list[str]], list[Answer]]


@dataclass(frozen=True)
class SystemFindings:
    """What is known of one system under one prompt.

    Attributes
    ----------
    system : str
        The system.
    estimate : Estimate or None
        Its mean human score, with metrics where that is possible, else the plain mean.
    random_raters : Estimate or None
        The same with raters seen as a sample of raters.
    diagnosis : Diagnosis or None
        Its variance components and metrics.
    gaps : tuple of str
        Why an estimate is missing.
    diagnosis_gap : str or None
        Why there is no diagnosis.
    """

    system: str
    estimate: Estimate | None
    random_raters: Estimate | None
    diagnosis: Diagnosis | None
    gaps: tuple[str, ...]
    diagnosis_gap: str | None

    @property
    def plain(self) -> Estimate | None:
        """The plain mean."""
        return self.estimate and (self.estimate.baseline or self.estimate)

    @property
    def corrected(self) -> Estimate | None:
        """The estimate with metrics, if there is one."""
        return self.estimate if self.estimate and self.estimate.slope else None


@dataclass(frozen=True)
class PromptFindings:
    """What is known under one prompt.

    Attributes
    ----------
    prompt : str
        The prompt.
    metrics : tuple of str
        Metrics that were asked for.
    systems : tuple of SystemFindings
        The greatest mean human score first, systems without one last.
    overall : Diagnosis or None
        Diagnosis of all systems, within systems; if one alone has a diagnosis, that.
    """

    prompt: str
    metrics: tuple[str, ...]
    systems: tuple[SystemFindings, ...]
    overall: Diagnosis | None

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """All diagnoses, that of all systems last."""
        own = [one.diagnosis for one in self.systems if one.diagnosis is not None]
        return (*own, *([self.overall] if self.overall and len(own) > 1 else []))

    @property
    def metric(self) -> str | None:
        """The most useful metric, or the first when that is not known."""
        best = self.overall.best if self.overall else None
        return best or next(iter(self.metrics), None)


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
                f"got {unknown[0]!r}; there are: {', '.join(known)}"
            )
    judged = set(study.judgments.frame.select("prompt", "system").unique().iter_rows())
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


def prompt_findings(
    study: Study,
    prompt: str,
    systems: Sequence[str],
    *,
    metrics: Sequence[str] = (),
    level: float = 0.95,
) -> PromptFindings:
    """Estimate and diagnose each system under a prompt, and go on where one of them cannot be.

    Parameters
    ----------
    study : Study
        The campaign.
    prompt : str
        The prompt.
    systems : sequence of str
        Systems that were judged under it.
    metrics : sequence of str
        Metrics to correct with; plain means when there are none.
    level : float
        Level of all intervals.

    Returns
    -------
    PromptFindings
    """

    def estimates(asked: list[str], raters_as: Raters) -> _Answers[Estimate]:
        return _Answers.of(
            lambda names: study.estimate(
                metrics, prompts=[prompt], systems=names, level=level, raters_as=raters_as
            ),
            asked,
        )

    fixed = estimates(list(systems), "fixed")
    random = estimates(list(fixed.found), "random")
    diagnosed = _without_refused(
        _Answers.of(
            lambda asked: study.diagnose(metrics, prompts=[prompt], systems=asked, level=level),
            systems,
        )
    )
    refusals = (
        ("no estimate", fixed.refused),
        ("raters not seen as a sample", random.refused),
    )
    found = [
        SystemFindings(
            system=system,
            estimate=fixed.found.get(system),
            random_raters=random.found.get(system),
            diagnosis=diagnosed.found.get(system),
            gaps=tuple(
                f"{what}: {reason[system]}" for what, reason in refusals if system in reason
            ),
            diagnosis_gap=diagnosed.refused.get(system),
        )
        for system in systems
    ]
    return PromptFindings(
        prompt=prompt,
        metrics=tuple(metrics),
        systems=tuple(sorted(found, key=_rank)),
        overall=_overall(diagnosed),
    )


def judged_metrics(study: Study, findings: PromptFindings) -> list[JudgedMetric]:
    """Return the judged outputs of each system with the most useful metric, for a figure."""
    if findings.metric is None:
        return []
    table = judged_table(study.outputs, study.judgments, [findings.metric])
    judged = []
    for one in findings.systems:
        sample = table.cell(findings.prompt, one.system).sample()
        usefulness = one.diagnosis.metrics.get(findings.metric) if one.diagnosis else None
        correlation = usefulness.correlation if usefulness else None
        judged.append(JudgedMetric(one.system, sample.metric[:, 0], sample.mean, correlation))
    return judged


@dataclass(frozen=True)
class _Answers(Generic[Answer]):
    """What a study said about each system, and why it said nothing about some.

    Attributes
    ----------
    found : dict
        Answers by system.
    refused : dict
        Reasons by system.
    beyond : Answer or None
        What was said about all systems together.
    """

    found: dict[str, Answer]
    refused: dict[str, str]
    beyond: Answer | None = None

    @classmethod
    def of(cls, ask: _Ask[Answer], systems: Sequence[str]) -> Self:
        """Ask about all systems at once, and one by one if that fails for one of them."""
        if not systems:
            return cls({}, {})
        try:
            answers = ask(list(systems))
        except NotEstimableError as error:
            if len(systems) == 1:
                # The study puts the names of prompt and system before the reason.
                return cls({}, {systems[0]: str(error.__cause__ or error)})
        else:
            beyond = answers[-1] if len(answers) > len(systems) else None
            found = {str(one.system): one for one in answers if one.system in systems}
            if isinstance(answers, Estimates):
                refused = {system: reason for (_, system), reason in answers.left_out.items()}
                return cls(found, refused, beyond)
            return cls(found, {}, beyond)
        alone = [cls.of(ask, [system]) for system in systems]
        found = {system: answer for one in alone for system, answer in one.found.items()}
        refused = {system: reason for one in alone for system, reason in one.refused.items()}
        rest = cls.of(ask, list(found)) if refused and len(found) > 1 else None
        return cls(found, refused, rest.beyond if rest else None)


def _without_refused(answers: _Answers[Diagnosis]) -> _Answers[Diagnosis]:
    """Return the diagnoses, and the reasons of the systems that have none."""
    rows, all_systems = answers.found, answers.beyond
    refused = {system: one.refusal for system, one in rows.items() if one.refusal}
    return _Answers(
        {system: one for system, one in rows.items() if not one.refusal},
        answers.refused | refused,
        None if all_systems is not None and all_systems.refusal else all_systems,
    )


def _overall(diagnosed: _Answers[Diagnosis]) -> Diagnosis | None:
    if len(diagnosed.found) == 1:
        return next(iter(diagnosed.found.values()))
    return diagnosed.beyond


def _rank(one: SystemFindings) -> float:
    return -one.estimate.estimate if one.estimate else float("inf")
