"""Many replays of a finished campaign with fewer judgments, by `estimate` and by plain means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import Estimate, Options
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.campaign_leniency import FEW_RATERS
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.ledger import Ledger
from steelyard.records import names_of
from steelyard.study.campaign import Campaign, rater_mode
from steelyard.study.judged import drawn_table
from steelyard.study.judged_campaign import JudgedCampaign
from steelyard.study.recorded_draw import check_simply_drawn

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["CampaignReplays", "Outcomes", "Whole"]

Floats = NDArray[np.float64]
# Every so many replays tell what each device saved, which takes as long as the estimate.
_LEDGERS = 10


@dataclass(frozen=True)
class Whole:
    """What the whole campaign shows of one system, and its standard errors.

    They are about what intervals are about, and about exactly these raters.
    """

    estimate: float
    standard_error: float
    by_these_raters: float


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Estimates and half-widths (R,) of one system, about what the whole campaign shows.

    Replays without an interval are NaN. Where the variance of the estimate over replays is known
    exactly, it is `variance`.
    """

    about: Whole
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

    def reached(self, goal: float) -> float:
        """Return the share of intervals that are no wider than a goal."""
        return float(np.mean(self.half_width[self.shown] <= goal))

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Which replays have an interval."""
        return np.isfinite(self.half_width)


@dataclass(frozen=True, eq=False)
class CampaignReplays:
    """A finished campaign that is replayed, and what it shows as a whole by both rules."""

    campaign: JudgedCampaign
    names: tuple[str, ...]
    items: Sequence[NDArray[np.object_]]
    shown: tuple[str, ...]
    prompt: str
    metrics: tuple[str, ...]
    options: Options
    whole: tuple[Whole, ...]
    plain_whole: tuple[Whole, ...]

    @classmethod
    def of(
        cls,
        study: "Study",
        metrics: Sequence[str] | None,
        *,
        prompt: str | None,
        systems: Sequence[str] | None,
        level: float,
    ) -> "CampaignReplays":
        """Gather a campaign under one prompt; all its systems are replayed, `systems` are shown."""
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
        for name, one in zip(cells, judged, strict=True):
            if one.sample.n_outputs < 2:
                raise NotEstimableError(
                    f"prompt {prompt!r}, system {name!r}: a replay needs at least 2 judged outputs; got "
                    f"{one.sample.n_outputs}: judge more, or leave it out (--exclude-system)"
                )
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

    def check(self, n: Sequence[int], runs: int) -> None:
        """Raise unless these replays can be made."""
        if runs < 2:
            raise InvalidArgumentError(f"`runs` must be at least 2; got {runs}")
        if not n:
            raise InvalidArgumentError("`n` (-n) must hold at least one number of outputs")
        most = min(self.campaign.judged)
        what = "items judged for all systems" if self.campaign.together else "judged outputs"
        for one in n:
            if not 2 <= one <= most:
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
    ) -> list[Outcomes]:
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
            Outcomes(whole, estimate[one], reach[one], float(paid[one]), tuple(ledgers[one]))
            for one, whole in enumerate(self.whole)
        ]

    def plain(self, n: int, runs: int, seed: int) -> list[Outcomes]:
        """Replay plain means of n judgments of each system, drawn on its own."""
        rng = np.random.default_rng([seed, n, runs])
        found = []
        quantile = float(stdtrit(n - 1, (1 + self.options.level) / 2))
        for number, about in enumerate(self.plain_whole):
            mean, deviation = self.campaign.plain_means(number, n, runs, rng)
            reach = quantile * deviation / np.sqrt(n)
            variance = self.campaign.plain_variance(number, n)
            found.append(Outcomes(about, mean, reach, float(n), variance=variance))
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
) -> tuple[tuple[Whole, ...], tuple[Whole, ...]]:
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
        whole.append(Whole(one.estimate, one.standard_error, by_these.standard_error))
        usual, usual_fixed = one.baseline or one, by_these.baseline or by_these
        plain.append(Whole(usual.estimate, usual.standard_error, usual_fixed.standard_error))
    return tuple(whole), tuple(plain)
