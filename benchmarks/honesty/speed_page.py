"""The sections of the page about speed, memory and faults."""

from benchmarks.honesty import speed_tables
from benchmarks.speed.contests import US


def speed(results):
    def largest(job):
        return max(
            one["n"] for one in results.of("speed") if (one["cell"], one["who"]) == (job, US)
        )

    return f"""## Speed and memory

`python -m benchmarks speed`. Every line is a process that makes its inputs and then does the work; the time is processor time of all its threads and children, the
least of several calls where they are quick. Memory is the most that the process held during the work, or its largest child if that held more, with interpreter, libraries and inputs.

![Processor time as the work grows](images/benchmarks/growth.svg)

{speed_tables.growth(results)}

Arrays were measured up to {largest("one system, arrays"):,} outputs, Parquet pools up to {largest("Parquet pool, three metrics"):,}; peers stop at ten million, as they hold the whole pool several times over. Other jobs stop
earlier: their time is in proportion to the size, so `score` would take a hundred times as long for 10⁸ rows as for 10⁶. The memory of `score` hardly grows with the file.

*Parquet pool*: unique keys, moments of three metrics and a join with 1,000 judged outputs; `pandas` reads the needed columns first. *score*: `length-ratio` of texts of 8 words, two
workers. *estimate*: 12 judgments of each system, pools of 100, one metric, 40 raters; `ppi-python` is asked system by system. *compare*: 50 shared items; the peer is a paired t test of
each pair, which does less: no metric, no raters, nothing simultaneous. *dashboard*: one snapshot, 24 judgments of each system.

Where the last column is below 1 we are slower. Small arrays and small pools are checked before they are used, which takes longer than the work. `estimate` learns one control from all systems, takes
raters' leniency out and finds the shape of residuals by resampling, of which `ppi-python` does nothing; `pandas` holds the whole pool in memory.

### Metrics

Pairs of texts of 55 words per second of processor time.

{speed_tables.rates(results)}

### Annotation servers

Every rater logs in, takes an output, judges it and goes on, ten times, all raters at once, on loopback. Steelyard answers when the judgment is on disk, and sends the next output as data; Potato makes a whole page for it.

{speed_tables.servers(results)}"""


def faults(results):
    return f"""## Faults

`python -m benchmarks faults`. *Went wrong*: a crash, more than one line of complaint, a half-written file, an answer 5xx other than a refusal that the fault explains, a judgment stored twice. *Lost*: what is missing or differs at the end
from what an undisturbed run gives, or from what raters were told is stored.

{speed_tables.faults(results)}

Full disks are file systems of some kilobytes to three megabytes, made for the trial; the clock jumps at every look by up to ten years for `score` and `judge`, and twice a second by up to an hour for `serve`, whose links are dated."""
