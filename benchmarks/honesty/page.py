"""``docs/benchmarks.md`` and its figures, made from the results and nothing else."""

from collections import Counter
from pathlib import Path

from benchmarks.honesty import budget, causes, claims, decision_tables, figures, speed_page, tables
from benchmarks.honesty.kinds import BROKEN, KINDS, POOL
from benchmarks.honesty.parts import cells
from benchmarks.honesty.peers import PEERS
from benchmarks.honesty.stopping import GOAL, MOST
from benchmarks.honesty.summary import FROM, KNOWN_RATERS, rows

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "benchmarks.md"
IMAGES = DOCS / "images" / "benchmarks"
_HEAD = """# Benchmarks: honesty, cost, speed and faults

Do intervals hold the truth as often as they say, and what do they cost? Ours beside peers from the Python package index, on generated campaigns
whose truth is known. This page is made from `benchmarks/honesty/results.jsonl` by `python -m benchmarks.honesty page`; nobody edits it. Every figure
has its standard error over replays, or is an average of cells that have.

```
python -m benchmarks honesty                    # everything that is not in the results yet, then this page
python -m benchmarks.honesty --dry-run          # how long that takes
python -m benchmarks.honesty means --runs 40    # one part, fewer replays
python -m benchmarks speed                      # processor time and memory
python -m benchmarks faults                     # what breaks, and what is lost
```"""


def write(results):
    """Write the page and its figures."""
    found = rows(results, "means")
    figures.coverage_against_width(found, IMAGES / "coverage-width.svg")
    figures.cost_against_judgments(found, IMAGES / "cost.svg")
    if results.of("speed"):
        figures.growth(results, IMAGES / "growth.svg")
    PAGE.write_text(text(results), encoding="utf-8")


def text(results):
    """The page."""
    parts = [_HEAD, means(rows(results, "means"))]
    for part, make in (
        ("causes", _causes),
        ("paper", _paper),
        ("decisions", _decisions),
        ("stopping", _stopping),
        ("speed", speed_page.speed),
        ("faults", speed_page.faults),
    ):
        if results.of(part):
            parts.append(make(results))
    return "\n\n".join([*parts, _made(results)]) + "\n"


def means(found):
    note = "; ".join(f"{name}: {what}" for name, what in BROKEN.items())
    return f"""## Means

![Coverage against width](images/benchmarks/coverage-width.svg)

![Judgments for equal error](images/benchmarks/cost.svg)

Each point is an average over the {len(KINDS) - len(KNOWN_RATERS)} kinds of campaigns below whose raters are not known, which keep what every tool assumes. *Width* is relative to Student's interval of the plain mean. *Cost* is the squared
error relative to the plain mean's: the share of the judgments that is needed for equal error. *Bias* is in standard deviations of human scores. Upper left is honest and narrow. Bars are two standard errors; a cost
that is not known to 0.05 is not drawn.

{claims.coverage(found)}
{claims.narrower_peers(found)}
- **Who has the least error?** With 10 judgments, tools that trust one metric from the start, if it is a good one: the default first asks whether a metric is of use, for which ten judgments say little. Their intervals fall
  short. With more judgments the default, as it learns from all systems and all metrics; the table has both.

{tables.verdicts(found)}

A way *covers* if its coverage is not below 94% by more than one standard error, which is at most 1.2 points; it *falls short* (↓) if it is below by more than two.

### By kind

Coverage in percent / width / cost, averages over {FROM} to 200 judgments per system. The last column is below zero where we are narrower. † {note}.

{claims.by_kind(found)}

### By number of judgments

Coverage in percent / width / cost, over the kinds whose raters are not known.

{tables.by_size(found)}

### Every way

The same kinds, {tables.sizes_of_all(found)} judgments per system.

{tables.all_ways(found)}

Tools that take one prediction get the first metric, on the scale of the scores; it is the best one where metrics differ. Scores without known ends are mapped to 0 to 1 by their range for `cje-eval`.
`evalstats` and `cje-eval` are slow and were replayed less often, as the last column shows.

### Refusals

{tables.refusals(found)}

### The kinds

Pools of {POOL:,} outputs, half of the variance of quality shared by an item's outputs, one judgment per output with noise of 0.7 deviations. A metric of 0.6 correlates 0.6 with
quality. Adversarial metrics: one whose sign changes from system to system, a copy of it, and one with Cauchy errors, all shifted by system.

{tables.kinds_table()}"""


def _causes(results):
    return f"""### Why skewed scores fall short

The default on the same draws with one thing changed, {causes.N} judgments per system. Nearly all misses are on one side: the draw has too little of the long tail, so the mean is low and so is the variance. Systems
lend one another what they know of spread. That makes intervals shorter, and costs coverage in these two kinds for two reasons. On shared items the variances of all systems are low in the same draws, of which
the simulated shape knows a part. And their spread grows with their mean, so the system with most spread is pulled down.

{causes.causes(results)}"""


def _paper(results):
    found = rows(results, "paper")
    return f"""## The paper's campaigns

The judgments that Chaganty, Mussmann and Liang (2018) released, as they are in the package: six prompts of four systems on the same items, one judgment of each output, drawn from those that it has.
The mean of all judgments of all outputs is the truth. Metrics have the scale and sign of the scores and the best one comes first, by hindsight, for the tools that take one. `{tables.DEFAULT}` sees raters as
a sample; every other way here sees them as fixed, so that its intervals claim less. First {tables.sizes_of_all(found)} judgments per system, where all tools were asked.

{tables.all_ways(found)}

Coverage in percent / width / cost:

{tables.by_size(found)}"""


def _decisions(results):
    return f"""## Decisions

All systems are judged on the same items, once each; 20, 50 and 100 items. "Equal": the true means are equal, so every claim is false. "By 0.25": each system is
0.25 deviations of quality below the one before (ladder), or all are below the first (one ahead). All figures are percentages of campaigns, but decided pairs, which are those that differ and about which something is claimed, and width, which
is relative to paired t intervals with Bonferroni's correction. Sets of ranks follow from the claims: all of them hold exactly if no claim is wrong.

{decision_tables.decisions(results, every=True)}

Only cells that all ways have, so that each has the same contests and sizes:

{decision_tables.decisions(results, every=False)}

The intervals of `paired bootstrap` and of `truescore` are for one pair at a time, and nothing corrects the bootstrap's p-values, as in sacrebleu; its p-value is
that of sacrebleu's `--paired-bs`.

Joint coverage, and decided pairs after the stroke, by contest:

{decision_tables.joint_by_contest(results)}"""


def _stopping(results):
    return f"""## Stopping

One system, scores from 0 to 1, outputs drawn with replacement, a metric of 0.6. Somebody looks after every batch and stops when the half-width is at most {GOAL:g}, or after {MOST:,} judgments.
"Ever missed": the truth was outside the interval at one of the looks until then, which a 95% guarantee allows in 5% of streams.

{decision_tables.stopping(results)}

{decision_tables.stopping_cells(results)}

`potato ppi contract` is the contract `ppi` of Potato's labelling engine with `max_width`; each evaluation is one more look and gets a smaller share of the error."""


def _made(results):
    [machine] = results.of("machine")
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    commit = f" (commit {machine['commit']})" if machine.get("commit") else ""
    peers = ", ".join(f"{peer.package} {peer.version}" for peer in PEERS)
    replayed = [record for record in results if "ways" in record]
    runs = sorted({record["runs"] for record in replayed})
    seeds = sorted({record["seed"] for record in replayed})
    return f"""## What was run

- Steelyard {machine["version"]}{commit}, Python {machine["python"]}, {packages}; {machine["cores"]} cores, {machine["processor"]}.
- Not in these results yet, and made by the same command: {_left(results)}.
- Peers: {peers}, each in its own environment.
- By commit of the code that was replayed: {_commits(replayed)}.
- These cells take about {budget.in_words(results)}; where the time was not recorded it is that of a few replays. `python -m benchmarks.honesty --dry-run` prints what a run takes and what is left of it.
- {runs[0]} to {runs[-1]:,} replays of a cell; standard errors are over replays, that is, over campaigns, as the systems of one share items and raters; seed {", ".join(map(str, seeds))}. The draws of a replay depend on the seed, the kind, the number of judgments and the number of the replay
  only, so more replays extend fewer, and all tools see the same draws."""


def _commits(replayed):
    """Which parts were replayed with which commit."""
    found = {}
    for record in replayed:
        found.setdefault(record.get("commit", "unknown"), Counter())[record["part"]] += 1
    return "; ".join(
        f"{commit}: " + ", ".join(f"{part} ({cells})" for part, cells in parts.items())
        for commit, parts in found.items()
    )


def _left(results):
    """Which cells have fewer replays than a full run gives them."""
    every = [record for record, _ in cells()]
    left = [record for record in every if not results.has(**record)]
    if not left:
        return "nothing"
    where = Counter((record["part"], record["who"]) for record in left)
    named = ", ".join(f"{part} of {who} ({number})" for (part, who), number in where.items())
    return f"more replays of {len(left):,} of {len(every):,} cells: {named}"
