"""Time and memory of a call, measured alike for every contestant."""

import time
import tracemalloc


def seconds(call, *, repeats=5):
    """Least wall time of `repeats` calls: the one that the machine disturbed least."""
    call()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def megabytes(call):
    """Most memory that one call allocates at a time, beyond its inputs."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
