"""``docs/benchmarks.md`` and its figures, made from the results and nothing else."""

from pathlib import Path

from benchmarks.honesty import figures, tables
from benchmarks.honesty.kinds import BROKEN, POOL
from benchmarks.honesty.peers import PEERS
from benchmarks.honesty.summary import rows

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "benchmarks.md"
IMAGES = DOCS / "images" / "benchmarks"
_HEAD = """# Benchmarks: honesty and cost

Do intervals hold the truth as often as they say, and what do they cost? Ours beside peers from the Python package index, on generated campaigns
whose truth is known. This page is made from `benchmarks/honesty/results.jsonl` by `python -m benchmarks.honesty page`; nobody edits it. Every figure
has its standard error over replays, or is an average of cells that have.

```
python -m benchmarks honesty                    # everything that is not in the results yet, then this page
python -m benchmarks.honesty means --runs 40    # one part, fewer replays
```"""


def write(results):
    """Write the page and its figures."""
    found = rows(results, "means")
    figures.coverage_against_width(found, IMAGES / "coverage-width.svg")
    figures.cost_against_judgments(found, IMAGES / "cost.svg")
    PAGE.write_text(text(results), encoding="utf-8")


def text(results):
    """The page."""
    parts = [_HEAD, means(rows(results, "means")), _made(results)]
    return "\n\n".join(parts) + "\n"


def means(found):
    note = "; ".join(f"{name}: {what}" for name, what in BROKEN.items())
    return f"""## Means

![Coverage against width](images/benchmarks/coverage-width.svg)

![Judgments for equal error](images/benchmarks/cost.svg)

Each point is an average over the kinds of campaigns below that keep what the intervals assume. *Width* is relative to Student's interval of the plain
mean. *Cost* is the squared error relative to the plain mean's: the share of the judgments that is needed for equal error. Upper left is honest and narrow. Bars are
two standard errors.

{tables.verdicts(found)}

{tables.lost(found)}

### Every way, all kinds, from 20 judgments on

{tables.all_ways(found)}

A way *covers* if its coverage is not below 94% by more than two standard errors, and the standard error is at most 1.2 points. Tools that take one prediction get the first metric, on the scale of the scores; it is the best one
where metrics differ. Scores without known ends are mapped to 0 to 1 by their range for `cje-eval`. `evalstats` and `cje-eval` are slow and were replayed an eighth as often.

### By number of judgments

Coverage in percent / width / cost, over the same kinds.

{tables.by_size(found)}

### By kind

Coverage in percent / width / cost, from 20 judgments on. † {note}.

{tables.by_kind(found)}

### Refusals

{tables.refusals(found)}

### The kinds

Pools of {POOL:,} outputs, half of the variance of quality shared by an item's outputs, one judgment per output with noise of 0.7 deviations. A metric of 0.6 correlates 0.6 with
quality. Adversarial metrics: one whose sign changes from system to system, a copy of it, and one with Cauchy errors, all shifted by system.

{tables.kinds_table()}"""


def _made(results):
    [machine] = results.of("machine")
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    peers = ", ".join(f"{peer.package} {peer.version}" for peer in PEERS)
    runs = sorted({record["runs"] for record in results if record["part"] != "machine"})
    seeds = sorted({record["seed"] for record in results if record["part"] != "machine"})
    return f"""## What was run

- Steelyard {machine["version"]}, Python {machine["python"]}, {packages}; {machine["cores"]} cores, {machine["processor"]}.
- Peers: {peers}, each in its own environment.
- {runs[0]} to {runs[-1]} replays of a cell; seed {", ".join(map(str, seeds))}. The draws of a replay depend on the seed, the kind, the number of judgments and the number of the replay
  only, so more replays extend fewer, and all tools see the same draws."""
