"""Work on cells with one thread for each core, and its processor time: recorded, and expected of other cells."""

import os
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def worked(wanted, workers):
    """Yield each record with what was found, in order. Workers have one thread each."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        found = pool.map(_call, [work for _, work in wanted])
        yield from zip([record for record, _ in wanted], found, strict=True)


def _call(work):
    """What a work finds, with the processor time of this process and of a peer's."""
    start = time.process_time()
    found = work[0](*work[1:])
    seconds = time.process_time() - start + found.get("seconds", 0.0)
    return found | {"seconds": float(f"{seconds:.3g}")}


def predicted(results, wanted):
    """Seconds of processor time that each of `wanted` cells takes, None where nothing is known.

    By the time of a replay of the same cell, or the mean over the same contestant's cells of the part, or of all parts.
    """
    known, alike = {}, defaultdict(list)
    for record in results:
        if "ways" in record and "seconds" in record:
            each = record["seconds"] / record["runs"]
            known[_cell(record)] = each
            alike[record["part"], record["who"]].append(each)
            alike[record["who"]].append(each)
    found = []
    for record in wanted:
        others = alike[record["part"], record["who"]] or alike[record["who"]]
        each = known.get(_cell(record), sum(others) / len(others) if others else None)
        found.append(None if each is None else each * record["runs"])
    return found


def _cell(record):
    return tuple(record[name] for name in ("part", "who", "cell", "n"))


def lines(results, every):
    """What a run from nothing takes and what is left to do, part by part, in minutes of one core."""
    body = defaultdict(lambda: [0, 0, 0.0, 0.0])
    unknown = set()
    for record, seconds in zip(every, predicted(results, every), strict=True):
        one = body[record["part"]]
        left = not results.has(**record)
        if seconds is None:
            unknown.add(f"{record['part']} of {record['who']}")
        for place, value in ((0, 1), (2, seconds or 0.0)):
            one[place] += value
            one[place + 1] += value if left else 0
    yield f"{'part':12}{'cells':>8}{'left':>8}{'minutes':>10}{'left':>10}"
    for part, (cells, left, seconds, to_do) in body.items():
        yield f"{part:12}{cells:8}{left:8}{seconds / 60:10.1f}{to_do / 60:10.1f}"
    total, to_do = (sum(one[place] for one in body.values()) / 60 for place in (2, 3))
    yield f"{'all':28}{total:10.1f}{to_do:10.1f}  (processor time; half of it on two cores)"
    if unknown:
        yield f"nothing is known of: {', '.join(sorted(unknown))}"


def in_words(results):
    """The processor time of all recorded cells, by part."""
    every = [record for record in results if "ways" in record]
    minutes = defaultdict(float)
    for record, seconds in zip(every, predicted(results, every), strict=True):
        minutes[record["part"]] += (seconds or 0.0) / 60
    by_part = ", ".join(f"{part} {spent:.1f}" for part, spent in minutes.items())
    total = sum(minutes.values())
    return f"{total:.0f} minutes of processor time ({by_part}), so {total / 2:.0f} minutes on two cores"
