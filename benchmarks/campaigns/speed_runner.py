"""Processor time and peak memory of one source tree on one large campaign: a process for one measurement.

It reads what is asked as JSON from its first argument and writes what it measured as JSON. It runs with that tree's ``src`` as
PYTHONPATH.
"""

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import steelyard
from steelyard import Study
from steelyard.errors import SteelyardError

_LONG = 10.0  # seconds after which a question is not asked again


def tables(*, systems, items, metrics, judged, prompts=1, raters=40):
    """Outputs with metrics, and under each prompt one judgment of `judged` outputs of each system."""
    rng = np.random.default_rng([systems, items, metrics, judged])
    size = systems * items
    quality = rng.standard_normal(size)
    columns = {
        "item": np.tile(np.arange(items), systems),
        "system": np.repeat([f"s{number}" for number in range(systems)], items),
    }
    for number in range(metrics):
        columns[f"m{number}"] = 0.4 * quality + rng.standard_normal(size)
    outputs = pl.DataFrame(columns)
    lenient = rng.normal(0, 0.3, raters)
    drawn = []
    for prompt in range(prompts):
        rows = np.concatenate(
            [s * items + rng.choice(items, judged, replace=False) for s in range(systems)]
        )
        rater = rng.integers(raters, size=len(rows))
        score = quality[rows] + lenient[rater] + rng.standard_normal(len(rows))
        told = {"rater": np.char.add("r", rater.astype(str)), "prompt": f"p{prompt}"}
        drawn.append(outputs[rows].select("item", "system").with_columns(**_series(told, score)))
    return outputs, pl.concat(drawn)


def _series(told, score):
    return {
        "rater": pl.Series(told["rater"]),
        "prompt": pl.lit(told["prompt"]),
        "score": pl.Series(score),
    }


def measured(asked):
    """Least processor seconds of each question, those of all together, and the most megabytes that the process held."""
    questions = asked.pop("questions")
    outputs, judgments = tables(**asked)
    _forget_the_peak()
    seconds = dict.fromkeys(("read", *questions), np.inf)
    processor = np.inf
    for _ in range(2):
        start = worked = time.process_time()
        study = Study.read(outputs, judgments)
        seconds["read"] = min(seconds["read"], time.process_time() - start)
        for question in questions:
            start = time.process_time()
            getattr(study, question)()
            seconds[question] = min(seconds[question], time.process_time() - start)
        processor = min(processor, time.process_time() - worked)
        if sum(seconds.values()) > _LONG:
            break
    found = {"seconds": seconds, "processor": processor, "megabytes": _peak()}
    return found | {"package": steelyard.__file__}


def _forget_the_peak():
    """Let the most memory so far be what is held now, where Linux can."""
    path = Path("/proc/self/clear_refs")
    if path.exists():
        path.write_text("5", encoding="ascii")


def _peak():
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return int(status.read_text(encoding="ascii").partition("VmHWM:")[2].split()[0]) / 1e3


def main():
    warnings.simplefilter("ignore")
    try:
        found = measured(json.loads(sys.argv[1]))
    except SteelyardError as error:
        found = {"refused": str(error), "package": steelyard.__file__}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
