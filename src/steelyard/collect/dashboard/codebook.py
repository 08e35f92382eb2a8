"""The codebook: what every column of an export means, and how to get the dashboard's numbers."""

from collections.abc import Sequence
from shlex import quote

from sqlalchemy import Connection

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.policy.exclusion import rules_in_words
from steelyard.collect.policy.stopping import goal_of, planned_of
from steelyard.collect.rankings import ranked_prompts
from steelyard.collect.sampling.unit import Target
from steelyard.collect.store import Reader
from steelyard.collect.store.decisions import Decision, history
from steelyard.collect.store.judgments import judgment_rows
from steelyard.collect.store.progress import Progress, progress, rater_rows
from steelyard.collect.store.queue import drawn
from steelyard.collect.store.records import iso_time
from steelyard.collect.store.settings import current
from steelyard.collect.tasks import score_bounds
from steelyard.version import __version__

__all__ = ["codebook"]

_COLUMNS = """\
One row a judgment: one rater's score of one output under one prompt. A text that several systems gave
is judged once and stands here once for each of them, with the same `submission`.

- `item`, `system`: the output, as in the file of outputs.
- `rater`: a pseudonym, numbered in the order of joining. Panel ids are in `ledger.csv`, `payments.csv` and `bonuses.csv` alone.
- `prompt`, `score`: what was asked, and the score.
- `seconds`: time spent on the answer while the page was visible.
- `time`: when the answer arrived, ISO 8601, UTC.
- `probability`, `stratum`, `stratum_size`, `share`, `draw`, `design`, `seed`, `signature`: what the
  draw recorded of the output. `draw` is its place in the random order of its system's draw.
- `submission`, `unit`: the answer it was derived from, and what was shown.
- `position`, where outputs stand side by side: the place of this one on the rater's screen, from 1. `seconds` is then the
  time for the whole screen.
- `cluster`, where documents are judged: the document that the output is a segment of. `estimate` and `compare` count documents by it.
- `use`: "used" in the estimate; "excluded", because the rater is left out; "surplus", beyond the
  judgments wanted; "ahead", so far in the draw that more than a twentieth of the outputs before it (and more than two) are not
  back; "incomplete", of a document of which segments are not judged yet.
- `excluded`: whether the rater is left out of the estimate.

`judgments.*` holds the rows with use "used"; `judgments-all.*` (add `?rows=all` to the address) all.
In CSV a text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return has an apostrophe before
it, so that no spreadsheet computes it; JSON Lines and Parquet hold the texts as they are."""

_OTHERS = """\
- `submissions.jsonl`: every answer as it was given, with what was shown (`content`; `swapped` tells
  whether the sides of a pair had changed places; `letters`, of a screen, which systems' output stood under each letter), the derived `scores`, gold items too. Free text is
  what raters wrote: read it before you pass it on. An answer that its rater changed is there as it was
  changed; `earlier` has those before it, with the time `until` which each stood.
- `errors.jsonl`, where raters mark errors: one row for each error, with `start` and `end` in characters (code points) of the text,
  the words there (`text`), or `missing` for content that is not there; `severity`, `category`, `weight` (what it counts) and `origin`: "rater",
  "suggested" (kept as suggested), "changed" (a suggestion that was changed) or "removed" (a suggestion that was not kept; it counts nothing).
- `comments.csv`: what raters wrote in fields for comments, one row each, and why they handed texts back
  (`question` is then "cannot-judge", "problem" or "skip").
- `questions.csv`: what raters answered before the work and at its end, one row for each question; `passed`
  tells of questions before the work whether the rater could take part.
- `payments.csv`: what each rater is to be paid in all (`PID`, the panel's id, and `amount`). Whose payment was refused, and who is
  excluded without a decision to pay, is left out. It holds panel ids as well.
- `bonuses.csv`: the same for raters of the panel, in whole cents and without a line of names, as Prolific takes it.
- `ledger.csv`: what is owed to whom; `amount` in `currency`, `payment` the decision about paying,
  "undecided" for raters who are excluded until somebody decides. It holds panel ids: keep it to yourself."""


def codebook(store: Reader, campaign: Campaign) -> str:
    """Return the codebook of a campaign, in Markdown.

    Parameters
    ----------
    store : Reader
        The campaign's database.
    campaign : Campaign
        The campaign.
    """
    found = store.read(_read)
    parts = [
        f"# Codebook: {_line(campaign.title)}",
        _facts(campaign, found),
        "## Prompts\n\n" + _prompts(campaign),
        f"## judgments.jsonl, .csv, .parquet\n\n{_COLUMNS}",
        "## The dashboard's numbers\n\nWith the intervals that hold at all looks:\n\n"
        + _commands(campaign, found),
        f"## Other files\n\n{_OTHERS}",
        "## Rules\n\n" + _rules(campaign),
        "## Decisions\n\n" + _decisions(found),
    ]
    return "\n\n".join(parts) + "\n"


class _Found:
    """What the database knows, read in one transaction."""

    def __init__(self, connection: Connection) -> None:
        self.progress: Progress = progress(connection, now=0)
        self.drawn: list[Target] = drawn(connection)
        self.rows = judgment_rows(connection)
        self.decisions: list[Decision] = history(connection)
        self.settings = current(connection)
        self.numbers = {one.id: one.number for one in rater_rows(connection)}


def _read(connection: Connection) -> _Found:
    return _Found(connection)


def _facts(campaign: Campaign, found: _Found) -> str:
    counts = found.rows["use"].value_counts(sort=True).drop_nulls().iter_rows()
    draws = dict.fromkeys(f"`{_line(one.signature or '')}`" for one in found.drawn)
    return "\n".join(
        [
            (
                f"- Task: {_line(campaign.task.title)} (`{campaign.task.name}`, version "
                f"{_line(campaign.task.version)})"
            ),
            (
                f"- Outputs: `{campaign.outputs.name}`; {found.progress.units:,} units drawn, "
                f"{found.progress.complete:,} complete; judgments wanted of each: "
                f"{campaign.judgments_per_output}"
                + (
                    f", and one more of {campaign.second_judgments:,} of each system, chosen at random"
                    if campaign.second_judgments
                    else ""
                )
            ),
            f"- Draw: {', '.join(draws)}",
            (
                f"- Submissions: {found.progress.judgments:,} of drawn units, of which "
                f"{found.progress.surplus:,} surplus; {found.progress.gold:,} of gold items; "
                f"raters: {found.progress.raters:,}"
            ),
            "- Rows by use: " + (", ".join(f"{use} {n:,}" for use, n in counts) or "none yet"),
            f"- Made by Steelyard {__version__}",
        ]
    )


def _prompts(campaign: Campaign) -> str:
    bounds = score_bounds(campaign.task)
    return "\n".join(
        f"- `{score.prompt}`: rule {score.rule} of the question `{score.source}`; from "
        f"{bounds[score.prompt][0]:g} to {bounds[score.prompt][1]:g}"
        + (
            "; no judgment when the question was not answered"
            if score.otherwise is None
            else f"; {score.otherwise:g} when the question was not asked or not answered"
        )
        for score in campaign.task.scores
    )


def _lower(campaign: Campaign, prompts: Sequence[str]) -> list[str]:
    """Return which of some prompts are better when lower, as options."""
    lower = [one.prompt for one in campaign.task.scores if one.lower_is_better]
    return [f"--lower-is-better {quote(one)}" for one in lower if one in prompts]


def _options(campaign: Campaign, found: _Found, prompt: str) -> str:
    """Return prompt, metrics, goal and plan as options of ``monitor``."""
    words = [f"--prompt {quote(prompt)}", *_lower(campaign, [prompt])]
    words += [f"--metric {quote(name)}" for name in campaign.metrics or ("none",)]
    assert found.settings is not None
    goal, level = goal_of(campaign, found.settings)
    if goal.half_width is not None:
        words.append(f"--half-width {goal.half_width:g}")
    if goal.decide is not None:
        words.append(f"--goal {goal.decide}")
    if goal.margin is not None:
        words.append(f"--margin {goal.margin:g}")
    systems = len({one.system for one in found.drawn})
    planned = planned_of(campaign, found.settings, systems=systems)
    if planned is not None:
        words.append(f"--planned {planned:g}")
    return " ".join([*words, f"--level {level:g}"])


def _commands(campaign: Campaign, found: _Found) -> str:
    files = f"{quote(campaign.outputs.name)} judgments.jsonl"
    lines = [
        f"    steelyard monitor {files} {_options(campaign, found, prompt)}\n"
        for prompt in campaign.goal_prompts
    ]
    ranked = ranked_prompts(campaign)
    if campaign.task.pair or ranked:
        named = ", ".join(f"`{one}`" for one in ranked or campaign.task.prompts)
        lines.append(
            f"Under {named} `score` is 1 if the row's system was preferred to `other_system` (or stands before it in "
            "an order), 0 if the other was, 1/2 if neither. Every two systems have two rows, one for either; "
            "`first_system` is the one that was shown first. Of two systems that wrote the same there is no row. "
            f"Wins, ties, losses and the effect of the order on the screen:\n\n    steelyard compare {files}\n"
        )
    if not campaign.task.pair and set(ranked) != set(campaign.task.prompts):
        asked = " ".join([files, *_lower(campaign, campaign.task.prompts)])
        lines.append(f"The same with intervals for one look:\n\n    steelyard estimate {asked}\n")
    return "\n".join(lines).rstrip()


def _rules(campaign: Campaign) -> str:
    words = rules_in_words(campaign)
    if not words:
        return "No rule was declared."
    listed = "\n".join(f"- {rule}" for rule in words)
    return (
        f"{listed}\n\nA rater who breaks one is left out of the estimate and others are asked "
        "instead; nothing is deleted. Payment is decided by hand."
    )


def _decisions(found: _Found) -> str:
    return (
        "\n".join(
            f"- {iso_time(one.time)}, rater-{found.numbers[one.rater]}: {one.verdict} "
            f"({one.about}, by {'rule' if one.by == 'rule' else 'hand'}): {_line(one.reason)}"
            for one in found.decisions
        )
        or "None."
    )


def _line(text: str) -> str:
    """Return a text without what would break its line."""
    return " ".join(text.split())
