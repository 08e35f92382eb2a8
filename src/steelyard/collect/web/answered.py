"""What an answer is about and the judgments it amounts to."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from steelyard.collect.config.wording import phrase
from steelyard.collect.store.leases import lease_content
from steelyard.collect.store.shown import Scores, ShownContent
from steelyard.collect.tasks.answers import check_answer, derive_scores
from steelyard.collect.tasks.screen import asked_about, by_output
from steelyard.collect.web.guards import Visit
from steelyard.collect.web.refusals import RefusedError
from steelyard.collect.web.site import Site

__all__ = ["about_of", "scores_of"]


async def about_of(site: Site, lease: str) -> ShownContent:
    """Return what a lease showed, and to whom."""
    known = site.memory.content(lease)
    return known if known is not None else await site.read(partial(lease_content, lease=lease))


def scores_of(visit: Visit, about: ShownContent, answer: Mapping[str, Any]) -> Scores:
    """Return the judgments that an answer amounts to, or say all that is wrong with it."""
    if about.rater != visit.rater:
        raise RefusedError(403, phrase("another-rater"), code="not-yours")
    task = asked_about(visit.site.campaign.task, about.content)
    problems = check_answer(task, about.content, answer)
    if problems:
        named = [(problem.widget, problem.message) for problem in problems]
        raise RefusedError(422, phrase("not-complete"), code="invalid-answer", problems=named)
    scores = derive_scores(task, about.content, answer, swapped=about.swapped)
    return by_output(scores, about.order) if about.order else scores
