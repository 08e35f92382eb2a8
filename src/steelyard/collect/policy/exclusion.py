"""Quality rules: declared before the start, applied to raters, without deleting anything.

A rule speaks about a rater, never about a single judgment: to drop the quick judgments of everybody
would drop the easy outputs, and with them a part of what is estimated.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.policy.rater_work import RaterWork, RaterWorkCache, rater_work
from steelyard.collect.store import Reader, Store
from steelyard.collect.store.decisions import decide, latest, verdict
from steelyard.collect.store.progress import RaterRow, rater_rows
from steelyard.collect.store.records import submission_rows
from steelyard.collect.store.tables import submissions

__all__ = [
    "FEWEST",
    "SHARED",
    "Flag",
    "due",
    "due_for",
    "exclude",
    "flags_of",
    "has_rules",
    "rules_in_words",
]

# Medians of fewer than this tell nothing about a person who can give more.
FEWEST = 5
# Outputs that others judged too, before agreement with them counts.
SHARED = 10
# Anybody may meet so many texts that they cannot judge.
_FEW_HAND_BACKS = 2


@dataclass(frozen=True)
class Flag:
    """What a rule has to say about a rater.

    Attributes
    ----------
    rule : {"active-time", "edits", "agreement", "gold", "same-answers", "tutorial", "hand-backs"}
        Which rule.
    excludes : bool
        Whether it leaves the rater out of the estimate. A failed tutorial does not: who failed it
        is given no work.
    reason : str
        One sentence, with the numbers.
    """

    rule: str
    excludes: bool
    reason: str


def flags_of(campaign: Campaign, rater: RaterRow, work: RaterWork | None) -> tuple[Flag, ...]:
    """Return what the declared rules have to say about a rater.

    Parameters
    ----------
    campaign : Campaign
        The campaign, with its rules.
    rater : RaterRow
        The rater.
    work : RaterWork or None
        How the rater works; None before the first submission.
    """
    flags: list[Flag] = []
    if rater.tutorials.get(campaign.task.version) is False:
        flags.append(Flag("tutorial", excludes=False, reason="The tutorial was not passed."))
    if rater.handed_back > max(rater.judgments, _FEW_HAND_BACKS):
        reason = f"{rater.handed_back} texts were handed back, and {rater.judgments} judged."
        flags.append(Flag("hand-backs", excludes=False, reason=reason))
    if work is not None:
        flags += _flags(campaign, work)
    return tuple(flags)


def _flags(campaign: Campaign, work: RaterWork) -> Iterable[Flag]:
    rules = campaign.quality
    least, shortest, failures = rules.active_seconds, rules.edit_characters, rules.gold_failures
    seconds = work.median_seconds if work.judgments >= _fewest(campaign) else None
    if least is not None and seconds is not None and seconds < least:
        yield Flag(
            "active-time",
            excludes=True,
            reason=f"Median time {seconds:.1f} s over {work.judgments} judgments; at least "
            f"{least:g} s were asked for.",
        )
    edit = work.median_edit if work.edits >= _fewest(campaign) else None
    if shortest is not None and edit is not None and edit < shortest:
        yield Flag(
            "edits",
            excludes=True,
            reason=f"Required edits change {edit:g} character{'' if edit == 1 else 's'} in the median of "
            f"{work.edits}; at least {shortest} were asked for.",
        )
    rule, found = rules.agreement, work.agreement
    if (
        rule is not None
        and found is not None
        and found.submissions >= SHARED
        and found.share < rule
    ):
        yield Flag(
            "agreement",
            excludes=True,
            reason=f"{found.share:.0%} of {found.comparisons} comparisons with others agree, on "
            f"{found.submissions} outputs; at least {rule:.0%} were asked for.",
        )
    if failures is not None and work.gold_missed >= failures:
        yield Flag(
            "gold",
            excludes=True,
            reason=f"{work.gold_missed} of {work.gold} gold items were answered wrongly; "
            f"{failures} are one too many.",
        )
    most = rules.same_answers
    if most is not None and work.same_answers >= most:
        yield Flag(
            "same-answers",
            excludes=True,
            reason=f"{work.same_answers} texts in a row have the same answers; {most} are one too "
            "many.",
        )


def _fewest(campaign: Campaign) -> int:
    """Return how many judgments a median needs: as many as one participant can give, if that is fewer.

    Otherwise a rule about medians would never act in a campaign of short visits.
    """
    session, visits = campaign.session, campaign.most_visits
    reach = session.judgments_per_rater or FEWEST
    if session.judgments is not None and visits is not None:
        reach = min(reach, session.judgments * visits)
    gold = 0 if campaign.gold is None else -(-reach // campaign.gold.every)
    return max(1, min(FEWEST, reach - gold))


def rules_in_words(campaign: Campaign) -> tuple[str, ...]:
    """Return the declared rules as sentences, for the dashboard and the codebook."""
    rules, words = campaign.quality, []
    if rules.active_seconds is not None:
        words.append(
            f"The median active time of a rater's judgments, once there are {_fewest(campaign)}, is at "
            f"least {rules.active_seconds:g} seconds."
        )
    if rules.edit_characters is not None:
        words.append(
            f"The median number of characters that a rater's required edits change, once there are "
            f"{_fewest(campaign)}, is at least {rules.edit_characters}."
        )
    if rules.agreement is not None:
        rule = rules.agreement
        words.append(
            f"Once others judged {SHARED} of the same outputs, at least {rule:.0%} of a rater's scores "
            "lie within a quarter of the scale of theirs."
        )
    if rules.gold_failures is not None:
        words.append(f"Fewer than {rules.gold_failures} gold items are answered wrongly.")
    if rules.same_answers is not None:
        words.append(f"Fewer than {rules.same_answers} texts in a row have the same answers.")
    return tuple(words)


def due(campaign: Campaign, store: Reader, work: RaterWorkCache | None = None) -> dict[str, str]:
    """Return whom a rule excludes and nobody decided about, each with the reason.

    Parameters
    ----------
    campaign : Campaign
        The campaign, with its rules.
    store : Reader
        Its database.
    work : RaterWorkCache, optional
        What knows how raters work, when it is at hand.
    """
    if not has_rules(campaign):
        return {}
    known = work or RaterWorkCache(campaign)
    return store.read(partial(_due, campaign=campaign, known=known))


def due_for(connection: Connection, *, campaign: Campaign, rater: str) -> dict[str, str]:
    """Return the same as `due` for one rater, by what only that rater's work shows.

    Quick enough to be asked in the middle of a visit, so that a visit that breaks a rule ends early.
    """
    if verdict(connection, rater=rater, about="estimate") is not None:
        return {}
    work = rater_work(
        campaign, submission_rows(connection, where=submissions.c.rater == rater)
    ).get(rater)
    reasons = [] if work is None else [one.reason for one in _flags(campaign, work)]
    return {rater: " ".join(reasons)} if reasons else {}


def has_rules(campaign: Campaign) -> bool:
    """Whether a campaign declares a rule of quality."""
    return campaign.quality != type(campaign.quality)()


def exclude(store: Store, raters: Mapping[str, str], *, now: int) -> int:
    """Exclude raters from the estimate, as a rule asks.

    The decision is recorded with its reason; others are asked instead. It stands even if the rater
    does better later, until the person in charge takes it back, which no rule overrules. Payment is
    never touched.

    Parameters
    ----------
    store : Store
        The campaign's database.
    raters : mapping of str to str
        What `due` returned.
    now : int
        Milliseconds.

    Returns
    -------
    int
        How many raters were excluded.
    """
    waiting = [
        store.write(
            partial(
                decide,
                rater=rater,
                about="estimate",
                verdict="exclude",
                reason=reason,
                by="rule",
                now=now,
            )
        )
        for rater, reason in raters.items()
    ]
    return sum(future.result().by == "rule" for future in waiting)


def _due(connection: Connection, *, campaign: Campaign, known: RaterWorkCache) -> dict[str, str]:
    decided = {rater for rater, about in latest(connection) if about == "estimate"}
    work = known(connection)
    found = {}
    for rater in rater_rows(connection):
        flags = [one for one in flags_of(campaign, rater, work.get(rater.id)) if one.excludes]
        if flags and rater.id not in decided:
            found[rater.id] = " ".join(flag.reason for flag in flags)
    return found
