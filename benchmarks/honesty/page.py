"""``docs/benchmarks.md``, its figure and the paragraph of README, made from the results and nothing else."""

import re
import textwrap
from pathlib import Path

from benchmarks.honesty import budget, tables
from benchmarks.honesty.figure import coverage_against_width
from benchmarks.honesty.kinds import BROKEN, KINDS, POOL
from benchmarks.honesty.peers import PEERS
from benchmarks.honesty.stopping import GOAL, MOST
from benchmarks.honesty.summary import (
    DEFAULT,
    FROM,
    KNOWN_RATERS,
    alike,
    averages,
    common,
    rows,
)

README = Path(__file__).resolve().parents[2] / "README.md"
DOCS = README.parent / "docs"
PAGE = DOCS / "benchmarks.md"
_START = "- [Beside "
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven")
IMAGES = DOCS / "images" / "benchmarks"
_HEAD = """# Benchmarks: honesty, cost, speed and faults

Do intervals hold the truth as often as they say, and what do they cost? Ours beside peers from the Python package index, on generated campaigns
whose truth is known. This page is made from `benchmarks/honesty/results.jsonl` by `python -m benchmarks.honesty page`; nobody edits it. Errors are standard errors over replays.

```
python -m benchmarks honesty                    # everything that is not in the results yet, then this page
python -m benchmarks.honesty --dry-run          # how long that takes
python -m benchmarks.honesty means --runs 40    # one part, fewer replays
python -m benchmarks speed                      # processor time and memory
python -m benchmarks faults                     # what breaks, and what is lost
```"""


def write(results):
    """Write the page, its figure and the paragraph of README."""
    coverage_against_width(rows(results, "means"), IMAGES / "coverage-width.svg")
    PAGE.write_text(text(results), encoding="utf-8")
    README.write_text(written(README.read_text(encoding="utf-8"), results), encoding="utf-8")


def text(results):
    """The page."""
    parts = [_HEAD, means(rows(results, "means"))]
    for part, make in (
        ("paper", _paper),
        ("decisions", _decisions),
        ("stopping", _stopping),
        ("speed", _speed),
        ("faults", _faults),
    ):
        if results.of(part):
            parts.append(make(results))
    return "\n\n".join([*parts, _made(results)]) + "\n"


def means(found):
    note = "; ".join(f"{name}: {what}" for name, what in BROKEN.items())
    return f"""## Means

![Coverage against width](images/benchmarks/coverage-width.svg)

Pools of {POOL:,} outputs, one judgment per output. *Width* is relative to Student's interval of the plain mean. *Cost* is the squared error relative to the plain mean's: the share of the judgments that
is needed for equal error. Points are averages over the {len(KINDS) - len(KNOWN_RATERS)} kinds of campaigns whose raters are not known; bars are two standard errors.

{tables.coverage(found)}

Coverage in percent/width/cost, averages over {FROM} to 200 judgments per system; coverage has a standard error of at most {tables.most_doubt(found)} points. A peer *covers* if its coverage is not below 94% by more than one standard error, and by more than two
with no number of judgments. † {note}.

{tables.by_kind(found)}

By number of judgments, over the kinds whose raters are not known (↓: below 94% by more than two standard errors):

{tables.by_size(found)}

On average over {tables.sizes_of_all(found)} judgments per system:

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

{tables.decisions(results)}

The intervals of `paired bootstrap` and of `truescore` are for one pair at a time; nothing corrects the bootstrap's p-values, as in sacrebleu's `--paired-bs`."""


def _stopping(results):
    return f"""## Stopping

One system, scores from 0 to 1, outputs drawn with replacement, a metric of 0.6. Somebody looks after every 20 or 100 judgments and stops when the half-width is at most {GOAL:g}, or after {MOST:,} judgments.
"Ever missed": the truth was outside the interval at one of the looks until then, which a 95% guarantee allows in 5% of streams.

{tables.stopping(results)}"""


def _speed(results):
    return f"""## Speed and memory

`python -m benchmarks speed`. Processor time of all threads and children of a process; the most memory that it, or its largest child, held. Where the last column is below 1 we are slower.

{tables.growth(results)}

*Parquet pool*: unique keys, moments of three metrics and a join with 1,000 judged outputs. *score*: `length-ratio` of texts of 8 words. *estimate*: 12 judgments of each system, pools of 100, one metric, 40 raters;
`ppi-python` is asked system by system. *compare*: 50 shared items; the peer is a paired t test of each pair.

Pairs of texts of 55 words per second of processor time:

{tables.rates(results)}

Annotation servers: every rater takes an output, judges it and goes on, ten times, all raters at once, on loopback.

{tables.servers(results)}"""


def _faults(results):
    return f"""## Faults

`python -m benchmarks faults`. *Went wrong*: a crash, more than one line of complaint, a half-written file, an answer 5xx that the fault does not explain, a judgment stored twice. *Lost*: what differs
at the end from an undisturbed run, or from what raters were told is stored.

{tables.faults(results)}"""


def _made(results):
    [machine] = results.of("machine")
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    peers = ", ".join(f"{peer.package} {peer.version}" for peer in PEERS)
    replayed = [record for record in results if "ways" in record]
    runs = sorted({record["runs"] for record in replayed})
    ours = [record for record in replayed if record["who"].startswith("steelyard")]
    commits = sorted({record["commit"] for record in ours if record.get("commit")})
    seeds = sorted({record["seed"] for record in replayed})
    return f"""## What was run

- Steelyard {machine["version"]} (our cells on commits {", ".join(commits)}), Python {machine["python"]}, {packages}; {machine["cores"]} cores, {machine["processor"]}.
- Peers: {peers}, each in its own environment.
- These cells take about {budget.in_words(results)}.
- {runs[0]} to {runs[-1]:,} replays of a cell; seed {", ".join(map(str, seeds))}. The draws of a replay depend on the seed, the kind, the number of judgments and the number of the replay only, so more replays
  extend fewer, and all tools see the same draws."""


def paragraph(results):
    """The paragraph, in lines of the README."""
    means = averages(common(alike(rows(results, "means"))))
    ours, plain, ppi = (means[way] for way in (DEFAULT, "plain t", "ppi-python ppi_mean_ci"))
    text = (
        f"{_START}{_NUMBERS[len(PEERS)]} peers](docs/benchmarks.md) from the package index (`python -m benchmarks honesty`), on {len(KINDS) - len(KNOWN_RATERS)} kinds of "
        f"generated campaigns with {FROM} to 200 judgments per system: {tables.percent(ours.coverage)}% of the default's intervals hold the truth, at {ours.width:.3f} times "
        f"the width of plain t, which holds in {tables.percent(plain.coverage)}%, and its squared error is {ours.cost:.3f} times the plain mean's; `ppi-python` holds in "
        f"{tables.percent(ppi.coverage)}%. The page also says where we do not win."
    )
    return textwrap.fill(
        text, 160, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def written(text, results):
    """The text of README with this paragraph in the place of the one that it has."""
    found = re.compile(rf"^{re.escape(_START)}.*?(?=^- )", re.DOTALL | re.MULTILINE)
    return found.sub(lambda _: paragraph(results) + "\n", text, count=1)
