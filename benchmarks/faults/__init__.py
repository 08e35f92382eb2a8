"""What breaks, and what is lost: spoilt files and requests, kills, full disks, broken connections.

    python -m benchmarks faults
    python -m benchmarks.faults [SUBJECT ...] [--times N]

Every trial names what it does to whom, how often, what went wrong and what was lost. Results are lines of
``benchmarks/honesty/results.jsonl``; ``python -m benchmarks.honesty page`` makes the page from them.
"""


def main():
    """Try everything, and make the page."""
    from benchmarks.faults.__main__ import run  # noqa: PLC0415

    run([])
