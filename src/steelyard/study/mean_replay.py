"""Replays of a finished campaign with fewer judgments: what `estimate` would have shown of each mean."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import Estimate, Options
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.campaign_leniency import FEW_RATERS
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.ledger import Ledger, mean_ledger, total_ledger
from steelyard.records import names_of
from steelyard.study.campaign import Campaign, rater_mode
from steelyard.study.judged import drawn_table
from steelyard.study.judged_campaign import JudgedCampaign
from steelyard.study.recorded_draw import check_simply_drawn
from steelyard.study.results import Results
from steelyard.study.spread_value import judged_spread_values

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["MeanReplay", "ReplayDesign", "simulate_means"]

Floats = NDArray[np.float64]
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
# Every so many replays tell what each device saved, which takes as long as the estimate.
_LEDGERS = 10


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
    replays = _Replays.of(study, metrics, prompt=prompt, systems=systems, level=level)
    replays.check(n, runs=runs, design=design, by=by)
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
        found += replays.summaries(number, ours, plain, design)
    return Results(found, columns=_COLUMNS)


@dataclass(frozen=True)
class _Whole:
    """What the whole campaign shows of one system, and its standard errors.

    They are about what intervals are about, and about exactly these raters.
    """

    estimate: float
    standard_error: float
    by_these_raters: float


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """Estimates and half-widths (R,) of one system, about what the whole campaign shows.

    Replays without an interval are NaN. Where the variance of the estimate over replays is known
    exactly, it is `variance`.
    """

    about: "_Whole"
    estimate: Floats
    half_width: Floats
    judgments: float
    ledgers: tuple[Ledger, ...] = ()
    variance: float | None = None

    @property
    def squares(self) -> float:
        """Mean squared error about the mean of the pool by exactly these raters."""
        about = self.about
        off = float(np.nanmean((self.estimate - about.estimate) ** 2))
        return (off if self.variance is None else self.variance) + about.by_these_raters**2

    @property
    def coverage(self) -> float:
        """Mean probability of an interval to hold what it is about."""
        off, doubt = self.estimate - self.about.estimate, self.about.standard_error
        if doubt == 0:
            return float(np.mean((np.abs(off) <= self.half_width)[self.shown]))
        ends = [(off + sign * self.half_width) / doubt for sign in (-1, 1)]
        return float(np.nanmean(ndtr(ends[1]) - ndtr(ends[0])))

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Which replays have an interval."""
        return np.isfinite(self.half_width)


@dataclass(frozen=True, eq=False)
class _Replays:
    """A finished campaign that is replayed, and what it shows as a whole by both rules."""

    campaign: JudgedCampaign
    names: tuple[str, ...]
    items: Sequence[NDArray[np.object_]]
    shown: tuple[str, ...]
    prompt: str
    metrics: tuple[str, ...]
    options: Options
    whole: tuple[_Whole, ...]
    plain_whole: tuple[_Whole, ...]

    @classmethod
    def of(
        cls,
        study: "Study",
        metrics: Sequence[str] | None,
        *,
        prompt: str | None,
        systems: Sequence[str] | None,
        level: float,
    ) -> "_Replays":
        prompt = study.only_prompt(prompt)
        shown = names_of(systems)
        study.check_judged([prompt], shown)
        check_simply_drawn(study.judgments, [prompt])
        names = tuple(study.metrics if metrics is None else names_of(metrics))
        table = drawn_table(study.outputs, study.judgments, names)
        gaps = study.outputs.metric_gaps(names) if names else {}
        pools = study.outputs.pool_moments(names, gaps="fill") if names else {}
        gathered = Campaign(study.outputs, table, pools, gaps)
        cells, _ = gathered.cells(prompt)
        judged = gathered.judged(prompt, cells)
        sizes = [study.outputs.sizes[one] for one in cells]
        campaign = JudgedCampaign.of(judged, sizes)
        labels = np.unique(
            np.concatenate([table.of(prompt, one)["item"].to_numpy() for one in cells])
        )
        mode, _ = rater_mode(table, prompt, None, adjusted="adjusted")
        options = Options(level=level, raters_as=mode)
        whole, plain_whole = _seen_whole(campaign, options)
        return cls(
            campaign,
            tuple(cells),
            [labels[one.items] for one in campaign.systems],
            tuple(cells) if shown is None else tuple(shown),
            prompt,
            names,
            options,
            whole,
            plain_whole,
        )

    def check(self, n: Sequence[int], *, runs: int, design: str, by: Sequence[str]) -> None:
        """Raise unless these replays can be made."""
        if runs < 2:
            raise InvalidArgumentError(f"`runs` must be at least 2; got {runs}")
        if design not in get_args(ReplayDesign):
            raise InvalidArgumentError(
                f"`design` must be one of {', '.join(get_args(ReplayDesign))}; got {design!r}"
            )
        if by and design != "spread":
            raise InvalidArgumentError("`by` (--by) goes with `design` spread (--design spread)")
        if not n:
            raise InvalidArgumentError("`n` (-n) must hold at least one number of outputs")
        most = min(self.campaign.judged)
        for one in n:
            if not 2 <= one <= most:
                what = (
                    "items judged for all systems" if self.campaign.together else "judged outputs"
                )
                raise InvalidArgumentError(
                    f"`n` (-n) must be from 2 to {most}, the number of {what}; got {one}"
                )

    def estimated(
        self,
        n: int,
        values: Sequence[Floats] | None,
        runs: int,
        seed: int,
        told: Callable[[int], None],
    ) -> list[_Outcomes]:
        """Replay `estimate` with n outputs of each system."""
        k = len(self.names)
        estimate, reach = np.full((k, runs), np.nan), np.full((k, runs), np.nan)
        paid = np.zeros(k)
        ledgers: list[list[Ledger]] = [[] for _ in range(k)]
        for run in range(runs):
            rng = np.random.default_rng([seed, n, run])
            drawn = self.campaign.drawn(n, rng, by=values)
            paid += drawn.paid / runs
            options = replace(self._options(drawn.systems), ledger=run % _LEDGERS == 0)
            results = campaign_means(drawn.systems, options=options, beside=False)
            for number, one in enumerate(results):
                if isinstance(one, Estimate):
                    estimate[number, run], reach[number, run] = one.estimate, one.half_width
                    ledgers[number] += [] if one.ledger is None else [one.ledger]
            told(run + 1)
        return [
            _Outcomes(whole, estimate[one], reach[one], float(paid[one]), tuple(ledgers[one]))
            for one, whole in enumerate(self.whole)
        ]

    def plain(self, n: int, runs: int, seed: int) -> list[_Outcomes]:
        """Replay plain means of n judgments of each system, drawn on its own."""
        rng = np.random.default_rng([seed, n, runs])
        found = []
        quantile = float(stdtrit(n - 1, (1 + self.options.level) / 2))
        for number, about in enumerate(self.plain_whole):
            mean, deviation = self.campaign.plain_means(number, n, runs, rng)
            reach = quantile * deviation / np.sqrt(n)
            variance = self.campaign.plain_variance(number, n)
            found.append(_Outcomes(about, mean, reach, float(n), variance=variance))
        return found

    def summaries(
        self, n: int, ours: Sequence[_Outcomes], plain: Sequence[_Outcomes], design: str
    ) -> list[MeanReplay]:
        """Return both rules for each system that is to be shown, and for all of them together."""
        found = []
        numbers = [self.names.index(name) for name in self.shown]
        groups = [(self.names[one], [one]) for one in numbers]
        if len(numbers) > 1:
            groups.append((ALL_SYSTEMS, numbers))
        for name, chosen in groups:
            usual = [plain[one] for one in chosen]
            for rule, which in (("estimate", [ours[one] for one in chosen]), ("plain mean", usual)):
                found.append(
                    MeanReplay(
                        system=name,
                        prompt=self.prompt,
                        rule=rule,
                        design=design if rule == "estimate" else "simple",
                        metrics=self.metrics if rule == "estimate" else (),
                        n_outputs=n,
                        pool_size=sum(self.campaign.sizes[one] for one in chosen),
                        judged_outputs=sum(self.campaign.judged[one] for one in chosen),
                        **_summary(which, usual),
                    )
                )
        return found

    def _options(self, systems: Sequence[JudgedSystem]) -> Options:
        """Return how raters are seen: as fixed where a draw has too few of them."""
        if self.options.raters_as == "fixed":
            return self.options
        known = [one.raters for one in systems if one.raters is not None]
        few = len(np.unique(np.concatenate(known))) < FEW_RATERS
        return replace(self.options, raters_as="fixed") if few else self.options


def _seen_whole(
    campaign: JudgedCampaign, options: Options
) -> tuple[tuple[_Whole, ...], tuple[_Whole, ...]]:
    """Return what the whole campaign shows of each system, by `estimate` and by plain means."""
    seen = campaign_means(campaign.systems, options=options)
    fixed = seen
    if options.raters_as != "fixed":
        fixed = campaign_means(campaign.systems, options=replace(options, raters_as="fixed"))
    whole, plain = [], []
    for one, by_these in zip(seen, fixed, strict=True):
        for found in (one, by_these):
            if not isinstance(found, Estimate):
                raise found
        assert isinstance(one, Estimate)
        assert isinstance(by_these, Estimate)
        whole.append(_Whole(one.estimate, one.standard_error, by_these.standard_error))
        usual, usual_fixed = one.baseline or one, by_these.baseline or by_these
        plain.append(_Whole(usual.estimate, usual.standard_error, usual_fixed.standard_error))
    return tuple(whole), tuple(plain)


def _summary(found: Sequence[_Outcomes], usual: Sequence[_Outcomes]) -> dict[str, Any]:
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
        "runs": int(min(one.shown.sum() for one in found)),
        "ledger": mean_ledger(totals) if totals else None,
    }
