"""How good is each system: means with intervals, ranks and groups."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from steelyard.errors import NotEstimableError
from steelyard.model.intervals import Intervals
from steelyard.model.threads import one_thread
from steelyard.questions.about import About, Raters, Target
from steelyard.questions.asked import Asked
from steelyard.questions.compare import Standing, standings
from steelyard.questions.estimates import Baseline, Ends, Estimate, Estimates
from steelyard.questions.fitted import Fits, PromptFit
from steelyard.questions.quantities import Quantity, quantities

__all__ = ["estimates", "prompt_estimates"]

# Other views are shown where they differ by more than this share.
_DIFFERS = 0.1
# Of a pool that was judged whole: a mean that is moved by more standard errors is said to be.
_MOVED = 0.02


@one_thread()
def estimates(fits: Fits, asked: Asked) -> Estimates:
    """Return the estimates of all prompts and systems in question; see `Study.estimate`.

    Parameters
    ----------
    fits : Fits
        The models.
    asked : Asked
        The prompts and systems in question.

    Raises
    ------
    NotEstimableError
        If there is no estimate at all.
    """
    found: list[Estimate] = []
    left_out: dict[tuple[str, str], str] = {}
    remarks = list(fits.notes)
    lower = fits.source.judgments.lower_is_better
    for prompt in asked.scored(fits):
        try:
            own, reasons, notes = prompt_estimates(
                fits.of(prompt), asked, lower_is_better=prompt in lower
            )
        except NotEstimableError as error:
            own, notes = [], ()
            known = error.reasons
            judged = _judged(fits, prompt, asked.systems)
            reasons = {one: known.get((prompt, one), str(error)) for one in judged}
        found += own
        left_out |= {(prompt, system): why for system, why in reasons.items()}
        remarks += notes
    if not found and left_out:
        (prompt, system), reason = next(iter(left_out.items()))
        raise NotEstimableError(f"prompt {prompt!r}, system {system!r}: {reason}", reasons=left_out)
    if not found:
        raise NotEstimableError("; ".join(one for one in remarks if ": left out: " in one))
    return Estimates(found, left_out, remarks=tuple(dict.fromkeys(remarks)))


def _judged(fits: Fits, prompt: str, systems: Sequence[str]) -> list[str]:
    """Return which of these systems were judged under a prompt."""
    frame = fits.source.judgments.frame
    there = set(frame.filter(frame["prompt"] == prompt)["system"])
    return [one for one in systems if one in there]


def prompt_estimates(
    found: PromptFit, asked: Asked, *, lower_is_better: bool = False
) -> tuple[list[Estimate], dict[str, str], tuple[str, ...]]:
    """Return the estimates under one prompt, why some systems have none, and remarks on all.

    Parameters
    ----------
    found : PromptFit
        The model.
    asked : Asked
        The systems in question, and what intervals are about.
    lower_is_better : bool
        Whether lower scores are better.

    Raises
    ------
    NotEstimableError
        If the draw shows differences only.
    """
    known = found.collected
    if known.paired:
        raise NotEstimableError(
            "a paired draw holds only items on which two systems differ, so it shows their difference "
            "but not the mean of either: use `steelyard compare`, or draw a simple sample"
        )
    mode, remarks = found.raters(asked.raters)
    left_out = {one: found.left_out[one] for one in asked.systems if one in found.left_out}
    chosen, missing = quantities(found, asked.systems)
    if not chosen:
        return [], left_out, (*found.notes, *remarks, *missing)
    views = _Views.of(found, asked, mode, chosen)
    ranked = standings(found, chosen, asked, mode, lower_is_better=lower_is_better)
    rows = [
        views.estimate(place, ranked.get((one.slice, one.system)))
        for place, one in enumerate(chosen)
    ]
    if found.slices is not None and len(rows) > 1:
        missing.append(_multiplicity(len(rows), asked.level))
    return rows, left_out, (*found.notes, *remarks, *missing)


def _multiplicity(n: int, level: float) -> str:
    """Say how many intervals there are, and what makes all of them hold together."""
    return (
        f"{n} intervals, each at {level:.0%}: on average {n * (1 - level):.2g} of them miss; level "
        f"{1 - (1 - level) / n:.4g} makes all hold together (Bonferroni)"
    )


@dataclass(frozen=True, eq=False)
class _Views:
    """Quantities with their intervals in all views, and the plain means."""

    found: PromptFit
    asked: Asked
    raters: Raters
    quantities: Sequence[Quantity]
    views: Mapping[tuple[Target, Raters], Intervals]
    plain: Intervals

    @classmethod
    def of(
        cls, found: PromptFit, asked: Asked, raters: Raters, chosen: Sequence[Quantity]
    ) -> "_Views":
        forms = np.array([one.form for one in chosen])
        views: list[tuple[Target, Raters]] = [(asked.target, raters)]
        if found.fit.campaign.weight is None and asked.target == "pool":
            views.append(("superpopulation", raters))
            if raters == "random":
                views.append(("pool", "fixed"))
        shown = {one: found.intervals(found.answers(*one), forms, asked.level) for one in views}
        plain = found.intervals(found.plain(asked.target, raters), forms, asked.level)
        return cls(found, asked, raters, chosen, shown, plain)

    def estimate(self, place: int, standing: Standing | None) -> Estimate:
        """Return one of the estimates."""
        one, asked = self.quantities[place], self.asked
        main = self.views[asked.target, self.raters]
        error, plain = main.standard_error[place], self.plain.standard_error[place]
        return Estimate(
            system=one.system,
            prompt=self.found.prompt,
            slice=one.slice,
            estimate=float(main.estimate[place]),
            **asdict(_ends(main, place)),
            level=asked.level,
            about=About.of(asked.target, self.raters, pool_size=one.pool_size, part=one.slice),
            rank_low=None if standing is None else standing.low,
            rank_high=None if standing is None else standing.high,
            group=None if standing is None else standing.group,
            n_outputs=one.n_outputs,
            n_judgments=one.n_judgments,
            n_raters=len(self.found.collected.raters) or None,
            pool_size=one.pool_size,
            data_efficiency=float((plain / error) ** 2) if error > 0 else 1.0,
            baseline=Baseline(
                estimate=float(self.plain.estimate[place]), **asdict(_ends(self.plain, place))
            ),
            metrics=self.found.fit.campaign.metrics,
            new_outputs=self._other("superpopulation", self.raters, place),
            these_raters=self._other(asked.target, "fixed", place),
            degrees_of_freedom=float(main.degrees_of_freedom[place]),
            notes=(*one.notes, *self._census(place)),
        )

    def _census(self, place: int) -> tuple[str, ...]:
        """Say by how much the mean of a pool that was judged whole is moved, and why."""
        one, main = self.quantities[place], self.views[self.asked.target, self.raters]
        moved = float(main.estimate[place] - self.plain.estimate[place])
        if one.n_outputs < one.pool_size or abs(moved) <= _MOVED * main.standard_error[place]:
            return ()
        note = (
            f"every output was judged; the estimate moves their plain mean by {moved:+.2g}, because raters differ in "
            "leniency or outputs in the number of their judgments"
        )
        return (note,)

    def _other(self, target: Target, raters: Raters, place: int) -> Ends | None:
        """Return another view where it is not the main one and differs from it."""
        main = self.views[self.asked.target, self.raters]
        other = self.views.get((target, raters))
        if other is None or other is main:
            return None
        length, own = (one.high[place] - one.low[place] for one in (other, main))
        return _ends(other, place) if abs(length - own) > _DIFFERS * own else None


def _ends(found: Intervals, place: int) -> Ends:
    return Ends(
        standard_error=float(found.standard_error[place]),
        low=float(found.low[place]),
        high=float(found.high[place]),
    )
