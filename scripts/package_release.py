"""Write the scores that the package holds of the paper's released data.

    python scripts/package_release.py DIRECTORY

DIRECTORY holds the authors' msmarco.jsonl and cnndm.jsonl, with pseudonyms for raters.
"""

import sys
from pathlib import Path

import polars as pl

from steelyard.paper.names import TASKS
from steelyard.paper.release import ReleasedOutput, read_released

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "steelyard" / "paper"


def main(directory: Path) -> None:
    """Write the lines of both tasks, one row each, as `packaged_lines` reads them."""
    frames = [
        pl.DataFrame(
            [{"task": name, **row(line)} for line in read_released(directory / names.file)],
            infer_schema_length=None,
        )
        for name, names in TASKS.items()
    ]
    table = pl.concat(frames, how="diagonal")
    table.write_parquet(PACKAGE / "released.parquet", compression_level=19)


def row(line: ReleasedOutput) -> dict[str, object]:
    """Return a line of the release as a row."""
    return {
        "line": line.line,
        "item": line.item,
        "system": line.system,
        "raters": list(line.raters),
        **{f"human.{prompt}": list(scores) for prompt, scores in line.human.items()},
        **{f"gold.{prompt}": score for prompt, score in line.gold.items()},
        **{f"metric.{name}": score for name, score in line.metrics.items()},
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
