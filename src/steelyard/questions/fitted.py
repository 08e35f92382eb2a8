"""The model fitted to what was collected under one prompt: what every question starts from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from steelyard.campaign.collected import Collected, collected
from steelyard.campaign.drift import version_notes
from steelyard.campaign.slices import Slices
from steelyard.campaign.source import Source
from steelyard.errors import NotEstimableError
from steelyard.model.campaign import Floats
from steelyard.model.designed import answers_of
from steelyard.model.fit import Answers, Fit, fit
from steelyard.model.intervals import UNSEEN, Intervals, Looks, intervals
from steelyard.model.simultaneous import Together, together
from steelyard.questions.about import Raters, Target, View, view_of

__all__ = ["Fits", "PromptFit"]


@dataclass(frozen=True, eq=False)
class PromptFit:
    """What was collected under one prompt, and the model fitted to it."""

    collected: Collected
    fit: Fit
    slices: Slices | None = None
    _known: dict[View, Answers] = field(default_factory=dict, init=False, repr=False)

    @property
    def prompt(self) -> str:
        """The prompt."""
        return self.collected.prompt

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that have an answer."""
        return self.fit.campaign.systems

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of all systems."""
        return (*self.collected.notes, *version_notes(self.fit, self.collected.versions))

    @cached_property
    def left_out(self) -> dict[str, str]:
        """Why a system has no answer."""
        hidden = np.abs(self.fit.unseen).max(axis=0) > UNSEEN
        if self.fit.campaign.other is not None or not hidden.any():
            return dict(self.collected.left_out)
        why = (
            "only texts that other systems wrote too were judged, so nothing shows how it differs from "
            "them: judge outputs of its own"
        )
        own = {one: why for one, there in zip(self.systems, hidden, strict=True) if there}
        return {**self.collected.left_out, **own}

    def raters(self, asked: Raters | None) -> tuple[Raters, tuple[str, ...]]:
        """Return which raters intervals are about, and what is to be said of it."""
        why = None if asked == "fixed" else self._why_exactly_these
        if why is None:
            return asked or "random", ()
        if asked == "random":
            raise NotEstimableError(
                f'prompt {self.prompt!r}: {why}, and `raters` "random" needs several whose '
                "scores show how raters differ: leave the option out"
            )
        note = (
            f"{why}: the intervals are about exactly these raters, and may be too short for others"
        )
        return "fixed", (note,)

    @cached_property
    def _why_exactly_these(self) -> str | None:
        """Why nothing shows how raters differ; None where something does."""
        known = len(self.collected.raters)
        if known < 2:
            return "only one rater is known" if known else "raters are not known"
        campaign = self.fit.campaign
        assert campaign.rater is not None
        family = np.arange(campaign.k) if campaign.family is None else campaign.family
        judgment, writer = campaign.contrast.nonzero()
        rater, system = campaign.rater[judgment], family[writer]
        raters = int(campaign.rater.max()) + 1
        size = raters + campaign.k
        judged = csr_array((np.ones(len(rater)), (rater, raters + system)), shape=(size, size))
        group = connected_components(judged, directed=False)[1][:raters]
        if len(np.unique(group)) < raters:
            return None
        return "each system was judged by another rater, so that raters and systems look the same"

    def answers(self, target: Target, raters: Raters) -> Answers:
        """Return the means of all systems with their errors."""
        view = view_of(target, raters)
        if view not in self._known:
            self._known[view] = answers_of(self.fit, view)
        return self._known[view]

    def plain(self, target: Target, raters: Raters) -> Answers:
        """Return the plain means of the same judgments with their errors."""
        return self.fit.plain(view_of(target, raters))

    def looks(self, answers: Answers, forms: Floats) -> Looks | None:  # noqa: ARG002
        """Return how intervals are made to hold at every look; None for one look."""
        return None

    def pair_looks(self, worth: Floats, pairs: Sequence[tuple[int, int]]) -> Looks | None:  # noqa: ARG002
        """Return the same for preferences between pairs, each worth so many judgments; None for one look."""
        return None

    def intervals(self, answers: Answers, forms: Floats, level: float) -> Intervals:
        """Return forms of the means, each with its interval."""
        return intervals(self.fit, answers, forms, level, self.looks(answers, forms))

    def together(self, answers: Answers, forms: Floats, level: float) -> Together:
        """Return intervals of all forms together, and what is decided."""
        return together(self.fit, answers, forms, level, self.looks(answers, forms))

    @cached_property
    def judged_items(self) -> Floats:
        """Whether each item was judged for each system, (items, k)."""
        campaign = self.fit.campaign
        found = np.zeros((len(self.collected.items), campaign.k))
        judgment, writer = campaign.contrast.nonzero()
        found[campaign.item[campaign.output[judgment]], writer] = 1.0
        return found


@dataclass(frozen=True, eq=False)
class Fits:
    """The models of all prompts, each fitted when it is first asked for.

    Attributes
    ----------
    source : Source
        The tables.
    notes : tuple of str
        What must be said of all prompts.
    slices : Slices or None
        How outputs are cut: each slice of a system is fitted as a system, with a mean of its own.
    is_average : bool
        Whether the only prompt is an average of several.
    """

    source: Source
    notes: tuple[str, ...] = ()
    slices: Slices | None = None
    is_average: bool = False
    _known: dict[str, PromptFit] = field(default_factory=dict, init=False, repr=False)

    def of(self, prompt: str) -> PromptFit:
        """Return the model fitted to what was collected under a prompt."""
        if prompt not in self._known:
            found = collected(self.source, prompt)
            if self.slices is not None:
                found = self.slices.with_families(found)
            self._known[prompt] = PromptFit(found, fit(found.campaign), self.slices)
        return self._known[prompt]

    def cut(self, slices: Slices | None) -> "Fits":
        """Return the same for slices of the outputs."""
        if slices is None:
            return self
        notes = (*self.notes, *slices.notes)
        return Fits(slices.source(self.source), notes, slices, self.is_average)
