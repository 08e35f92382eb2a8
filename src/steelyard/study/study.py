"""A study: a campaign's outputs and judgments, and the questions people ask of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Self

import polars as pl

from steelyard.campaign.averages import averaged_judgments
from steelyard.campaign.slices import sliced
from steelyard.campaign.source import Source
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.questions.about import Raters, Target
from steelyard.questions.asked import Asked
from steelyard.questions.compare import comparisons, pairs_asked
from steelyard.questions.comparisons import Comparisons
from steelyard.questions.diagnose import diagnoses
from steelyard.questions.diagnosis import Diagnoses
from steelyard.questions.disagreements import Disagreement, disagreements
from steelyard.questions.estimate import estimates
from steelyard.questions.estimates import Estimates
from steelyard.questions.fitted import Fits
from steelyard.questions.savings import with_savings
from steelyard.records import names_of
from steelyard.study import drawing, monitoring, planning, replaying
from steelyard.study.reading import Earlier, read_tables
from steelyard.tables import Judgments, Outputs
from steelyard.tables.column_names import Columns

__all__ = ["Study"]


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
    drawn : polars.DataFrame or None
        The sample that was drawn, where the judgments do not carry what the draw recorded.
    bounds : (float, float) or None
        Least and greatest possible score.

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
    drawn: pl.DataFrame | None = None
    bounds: tuple[float, float] | None = None
    _fits: dict[Any, Fits] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def read(
        cls,
        outputs: Any,
        judgments: Any = None,
        *,
        columns: Columns | None = None,
        metrics: Sequence[str] | None = None,
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        exclude_systems: Sequence[str] | None = None,
        exclude_metrics: Sequence[str] | None = None,
        lower_is_better: Sequence[str] | None = None,
        earlier: Earlier | None = None,
        sample: pl.DataFrame | None = None,
        bounds: tuple[float, float] | None = None,
    ) -> Self:
        """Read a study from files or data frames.

        Parameters
        ----------
        outputs, judgments : path or data frame
            As `read_outputs` and `read_judgments` take them. Before the campaign there are no
            judgments, and none are needed to draw a sample.
        columns : mapping, optional
            The name of each of our columns in these files, where it differs; ``outputs:item`` and
            ``judgments:item`` are for one file only. ``cluster`` names the cluster of an output, such as
            its document. ``score`` without `judgments`: `outputs` is one table, in which this column
            holds human scores on some rows; several, or ``rater*``, are scores of several raters.
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
        earlier : path, or sequence of paths, of (outputs, judgments) or of (name, outputs, judgments), optional
            Earlier versions, as folders of their files or as tables. They lend what they know of
            items, texts, metrics and raters; estimates are of the others. Outputs of theirs that are judged
            again today show whether their judgments still hold; if not, they are not used.
        sample : polars.DataFrame, optional
            The drawn sample, when it was not a simple one and the judgments do not carry what the
            draw recorded.
        bounds : (float, float), optional
            Least and greatest possible score; 0 and 1 are known where all scores are one of them.

        Raises
        ------
        InvalidArgumentError
            If one of `metrics` is, or is made from, human scores.
        """
        whole, today = read_tables(
            outputs,
            judgments,
            columns=columns or {},
            metrics=names_of(metrics),
            prompts=names_of(prompts),
            systems=names_of(systems),
            exclude_systems=names_of(exclude_systems),
            exclude_metrics=names_of(exclude_metrics),
            lower_is_better=names_of(lower_is_better),
            earlier=earlier,
        )
        alone = None if today is None else cls(*today, drawn=sample, bounds=bounds)
        return cls(*whole, today=alone, drawn=sample, bounds=bounds)

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
        if systems is None and self.today is not None:
            systems = self.today.systems
        fits = self.fits(metrics, average=average)
        asked = Asked.of(fits, prompts, systems, target=target, raters=raters, level=level)
        slices = sliced(self.outputs, by, bands=bands, weights=weights)
        found = estimates(fits.cut(slices), asked)
        if self.today is None:
            return found
        alone = estimates(self.today.fits(metrics, average=average).cut(slices), asked)
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
        average: Mapping[str, float] | None = None,
        by: str | None = None,
        bands: Sequence[float] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Comparisons:
        """Compare systems: which is better, by how much, and how sure that is.

        The model is the one of `estimate`, so a difference is the difference of the two means there.

        Parameters
        ----------
        metrics, prompts, systems, target, raters, level, average, by, bands, weights
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
        fits = self.fits(metrics, average=average)
        pairs = pairs_asked(
            pair, baseline, names_of(systems), margin=margin, known=fits.source.systems
        )
        asked = Asked.of(fits, prompts, systems, target=target, raters=raters, level=level)
        slices = sliced(self.outputs, by, bands=bands, weights=weights)
        preferred = [one for one in asked.prompts if one in self.judgments.preference_prompts]
        if preferred and by is not None:
            raise InvalidArgumentError(
                f"`by` cannot go with prompt {preferred[0]!r}, which asks for preferences: choose other prompts"
            )
        return comparisons(fits.cut(slices), asked, pairs, margin=margin)

    def fits(
        self,
        metrics: str | Sequence[str] | None = None,
        *,
        average: Mapping[str, float] | None = None,
    ) -> Fits:
        """Return the models of all prompts, from which every question is answered; see `estimate`."""
        names = self.metrics if metrics is None else names_of(metrics)
        names = tuple(self.outputs.named(one) for one in names)
        key = names, None if average is None else tuple(average.items())
        if key not in self._fits:
            self.check_judged()
            judgments, notes = self.judgments, tuple[str, ...]()
            if average is not None:
                judgments, notes = averaged_judgments(judgments, average)
            source = Source(self.outputs, judgments, names, self.drawn, self.bounds)
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
    ) -> Diagnoses:
        """Diagnose metrics and judges: where each is biased, what it is worth, and whether raters agree.

        Parameters
        ----------
        metrics, prompts, raters, level
            As in `estimate`.
        systems : str or sequence of str, optional
            The systems whose offsets are shown; all by default.
        against : str or sequence of str, optional
            Columns of numbers that a metric may be biased towards, beside the number of words.
        own : str or sequence of str, optional
            The systems of the judge's own family, which it may prefer.

        Returns
        -------
        Diagnoses
            A list, one for each prompt.
        """
        fits = self.fits(metrics)
        asked = Asked.of(fits, prompts, systems, target="pool", raters=raters, level=level)
        return diagnoses(fits, asked, against=names_of(against) or (), own=names_of(own) or ())

    def disagreements(
        self,
        number: int = 20,
        *,
        metrics: Sequence[str] | None = None,
        prompts: Sequence[str] | None = None,
    ) -> list[Disagreement]:
        """List the outputs on which metrics and people, and people among themselves, differ most.

        Parameters
        ----------
        number : int
            How many outputs for each metric, and for the people.
        metrics, prompts
            As in `diagnose`.

        Returns
        -------
        list of Disagreement
        """
        fits = self.fits(metrics)
        asked = Asked.of(fits, prompts, None, target="pool", raters=None, level=0.95)
        return disagreements(fits, asked.scored(fits), number)

    def report(
        self,
        path: str | PathLike[str],
        *,
        metrics: Sequence[str] | None = None,
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        level: float = 0.95,
        title: str | None = None,
        judgment_price: float | None = None,
    ) -> Path:
        """Write a report as one HTML file; see `steelyard.report.write_report`."""
        # Figures are drawn only when somebody asks for them.
        from steelyard.report import write_report  # noqa: PLC0415

        return write_report(
            self,
            path,
            metrics=metrics,
            prompts=prompts,
            systems=systems,
            level=level,
            title=title,
            judgment_price=judgment_price,
        )

    # Each is a function of its own module, whose first argument is the study.
    plan = planning.plan
    sample = drawing.sample
    next_sample = drawing.next_sample
    monitor = monitoring.monitor
    replay = replaying.replay

    def check_judged(self) -> None:
        """Raise unless there are judgments."""
        if not len(self.judgments):
            raise NotEstimableError(
                "there are no judgments yet: draw a sample (steelyard sample), have it judged, and "
                "pass the judgments"
            )
