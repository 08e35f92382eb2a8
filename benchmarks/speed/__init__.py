"""Processor time and memory as files and campaigns grow, beside peers, in one run.

    python -m benchmarks speed
    python -m benchmarks.speed [NAME ...] [--most ROWS]

Every measurement is a process of its own: it makes its inputs, then does the work, several times if that is
quick, and the least processor time counts, which other programs hardly disturb. Memory is the most that the process held
while it worked, with interpreter, libraries and inputs. Results are lines of ``benchmarks/honesty/results.jsonl``; what is there
with the same version is not measured again. ``python -m benchmarks.honesty page`` makes the page from them.
"""


def main():
    """Measure everything that is not in the results, and make the page."""
    from benchmarks.speed.__main__ import run  # noqa: PLC0415

    run([])
