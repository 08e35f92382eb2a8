"""Write the scores that the package holds of the paper's released data.

    python scripts/package_release.py DIRECTORY

DIRECTORY holds the authors' msmarco.jsonl and cnndm.jsonl, with pseudonyms for raters.
"""

import sys
from pathlib import Path

from steelyard.paper.names import TASKS
from steelyard.paper.packaged import write_packaged
from steelyard.paper.released_lines import read_released

if __name__ == "__main__":
    directory = Path(sys.argv[1])
    lines = {name: read_released(directory / names.file) for name, names in TASKS.items()}
    package = Path(__file__).resolve().parents[1] / "src" / "steelyard" / "paper"
    write_packaged(lines, package / "released.parquet")
