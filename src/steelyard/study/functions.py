"""The questions of a study as functions of its files: `steelyard.estimate(outputs, judgments)` and friends."""

import inspect
from typing import Any

from steelyard.questions.comparisons import Comparisons
from steelyard.questions.diagnosis import Diagnoses
from steelyard.questions.estimates import Estimates
from steelyard.study.study import Study

__all__ = ["compare", "diagnose", "estimate", "monitor", "replay"]

_READING = frozenset(inspect.signature(Study.read).parameters) - {"outputs", "judgments"}


def estimate(outputs: Any, judgments: Any = None, **options: Any) -> Estimates:
    """Estimate the mean human score of each system; options as in `Study.read` and `Study.estimate`.

    Parameters
    ----------
    outputs, judgments : path or data frame
        As `Study.read` takes them.
    **options
        Options of `Study.read` and of `Study.estimate`; another one is an error.

    Examples
    --------
    >>> outputs = {"item": range(8), "system": "s", "length": range(8)}
    >>> judged = {"item": [0, 2, 4, 5, 7], "system": "s", "rater": "r", "score": [0, 1, 1, 2, 3]}
    >>> import polars as pl
    >>> found = estimate(pl.DataFrame(outputs), pl.DataFrame(judged), metrics=["length"])
    >>> round(found["s"].estimate, 1)
    1.4
    """
    return _study(outputs, judgments, options).estimate(**options)


def compare(outputs: Any, judgments: Any = None, **options: Any) -> Comparisons:
    """Compare systems; options as in `Study.read` and `Study.compare`."""
    return _study(outputs, judgments, options).compare(**options)


def diagnose(outputs: Any, judgments: Any = None, **options: Any) -> Diagnoses:
    """Diagnose metrics and raters; options as in `Study.read` and `Study.diagnose`."""
    return _study(outputs, judgments, options).diagnose(**options)


def monitor(outputs: Any, judgments: Any = None, **options: Any) -> Any:
    """Say whether judgments are enough; options as in `Study.read` and `Study.monitor`."""
    return _study(outputs, judgments, options).monitor(**options)


def replay(outputs: Any, judgments: Any = None, *, n: Any, **options: Any) -> Any:
    """Replay a finished campaign; options as in `Study.read` and `Study.replay`."""
    return _study(outputs, judgments, options).replay(n, **options)


def _study(outputs: Any, judgments: Any, options: dict[str, Any]) -> Study:
    """Read a study, and take out of the options what only reading is about."""
    both = {"metrics", "prompts", "systems"}
    reading = {name: options[name] for name in _READING & set(options) - {"metrics"}}
    for name in set(reading) - both:
        del options[name]
    return Study.read(outputs, judgments, **reading)
