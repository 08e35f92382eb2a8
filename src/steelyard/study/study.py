"""A study: a campaign's outputs and judgments, and the questions people ask of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Self

import polars as pl

from steelyard.campaign.averages import averaged_judgments
from steelyard.campaign.balance import balance_notes
from steelyard.campaign.files import StudyFiles
from steelyard.campaign.slices import sliced
from steelyard.campaign.source import Source
from steelyard.campaign.versions import campaign_files, joined
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.questions.about import Raters, Target
from steelyard.questions.asked import Asked
from steelyard.questions.compare import check_pairs, comparisons
from steelyard.questions.comparisons import Comparisons
from steelyard.questions.diagnose import diagnoses
from steelyard.questions.diagnosis import Diagnoses
from steelyard.questions.disagreements import disagreements
from steelyard.questions.estimate import estimates
from steelyard.questions.estimates import Estimates
from steelyard.questions.fitted import Fits
from steelyard.questions.next_sample import NextSample, next_sample
from steelyard.questions.plan import PlanAsked, PlanFor, pilot_plan
from steelyard.questions.plans import Plan
from steelyard.questions.savings import with_savings
from steelyard.records import names_of
from steelyard.sampling.sample import Sample, sample
from steelyard.study import monitoring, replaying
from steelyard.tables import Judgments, Outputs

__all__ = ["Study"]

# Folders of earlier versions, or their tables.
Earlier = str | PathLike[str] | Sequence[str | PathLike[str] | tuple[Any, ...]]


@dataclass(frozen=True, eq=False)
class Study:
    """The outputs of one or more systems and the judgments of some of them.

    Attributes
    ----------
    outputs : Outputs
        The pool of every system.
    judgments : Judgments
        The judgments.
    notes : tuple of str
        What was taken for granted, filled or left out while they were read.
    today : Study, optional
        Where earlier versions were handed over: the same without them.

    Examples
    --------
    >>> import polars as pl
    >>> outputs = pl.DataFrame({"item": range(8), "system": "s", "length": range(8)})
    >>> judgments = pl.DataFrame(
    ...     {"item": [0, 2, 4, 5, 7], "system": "s", "rater": "r", "prompt": "p",
    ...      "score": [0, 1, 1, 2, 3]}
    ... )
    >>> found = Study.read(outputs, judgments).estimate(["length"])
    >>> round(found["s"].estimate, 1), found["s"].n_outputs, found["s"].pool_size
    (1.4, 5, 8)
    >>> Study.read(outputs).sample(3, seed=1).frame.height
    3
    """

    outputs: Outputs
    judgments: Judgments
    notes: tuple[str, ...] = ()
    today: "Self | None" = None
    _fits: dict[Any, Fits] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def read(
        cls,
        outputs: Any,
        judgments: Any = None,
        *,
        columns: Mapping[str, str] | None = None,
        metrics: Sequence[str] | None = None,
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        exclude_systems: Sequence[str] | None = None,
        exclude_metrics: Sequence[str] | None = None,
        lower_is_better: Sequence[str] | None = None,
        human: Sequence[str] | None = None,
        earlier: Earlier | None = None,
    ) -> Self:
        """Read a study from files or data frames.

        Parameters
        ----------
        outputs, judgments : path or data frame
            As `read_outputs` and `read_judgments` take them. Before the campaign there are no
            judgments, and none are needed to draw a sample.
        columns : mapping, optional
            The name of each of our columns in these files, where it differs; ``outputs:item`` and
            ``judgments:item`` are for one file only.
        metrics : str or sequence of str, optional
            Columns to use as metrics; all numeric ones by default.
        prompts : str or sequence of str, optional
            Read the judgments under these prompts only.
        systems : str or sequence of str, optional
            The systems that will be asked about. Others are read too, because they lend what they
            know, unless something is wrong with them: then they are left out, with a note.
        exclude_systems : str or sequence of str, optional
            Leave out these systems before anything is checked.
        exclude_metrics : str or sequence of str, optional
            Columns of numbers that are no metrics.
        lower_is_better : str or sequence of str, optional
            Prompts whose lower scores are better, such as ranks and counted errors.
        human : str or sequence of str, optional
            Where `outputs` is one table that holds the judgments too: its columns of human scores, filled
            on some rows; ``rater*`` for all that start so. Several are scores of several raters.
        earlier : path, or sequence of paths, of (outputs, judgments) or of (name, outputs, judgments), optional
            Earlier versions, as folders of their files or as tables. They lend what they know of
            items, texts, metrics and raters; estimates are of the others. Outputs of theirs that are judged
            again today show whether their judgments still hold; if not, they are not used.

        Raises
        ------
        InvalidArgumentError
            If one of `metrics` is, or is made from, human scores.
        """
        files = StudyFiles(
            outputs,
            judgments,
            columns=columns or {},
            metrics=names_of(metrics),
            prompts=names_of(prompts),
            exclude_systems=names_of(exclude_systems),
            exclude_metrics=names_of(exclude_metrics),
            lower_is_better=names_of(lower_is_better),
            human=names_of(human),
        )
        pool, judged, notes = files.read(names_of(systems))
        if earlier is None:
            return cls(pool, judged, notes)
        others = replace(files, human=None, exclude_systems=None)
        old = [
            (name, *replace(others, outputs=pool_of, judgments=judged_of).read(None)[:2])
            for name, pool_of, judged_of in _tables_of(earlier)
        ]
        both = joined(pool, judged, old)
        whole = replace(
            others,
            outputs=both.outputs,
            judgments=both.judgments,
            columns={},
            metrics=pool.metrics,
            exclude_metrics=None,
        )
        pool_of_all, judged_of_all, _ = whole.read(None)
        # anchors are of earlier versions, whatever their system is called
        keys = pool.rows(columns=["item", "system"]).select(pl.struct("item", "system"))
        own = judged.filter(pl.struct("item", "system").is_in(keys.to_series().implode()))
        today = cls(pool, own, notes)
        return cls(pool_of_all, judged_of_all, (*notes, *both.notes), today=today)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics known on every output."""
        return self.outputs.metrics

    @property
    def prompts(self) -> tuple[str, ...]:
        """Prompts that were judged."""
        return self.judgments.prompts

    @property
    def systems(self) -> tuple[str, ...]:
        """Systems that were judged."""
        return self.judgments.systems

    def estimate(
        self,
        metrics: Sequence[str] | None = None,
        *,
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        target: Target = "pool",
        raters: Raters | None = None,
        level: float = 0.95,
        bounds: tuple[float, float] | None = None,
        sample: pl.DataFrame | None = None,
        cluster_by: str | None = None,
        average: Mapping[str, float] | None = None,
        by: str | None = None,
        bands: Sequence[float] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Estimates:
        """Estimate the mean human score of each system under each prompt.

        One model is fitted to all judgments under a prompt: metrics, items, texts, raters and systems
        lend one another what they know.

        Parameters
        ----------
        metrics : str or sequence of str, optional
            Metrics to use; all of them by default, and none for judgments alone.
        prompts, systems : str or sequence of str, optional
            Which to estimate; all that were judged by default. All systems lend what they know.
        target : {"pool", "superpopulation"}
            Whether the mean is of these outputs, or of new outputs like these.
        raters : {"random", "fixed"}, optional
            Whether the interval is about raters like these (the default where two or more are known) or
            about exactly these raters.
        level : float
            Confidence level.
        bounds : (float, float), optional
            Least and greatest possible score; 0 and 1 are known where all scores are one of them.
        sample : polars.DataFrame, optional
            The drawn sample, when it was not a simple one and the judgments do not carry what the
            draw recorded.
        cluster_by : str, optional
            Column of outputs or judgments that names the cluster of an output, for example its
            document; ``cluster`` by default, if there is one.
        average : mapping of str to float, optional
            The weights of several prompts, which are averaged and then estimated as one.
        by : str, optional
            Column of the outputs that divides them into slices: an estimate of each.
        bands : sequence of float, optional
            Where a column `by` of numbers is cut; into three bands of one size by default, unless it
            has ten values or fewer.
        weights : mapping of str to float, optional
            The weight of each slice, adding up to 1: an estimate under that mix of slices.

        Returns
        -------
        Estimates
            A list; systems without an estimate are in its `left_out`, with the reason.

        Notes
        -----
        Outputs that were drawn by strata or with unequal probabilities are weighted as they were drawn.
        """
        fits = self.fits(
            metrics, bounds=bounds, sample=sample, cluster_by=cluster_by, average=average
        )
        if systems is None and self.today is not None:
            systems = self.today.systems
        asked = Asked.of(
            fits,
            names_of(prompts),
            names_of(systems),
            target=target,
            raters=raters,
            level=level,
        )
        slices = sliced(self.outputs, by, bands=bands, weights=weights)
        found = estimates(fits.cut(slices), asked)
        if self.today is None:
            return found
        alone = estimates(
            self.today.fits(
                metrics, bounds=bounds, sample=sample, cluster_by=cluster_by, average=average
            ).cut(slices),
            asked,
        )
        return with_savings(found, alone)

    def compare(
        self,
        metrics: Sequence[str] | None = None,
        *,
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        pair: tuple[str, str] | None = None,
        baseline: str | None = None,
        margin: float | None = None,
        target: Target = "pool",
        raters: Raters | None = None,
        level: float = 0.95,
        bounds: tuple[float, float] | None = None,
        sample: pl.DataFrame | None = None,
        cluster_by: str | None = None,
        average: Mapping[str, float] | None = None,
        by: str | None = None,
        bands: Sequence[float] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Comparisons:
        """Compare systems: which is better, by how much, and how sure that is.

        The model is the one of `estimate`, so a difference is the difference of the two means there.

        Parameters
        ----------
        metrics, prompts, systems, target, raters, level, bounds, sample
            As in `estimate`.
        cluster_by, average, by, bands, weights
            As in `estimate`.
        pair : (str, str), optional
            Compare these two only.
        baseline : str, optional
            Compare every other system with this one only.
        margin : float, optional
            Differences within it count as equivalent.

        Returns
        -------
        Comparisons
            A list, one for each prompt, and for each slice of it; a `PreferenceComparison`, with wins, ties,
            losses and strengths, where the prompt asks which of two outputs is better. Intervals are given
            for each pair alone and for all pairs in all slices together.
        """
        fits = self.fits(
            metrics, bounds=bounds, sample=sample, cluster_by=cluster_by, average=average
        )
        chosen = fits.source.systems if systems is None else names_of(systems)
        if pair is not None and baseline is not None:
            raise InvalidArgumentError("`pair` and `baseline` exclude each other: give one of them")
        pairs = None
        if pair is not None:
            pairs = [(str(pair[0]), str(pair[1]))]
        elif baseline is not None:
            pairs = [(one, baseline) for one in chosen if one != baseline]
        check_pairs(pairs or [], margin, fits.source.systems)
        asked = Asked.of(
            fits,
            names_of(prompts),
            names_of(systems),
            target=target,
            raters=raters,
            level=level,
        )
        slices = sliced(self.outputs, by, bands=bands, weights=weights)
        preferred = [one for one in asked.prompts if one in self.judgments.preference_prompts]
        if preferred and (by is not None or cluster_by is not None):
            raise InvalidArgumentError(
                f"`{'by' if by is not None else 'cluster_by'}` cannot go with prompt {preferred[0]!r}, "
                "which asks for preferences: choose other prompts"
            )
        return comparisons(fits.cut(slices), asked, pairs, margin=margin)

    @cached_property
    def imbalances(self) -> dict[tuple[str, str], str]:
        """What is to be said, by prompt and system, where judged outputs do not look like the pool."""
        return balance_notes(self.outputs, self.judgments)

    def fits(
        self,
        metrics: str | Sequence[str] | None = None,
        *,
        bounds: tuple[float, float] | None = None,
        sample: pl.DataFrame | None = None,
        cluster_by: str | None = None,
        average: Mapping[str, float] | None = None,
    ) -> Fits:
        """Return the models of all prompts, from which every question is answered; see `estimate`.

        Parameters
        ----------
        metrics, bounds, sample, cluster_by, average
            As in `estimate`.
        """
        names = self.metrics if metrics is None else names_of(metrics)
        names = tuple(self.outputs.named(one) for one in names)
        weights = None if average is None else tuple(average.items())
        key = names, bounds, id(sample), cluster_by, weights
        if key not in self._fits:
            self._check_judged()
            judgments, notes = self.judgments, tuple[str, ...]()
            if average is not None:
                judgments, notes = averaged_judgments(judgments, average)
            source = Source(self.outputs, judgments, names, cluster_by, sample, bounds)
            self._fits[key] = Fits(source, (*self.notes, *notes), is_average=average is not None)
        return self._fits[key]

    def diagnose(
        self,
        metrics: Sequence[str] | None = None,
        *,
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        against: Sequence[str] | None = None,
        own: Sequence[str] | None = None,
        raters: Raters | None = None,
        level: float = 0.95,
        sample: pl.DataFrame | None = None,
        cluster_by: str | None = None,
    ) -> Diagnoses:
        """Diagnose metrics and judges: where each is biased, what it is worth, and whether raters agree.

        Parameters
        ----------
        metrics : str or sequence of str, optional
            Metrics to look at; all by default.
        prompts : str or sequence of str, optional
            Which prompts; all that were judged by default.
        systems : str or sequence of str, optional
            The systems whose offsets are shown; all by default.
        against : str or sequence of str, optional
            Columns of numbers that a metric may be biased towards, beside the number of words.
        own : str or sequence of str, optional
            The systems of the judge's own family, which it may prefer.
        raters, level, sample, cluster_by
            As in `estimate`.

        Returns
        -------
        Diagnoses
            A list, one for each prompt.
        """
        fits = self.fits(metrics, sample=sample, cluster_by=cluster_by)
        asked = Asked.of(
            fits,
            names_of(prompts),
            names_of(systems),
            target="pool",
            raters=raters,
            level=level,
        )
        return diagnoses(fits, asked, against=names_of(against) or (), own=names_of(own) or ())

    def disagreements(
        self,
        number: int = 20,
        *,
        metrics: Sequence[str] | None = None,
        prompts: Sequence[str] | None = None,
    ) -> list[dict[str, Any]]:
        """List the outputs on which metrics and people, and people among themselves, differ most.

        Parameters
        ----------
        number : int
            How many outputs for each metric, and for the people.
        metrics, prompts
            As in `diagnose`.

        Returns
        -------
        list of dict
            The item, system, mean judgment, what the metric says on the human scale, the difference beyond
            raters' noise, each rater's score, and the texts.
        """
        fits = self.fits(metrics)
        asked = Asked.of(fits, names_of(prompts), None, target="pool", raters=None, level=0.95)
        return disagreements(fits, asked.scored(fits), number)

    def plan(
        self,
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
        output_price: float = 0.0,
        judgments_per_output: float | None = None,
        n_raters: int | None = None,
        same_items: bool = True,
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
        judgment_price, output_price : float
            Of a judgment, and of an output that is judged, however often.
        judgments_per_output : float, optional
            1.2 gives every fifth output a second judgment; the cheapest by default.
        n_raters : int, optional
            Raters of the further judgments; those of before by default.
        same_items : bool
            Whether systems are judged on the same items.
        level : float
            Confidence level.

        Returns
        -------
        Plan
        """
        prompt = self.only_prompt(prompt)
        if systems is None and pair is None and self.today is not None:
            systems = self.today.systems
        return pilot_plan(
            self.fits(metrics),
            prompt,
            PlanAsked(
                half_width=half_width,
                difference=difference,
                budget=budget,
                assurance=assurance,
                judgment_price=judgment_price,
                output_price=output_price,
                judgments_per_output=judgments_per_output,
                n_raters=n_raters,
                level=level,
            ),
            systems=names_of(systems),
            pair=pair,
            what=what,
            judge=names_of(judge),
            same_items=same_items,
            target=target,
            raters=raters,
        )

    def sample(self, n: int, **options: Any) -> Sample:
        """Draw outputs to judge; see `steelyard.sampling.sample.sample`."""
        return sample(self.outputs, n, **options)

    def next_sample(
        self,
        n: int,
        *,
        prompt: str | None = None,
        systems: Sequence[str] | None = None,
        pair: tuple[str, str] | None = None,
        undecided: bool = False,
        seed: int,
    ) -> NextSample:
        """Draw outputs to judge after those that were judged.

        Parameters
        ----------
        n : int
            Items to judge next.
        prompt : str, optional
            The prompt; needed when several were judged.
        systems : str or sequence of str, optional
            The systems in question; all by default.
        pair : (str, str), optional
            Two systems whose difference is in question.
        undecided : bool
            Whether systems that `compare` tells from all others get no more judgments.
        seed : int
            Seed of the draw.

        Returns
        -------
        NextSample
        """
        prompt = self.only_prompt(prompt)
        decided: list[str] = []
        if undecided:
            pairs = self.compare(prompts=[prompt], systems=systems, pair=pair)[prompt].pairs
            still = {name for one in pairs if one.verdict == "undecided" for name in (one.a, one.b)}
            decided = [name for one in pairs for name in (one.a, one.b) if name not in still]
        return next_sample(
            self.fits(),
            prompt,
            n,
            systems=names_of(systems),
            pair=pair,
            decided=decided,
            seed=seed,
        )

    def report(self, path: str | PathLike[str], **options: Any) -> Path:
        """Write a report as one HTML file; `options` are those of `steelyard.report.write_report`.

        Parameters
        ----------
        path : path
            File to write.
        **options
            ``metrics``, ``prompts``, ``systems``, ``level``, ``title``.

        Returns
        -------
        pathlib.Path
            The file.
        """
        # Figures are drawn only when somebody asks for them.
        from steelyard.report import write_report  # noqa: PLC0415

        return write_report(self, path, **options)

    def judged_rows(self, metric: str) -> pl.DataFrame:
        """Return all judgments, each with a metric of its output, which may be missing."""
        known = self.outputs.rows_of(self.judgments, columns=[metric])
        return self.judgments.frame.select("item", "system", "prompt", "rater", "score").join(
            known.select("item", "system", metric),
            on=["item", "system"],
            how="left",
            maintain_order="left",
        )

    # Each is a function of its own module, whose first argument is the study.
    monitor = monitoring.monitor
    replay = replaying.replay

    def only_prompt(self, prompt: str | None) -> str:
        """Return the prompt that was asked for, or else the only one.

        Raises
        ------
        InvalidArgumentError
            If none was asked for and there are several.
        """
        if prompt is None:
            self._check_judged()
            if len(self.prompts) > 1:
                raise InvalidArgumentError(
                    f"`prompt` (--prompt) must be chosen; there are: {', '.join(self.prompts)}"
                )
        found = self.prompts[0] if prompt is None else prompt
        if found in self.judgments.preference_prompts:
            raise NotEstimableError(
                f"prompt {found!r} asks which of two outputs is better: use `steelyard compare`, "
                "which counts wins, ties and losses"
            )
        return found

    def _check_judged(self) -> None:
        if not len(self.judgments):
            raise NotEstimableError(
                "there are no judgments yet: draw a sample (steelyard sample), have it judged, and "
                "pass the judgments"
            )


def _tables_of(earlier: Earlier) -> list[tuple[str, Any, Any]]:
    """Return name, outputs and judgments of each earlier version."""
    some = [earlier] if isinstance(earlier, str | PathLike) else list(earlier)
    found: list[tuple[str, Any, Any]] = []
    for place, one in enumerate(some, start=1):
        if isinstance(one, str | PathLike):
            found += campaign_files(Path(one))
        elif len(one) == 2:
            found.append((f"earlier version {place}", *one))
        else:
            found.append(one)
    return found
