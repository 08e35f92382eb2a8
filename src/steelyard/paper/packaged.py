"""The released scores as they stand in the package: numbers and pseudonyms, no texts.

One row is a line of the release. Source: the data that A. Chaganty, S. Mussmann and P. Liang (2018)
released with *The price of debiasing automatic metrics in natural language evaluation* (ACL), with
pseudonyms for raters. ``scripts/package_release.py`` writes the file from the authors' own.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.paper.released_lines import ReleasedOutput

__all__ = ["packaged_lines", "write_packaged"]

_FILE = "released.parquet"
_HUMAN, _GOLD, _METRIC = "human.", "gold.", "metric."


def packaged_lines() -> dict[str, tuple[ReleasedOutput, ...]]:
    """Return the lines of each task, in their order."""
    with as_file(files("steelyard.paper") / _FILE) as path:
        table = pl.read_parquet(path)
    return {
        str(task): tuple(_line(row) for row in rows.drop("task").iter_rows(named=True))
        for (task,), rows in table.partition_by("task", as_dict=True, maintain_order=True).items()
    }


def write_packaged(tasks: Mapping[str, Sequence[ReleasedOutput]], path: Path) -> None:
    """Write the lines of each task to a Parquet file."""
    frames = [
        pl.DataFrame([{"task": task, **_row(line)} for line in lines], infer_schema_length=None)
        for task, lines in tasks.items()
    ]
    pl.concat(frames, how="diagonal").write_parquet(path, compression_level=19)


def _row(line: ReleasedOutput) -> dict[str, object]:
    return {
        "line": line.line,
        "item": line.item,
        "system": line.system,
        "raters": list(line.raters),
        **{_HUMAN + prompt: list(scores) for prompt, scores in line.human.items()},
        **{_GOLD + prompt: score for prompt, score in line.gold.items()},
        **{_METRIC + name: score for name, score in line.metrics.items()},
    }


def _line(row: Mapping[str, Any]) -> ReleasedOutput:
    def under(prefix: str) -> dict[str, Any]:
        found = ((name, value) for name, value in row.items() if name.startswith(prefix))
        return {name.removeprefix(prefix): value for name, value in found if value is not None}

    return ReleasedOutput(
        line=row["line"],
        item=row["item"],
        system=row["system"],
        raters=tuple(row["raters"]),
        human={prompt: tuple(scores) for prompt, scores in under(_HUMAN).items()},
        gold=under(_GOLD),
        metrics=under(_METRIC),
    )
