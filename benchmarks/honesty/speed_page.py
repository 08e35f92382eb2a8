"""The sections of the page about speed, memory and faults."""

from benchmarks.honesty import speed_tables


def speed(results):
    return f"""## Speed and memory

`python -m benchmarks speed`. Every line is a process that makes its inputs and then does the work; processor time of all its threads and children. Memory is the most that the process, or its largest child, held, with interpreter, libraries and inputs.
Where the last column is below 1 we are slower.

![Processor time as the work grows](images/benchmarks/growth.svg)

{speed_tables.growth(results)}

*Parquet pool*: unique keys, moments of three metrics and a join with 1,000 judged outputs. *score*: `length-ratio` of texts of 8 words. *estimate*: 12 judgments of each system, pools of 100, one metric, 40 raters;
`ppi-python` is asked system by system. *compare*: 50 shared items; the peer is a paired t test of each pair. *dashboard*: one snapshot, 24 judgments of each system.

Pairs of texts of 55 words per second of processor time:

{speed_tables.rates(results)}

Annotation servers: every rater takes an output, judges it and goes on, ten times, all raters at once, on loopback.

{speed_tables.servers(results)}"""


def faults(results):
    return f"""## Faults

`python -m benchmarks faults`. *Went wrong*: a crash, more than one line of complaint, a half-written file, an answer 5xx other than a refusal that the fault explains, a judgment stored twice. *Lost*: what is missing or differs at the end
from what an undisturbed run gives, or from what raters were told is stored.

{speed_tables.faults(results)}

Full disks are file systems of some kilobytes to three megabytes, made for the trial; the clock jumps at every look by up to ten years for `score` and `judge`, and twice a second by up to an hour for `serve`, whose links are dated."""
