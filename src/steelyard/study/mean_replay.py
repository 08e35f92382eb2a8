"""Replays of a finished campaign with fewer judgments: what `estimate` would have shown of each mean."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.ledger import Ledger, mean_ledger, total_ledger
from steelyard.records import names_of
from steelyard.results import Results
from steelyard.study.campaign_replays import CampaignReplays, Outcomes
from steelyard.study.spread_value import judged_spread_values

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["ALL_SYSTEMS", "MeanReplay", "ReplayDesign", "simulate_means"]

ReplayDesign = Literal["simple", "spread"]
ALL_SYSTEMS = "*"
_COLUMNS = (
    *(
        "system",
        "prompt",
        "rule",
        "design",
        "n_outputs",
        "judgments",
        "error",
        "relative_judgments",
    ),
    *("half_width", "coverage", "pool_size", "runs"),
)


@dataclass(frozen=True, kw_only=True)
class MeanReplay:
    """What so many judged outputs showed of one system's mean, over many replays.

    Attributes
    ----------
    system, prompt : str
        Whose mean; "*" for all systems together.
    rule : {"estimate", "plain mean"}
        The default of `estimate`, from all systems and metrics; or the mean of as many judgments, with
        Student's interval.
    design : {"simple", "spread"}
        How outputs were drawn.
    metrics : tuple of str
        Metrics that `estimate` had.
    n_outputs : int
        Outputs judged of each system.
    judgments : float
        Mean number of judgments; one that counts for k systems is 1/k of each.
    estimate : float or None
        What the whole campaign shows by this rule, which replays are about; None for all systems.
    error : float
        Root mean squared error about the mean of the pool by exactly these raters; of all systems, the root of
        the mean over them.
    relative_judgments : float or None
        Judgments for the error of plain means, which need 1; None where these have no error.
    half_width, coverage : float
        Mean half-width of intervals, and the share of them that holds the truth: by raters like these
        where `estimate` sees raters as a sample.
    reached : float or None
        Share of intervals that are no wider than the goal, if there is one.
    pool_size, judged_outputs, runs : int
        Outputs in the pool, those that were judged, and replays that showed an interval.
    ledger : Ledger or None
        Of `estimate`: judgments that plain means would need for its intervals, and what saved them; the
        mean over every tenth replay.
    """

    system: str
    prompt: str
    rule: str
    design: str
    metrics: tuple[str, ...]
    n_outputs: int
    judgments: float
    estimate: float | None
    error: float
    relative_judgments: float | None
    half_width: float
    coverage: float
    reached: float | None
    pool_size: int
    judged_outputs: int
    runs: int
    ledger: Ledger | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        ledger = self.ledger and self.ledger.to_dict()
        return vars(self) | {"metrics": list(self.metrics), "ledger": ledger}

    def __repr__(self) -> str:
        return (
            f"<MeanReplay {self.system}, prompt {self.prompt}, {self.rule}, {self.design} draw: "
            f"{self.n_outputs} outputs, error {self.error:.3g}, coverage {self.coverage:.0%} of "
            f"{self.runs}>"
        )

    def _repr_html_(self) -> str:
        return Results([self], columns=_COLUMNS)._repr_html_()


def simulate_means(
    study: "Study",
    n: Sequence[int],
    *,
    metrics: Sequence[str] | None = None,
    prompt: str | None = None,
    systems: Sequence[str] | None = None,
    design: ReplayDesign = "simple",
    by: Sequence[str] = (),
    half_width: float | None = None,
    runs: int = 200,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Results[MeanReplay]:
    r"""Replay a finished campaign with fewer judgments, as `estimate` and as plain means show it.

    A replay draws n of the judged outputs of each system, the same items for all if they were judged on
    the same items, and one judgment of each text. It takes them for a draw from the real pool, whose size
    and metrics are known, and estimates. Beside it stand plain means of as many judgments, each system
    drawn on its own.

    Parameters
    ----------
    study : Study
        The finished campaign.
    n : sequence of int
        Outputs to judge of each system.
    metrics : sequence of str, optional
        Metrics of `estimate`; all by default.
    prompt : str, optional
        The prompt; needed when several were judged.
    systems : sequence of str, optional
        Which systems to show; all are replayed, because they lend one another what they know.
    design : {"simple", "spread"}
        How outputs are drawn for `estimate`.
    by : sequence of str
        Metrics that a spread draw is spread by; what all have most in common by default.
    half_width : float, optional
        A goal: how often do intervals reach it?
    runs : int
        Number of replays.
    level : float
        Level of intervals.
    seed : int
        Seed of the replays.
    progress : callable, optional
        Called with the number of steps made and that of all.

    Returns
    -------
    Results of MeanReplay
        For each number and system, and for all systems together: by `estimate`, and by plain means.

    Notes
    -----
    The J judged outputs are a draw from the pool, and n of them are one too. So the error of a
    replay is :math:`(\hat\mu_n - \hat\mu_J) + (\hat\mu_J - \mu)`, where :math:`\hat\mu_J` is what all
    judgments show. The replays show the first part. The second has the standard error of the whole campaign, and is
    not correlated with the first. So the squared error is the sum of both, and coverage is the mean
    probability of an interval to hold a truth that lies so about :math:`\hat\mu_J`. Replays have the raters
    of the campaign: errors are about the mean by exactly these, and coverage is about what the intervals
    are about. Derived in docs/methods/replays.md.
    """
    replays = CampaignReplays.of(study, metrics, prompt=prompt, systems=systems, level=level)
    replays.check(n, runs)
    _check(design, by, half_width)
    values = None
    if design == "spread":
        together = replays.campaign.together
        values = judged_spread_values(
            study.outputs, replays.names, replays.items, names_of(by), together=together
        )
    found: list[MeanReplay] = []
    for place, number in enumerate(n):

        def told(run: int, before: int = place * runs) -> None:
            if progress is not None and (run % 10 == 0 or run == runs):
                progress(before + run, len(n) * runs)

        ours = replays.estimated(number, values, runs, seed, told)
        plain = replays.plain(number, runs, seed)
        found += _summaries(replays, ours, plain, n=number, design=design, goal=half_width)
    return Results(found, columns=_COLUMNS)


def _check(design: str, by: Sequence[str], half_width: float | None) -> None:
    if design not in get_args(ReplayDesign):
        raise InvalidArgumentError(
            f"`design` must be one of {', '.join(get_args(ReplayDesign))}; got {design!r}"
        )
    if by and design != "spread":
        raise InvalidArgumentError("`by` goes with `design` spread")
    if half_width is not None and not half_width > 0:
        raise InvalidArgumentError(f"`half_width` must be above zero; got {half_width}")


def _summaries(
    replays: CampaignReplays,
    ours: Sequence[Outcomes],
    plain: Sequence[Outcomes],
    *,
    n: int,
    design: str,
    goal: float | None,
) -> list[MeanReplay]:
    """Return both rules for each system that is to be shown, and for all of them together."""
    found = []
    numbers = [replays.names.index(name) for name in replays.shown]
    groups = [(replays.names[one], [one]) for one in numbers]
    if len(numbers) > 1:
        groups.append((ALL_SYSTEMS, numbers))
    for name, chosen in groups:
        usual = [plain[one] for one in chosen]
        for rule, which in (("estimate", [ours[one] for one in chosen]), ("plain mean", usual)):
            found.append(
                MeanReplay(
                    system=name,
                    prompt=replays.prompt,
                    rule=rule,
                    design=design if rule == "estimate" else "simple",
                    metrics=replays.metrics if rule == "estimate" else (),
                    n_outputs=n,
                    pool_size=sum(replays.campaign.sizes[one] for one in chosen),
                    judged_outputs=sum(replays.campaign.judged[one] for one in chosen),
                    **_summary(which, usual, goal),
                )
            )
    return found


def _summary(
    found: Sequence[Outcomes], usual: Sequence[Outcomes], goal: float | None
) -> dict[str, Any]:
    """Return what replays of one system, or of several, came to."""
    if not all(one.shown.any() for one in found):
        raise NotEstimableError(
            "no replay shows an interval: judge more outputs (-n), or leave out systems whose scores "
            "are all equal"
        )
    squares, plain = (float(np.mean([one.squares for one in some])) for some in (found, usual))
    paid, judgments = (sum(one.judgments for one in some) for some in (found, usual))
    totals = [
        total_ledger(ledgers) for ledgers in zip(*(one.ledgers for one in found), strict=False)
    ]
    return {
        "judgments": paid,
        "estimate": found[0].about.estimate if len(found) == 1 else None,
        "error": float(np.sqrt(squares)),
        "relative_judgments": squares * paid / (plain * judgments) if plain > 0 else None,
        "half_width": float(np.mean([np.nanmean(one.half_width) for one in found])),
        "coverage": float(np.mean([one.coverage for one in found])),
        "reached": None if goal is None else float(np.mean([one.reached(goal) for one in found])),
        "runs": int(min(one.shown.sum() for one in found)),
        "ledger": mean_ledger(totals) if totals else None,
    }
