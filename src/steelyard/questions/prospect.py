"""A campaign and what may be judged next: which errors any number of further judgments would leave."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from steelyard.campaign.unjudged import next_outputs, with_unjudged
from steelyard.model.campaign import Bools, Campaign, Ints
from steelyard.model.fit import About
from steelyard.model.imagined import Imagined, Known, imagined
from steelyard.questions.fitted import Fits

__all__ = ["MOST_IMAGINED", "Further", "Prospect"]

_SEED = 20_181
# No more imagined judgments than this are solved for; the errors of more follow from them.
MOST_IMAGINED = 2_500


@dataclass(frozen=True)
class Further:
    """Judgments that may be made next.

    Attributes
    ----------
    outputs : int
        Outputs that are judged next, of each system that gets any.
    each : float
        Judgments of every judged output; 1.2 gives every fifth a second one.
    raters : int or None
        Raters who make them; those of before by default.
    systems : tuple of int or None
        The systems that get them; all by default.
    """

    outputs: int
    each: float = 1.0
    raters: int | None = None
    systems: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class Prospect:
    """A campaign, and the outputs that may be judged next.

    Attributes
    ----------
    known : Known
        What is known of the variances.
    campaign : Campaign
        The judgments that were made, and one imagined judgment of each output that may come next.
    place : (n,) array of int
        When each comes, from 1 for each system; 0 for those that were made.
    left : int
        Outputs of a system that may come next, of which `campaign` may hold a part.
    about : {"pool", "new outputs", "these raters"}
        What intervals are about.
    """

    known: Known
    campaign: Campaign
    place: Ints
    left: int
    about: About = "pool"
    _solved: dict[Further, Imagined] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        fits: Fits,
        prompt: str,
        systems: Sequence[str],
        *,
        about: About = "pool",
        judged_first: bool = False,
        differing: bool = False,
    ) -> "Prospect":
        """Return what may be judged next of some systems of a study.

        Parameters
        ----------
        fits : Fits
            The models.
        prompt : str
            The prompt.
        systems : sequence of str
            The systems that may get further judgments.
        about
            As in `Prospect`.
        judged_first, differing
            As in `next_outputs`.
        """
        rng = np.random.default_rng(_SEED)
        source = fits.source
        unjudged = next_outputs(
            source,
            prompt,
            systems,
            rng=rng,
            judged_first=judged_first,
            differing=differing,
        )
        left = int(str(unjudged["#place"].max() or 0))
        fit = fits.of(prompt).fit
        room = max((MOST_IMAGINED - fit.campaign.n) // max(len(systems), 1), 50)
        found, place = with_unjudged(source, prompt, unjudged.filter(pl.col("#place") <= room))
        return cls(Known.of(fit), found.campaign, place, left, about)

    @property
    def within(self) -> int:
        """Outputs of a system that may come next and are imagined one by one."""
        return int(self.place.max(initial=0))

    @property
    def made(self) -> int:
        """Judgments that were made."""
        return int((self.place == 0).sum())

    @property
    def judged(self) -> int:
        """Outputs that were judged."""
        return len(np.unique(self.campaign.output[self.place == 0]))

    @property
    def raters(self) -> int | None:
        """Raters who judged; None where nobody knows them."""
        if self.campaign.rater is None:
            return None
        return len(np.unique(self.campaign.rater[self.place == 0]))

    def after(self, further: Further) -> Imagined:
        """Return the errors after further judgments."""
        if further not in self._solved:
            outputs = min(further.outputs, self.within)
            room = max(MOST_IMAGINED / max(self._first(replace(further, outputs=outputs)), 1), 1.0)
            inside = replace(further, outputs=outputs, each=min(further.each, room))
            if inside == further:
                found = imagined(self.known, self._campaign(further), about=self.about)
            else:
                size = float(self.campaign.pools.size.max())
                made = size - self.left
                found = self.after(inside).grown(
                    outputs=(made + outputs, made + further.outputs),
                    pool=np.inf if self.about == "new outputs" else size,
                    each=further.each / inside.each,
                )
            self._solved[further] = found
        return self._solved[further]

    def judgments(self, further: Further) -> int:
        """Return the number of further judgments; a text that several systems wrote is judged once."""
        inside = replace(further, outputs=min(further.outputs, self.within))
        found = len(self._rows(inside)[0]) - self.made
        if inside == further:
            return found
        return round(found * further.outputs / max(inside.outputs, 1))

    def _first(self, further: Further) -> int:
        return self._rows(replace(further, each=1.0))[1]

    def _rows(self, further: Further) -> tuple[Ints, int]:
        """Return the judgments that there will be, and how many of them are first ones."""
        campaign, place = self.campaign, self.place
        asked = np.ones(campaign.k, dtype=np.bool_)
        if further.systems is not None:
            asked[:] = False
            asked[list(further.systems)] = True
        wrote = (campaign.writers[campaign.output] > 0) & asked
        kept = (place == 0) | ((place <= further.outputs) & wrote.any(axis=1))
        rows = np.flatnonzero(kept)
        # an output that was judged, or is there for another of its writers, is not judged again
        output, made = campaign.output[rows], place[rows] == 0
        once = made.copy()
        fresh = np.flatnonzero(~made)
        _, first = np.unique(output[fresh], return_index=True)
        once[fresh[first]] = True
        once &= made | ~np.isin(output, output[made])
        rows = rows[once]
        return self._repeated(rows, further.each, asked), len(rows)

    def _repeated(self, rows: Ints, each: float, asked: Bools) -> Ints:
        """Return the judgments with further ones of outputs that have too few."""
        if each <= 1:
            return rows
        campaign = self.campaign
        output, count = np.unique(campaign.output[rows], return_counts=True)
        first = {one: row for row, one in zip(rows[::-1], campaign.output[rows][::-1], strict=True)}
        own = (campaign.writers[output] > 0)[:, asked].any(axis=1)
        output, count = output[own], count[own]
        order = np.random.default_rng(_SEED).permutation(len(output))
        share = (np.arange(len(output)) + 0.5) / max(len(output), 1)
        wanted = np.floor(each) + (share < each % 1)
        lacking = np.maximum(wanted - count[order], 0).astype(np.int64)
        more = np.repeat([first[one] for one in output[order]], lacking)
        return np.concatenate([rows, more.astype(np.int64)])

    def _campaign(self, further: Further) -> Campaign:
        rows, first = self._rows(further)
        campaign = self.campaign
        made = (self.place[rows] == 0) & (np.arange(len(rows)) < first)
        rater, version = campaign.rater, campaign.version
        if rater is not None:
            rater = self._raters(rows, made, further.raters)
        if version is not None:
            version = np.where(made, version[rows], 0)
        return replace(
            campaign,
            score=np.zeros(len(rows)),
            output=campaign.output[rows],
            rater=rater,
            version=version,
        )

    def _raters(self, rows: Ints, made: Bools, number: int | None) -> Ints:
        """Return the rater of each judgment: those who made it, and others in turn for further ones."""
        assert self.campaign.rater is not None
        rater = self.campaign.rater[rows].copy()
        there = np.unique(rater[made])
        if number is not None and number > len(there):
            there = np.concatenate([there, there.max() + 1 + np.arange(number - len(there))])
        elif number is not None:
            there = there[:number]
        rng = np.random.default_rng(_SEED)
        fresh = np.flatnonzero(~made)
        rater[fresh] = there[rng.permutation(len(fresh)) % len(there)]
        return np.unique(rater, return_inverse=True)[1].astype(np.int64)
