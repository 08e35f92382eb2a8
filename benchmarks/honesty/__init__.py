"""Honesty and cost beside peers: means, decisions, stopping. Makes ``docs/benchmarks.md``.

    python -m benchmarks honesty
    python -m benchmarks.honesty [quick] [means] [decisions] [stopping] [paper] [page]
        [--runs N] [--cells CELL ...] [--who WHO ...] [--again] [--dry-run]

Every cell is one kind of campaign and one number of judgments, replayed `runs` times with seeds that
depend on nothing else. Peers run in environments that this benchmark makes for them, under a cache folder,
and see the same data as files. Results are lines of ``benchmarks/honesty/results.jsonl``; a cell that is
there with as many runs and the same versions is not run again, so a run that was stopped goes on. `--dry-run` prints the processor
time that all of it takes, and what is left. `page` makes the page, its figures and the paragraph of README from the results.
"""


def main():
    """Run all parts, as far as they are not in the results, and make the page."""
    from benchmarks.honesty.__main__ import run  # noqa: PLC0415

    run([])
