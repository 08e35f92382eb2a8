"""``docs/benchmarks.md`` and its figures, made from the results and nothing else."""

from pathlib import Path

from benchmarks.honesty import budget, claims, decision_tables, figures, speed_page, tables
from benchmarks.honesty.kinds import BROKEN, KINDS, POOL
from benchmarks.honesty.peers import PEERS
from benchmarks.honesty.stopping import GOAL, MOST
from benchmarks.honesty.summary import DEFAULT, FROM, KNOWN_RATERS, rows

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

Pools of {POOL:,} outputs, one judgment per output. *Width* is relative to Student's interval of the plain mean. *Cost* is the squared error relative to the plain mean's: the share of the judgments that
is needed for equal error. Points are averages over the {len(KINDS) - len(KNOWN_RATERS)} kinds of campaigns whose raters are not known; bars are two standard errors.

{claims.coverage(found)}

Coverage in percent / width / cost, averages over {FROM} to 200 judgments per system. A peer *covers* if its coverage is not below 94% by more than one standard error (at most 1.2 points) and by more than two
with no number of judgments. The last column is below zero where we are narrower. † {note}.

{claims.by_kind(found)}

By number of judgments, over the kinds whose raters are not known (↓: below 94% by more than two standard errors):

{tables.by_size(found)}

Every way, {tables.sizes_of_all(found)} judgments per system:

{tables.all_ways(found)}

Tools that take one prediction get the first metric, on the scale of the scores; it is the best one where metrics differ. `evalstats` and `cje-eval` are slow and were replayed less often."""


def _paper(results):
    found = rows(results, "paper")
    return f"""## The paper's campaigns

The judgments that Chaganty, Mussmann and Liang (2018) released: six prompts of four systems on the same items, one judgment of each output, drawn from those that it has.
The mean of all judgments of all outputs is the truth. The best metric, by hindsight, comes first for the tools that take one. `{DEFAULT}` sees raters as
a sample; every other way sees them as fixed, so that its intervals claim less. {tables.sizes_of_all(found)} judgments per system.

{tables.all_ways(found)}"""


def _decisions(results):
    return f"""## Decisions

All systems are judged on the same items, once each; 20, 50 and 100 items. "Equal": the true means are equal, so every claim is false. In the others each system is 0.25 to 0.4 deviations of quality
below the one before, or all are below the first. Percentages of campaigns, but decided pairs, which are of pairs that differ, and width, which is relative to paired t intervals with Bonferroni's correction.

{decision_tables.decisions(results)}

The intervals of `paired bootstrap` and of `truescore` are for one pair at a time; nothing corrects the bootstrap's p-values, as in sacrebleu's `--paired-bs`."""


def _stopping(results):
    return f"""## Stopping

One system, scores from 0 to 1, outputs drawn with replacement, a metric of 0.6. Somebody looks after every 20 or 100 judgments and stops when the half-width is at most {GOAL:g}, or after {MOST:,} judgments.
"Ever missed": the truth was outside the interval at one of the looks until then, which a 95% guarantee allows in 5% of streams.

{decision_tables.stopping(results)}"""


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
- Peers: {peers}, each in its own environment.
- These cells take about {budget.in_words(results)}.
- {runs[0]} to {runs[-1]:,} replays of a cell; standard errors are over replays, that is, over campaigns, as the systems of one share items and raters; seed {", ".join(map(str, seeds))}. The draws of a replay depend on the seed, the kind, the number of judgments and the number of the replay
  only, so more replays extend fewer, and all tools see the same draws."""
