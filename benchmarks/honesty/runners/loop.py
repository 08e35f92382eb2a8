"""The loop of a peer's process: paths of cases come in, one a line, and answers go out beside them.

It runs in the peer's environment, so it needs numpy and nothing of ours.
"""

import json
import os
import sys
import time

import numpy as np


def serve(ways):
    """Answer every file of cases. `ways`: by name, a function of one case that gives numbers.

    A case of one system has three: estimate, low and high. One of several systems has three for each pair.
    """
    # What a library prints must not look like an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        path, start = line.strip(), time.process_time()
        with np.load(path) as file:
            cases = dict(file)
        found, refused = {}, {}
        for name, way in ways.items():
            found[name] = np.array([answered(way, case, refused, name) for case in split(cases)])
        np.savez(path + ".answers.npz", **found)
        said = {"refused": refused, "seconds": time.process_time() - start}
        answers.write(json.dumps(said) + "\n")
        answers.flush()


def split(cases):
    """One case after the other: what differs by case has a row for each."""
    for number in range(len(cases["human"])):
        yield {
            name: values if name == "bounds" else values[number] for name, values in cases.items()
        }


def answered(way, case, refused, name):
    """The numbers, or none where the peer refuses; the first reason is kept."""
    systems = case["human"].shape[1] if case["human"].ndim == 2 else None
    none = np.full(3 if systems is None else (systems * (systems - 1) // 2, 3), np.nan)
    try:
        got = np.array(way(case), dtype=float)
    except Exception as error:  # noqa: BLE001 - a peer may refuse by any exception
        refused.setdefault(name, f"{type(error).__name__}: {error}"[:200])
        return none
    if not np.isfinite(got).all():
        refused.setdefault(name, "no finite interval")
        return none
    return got


def unlabelled(case):
    """The prediction of the outputs that nobody judged."""
    rest = np.ones(len(case["pool"]), dtype=bool)
    rest[case["chosen"]] = False
    return case["pool"][rest]


def with_gaps(case):
    """The judgment of every output of the pool, nan where there is none."""
    every = np.full(len(case["pool"]), np.nan)
    every[case["chosen"]] = case["human"]
    return every
