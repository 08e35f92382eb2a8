"""Results as lines of JSON, one for each cell and contestant; a cell that is there is not run again."""

import json
import os
from pathlib import Path

FILE = Path(__file__).parent / "results.jsonl"
_KEY = ("part", "cell", "n", "who")


class Results:
    """The results in a file. Every new one is on disk before the next is made."""

    def __init__(self, path=FILE):
        self.path = Path(path)
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self._records = {_key(record): record for record in map(json.loads, lines)}

    def __iter__(self):
        return iter(self._records[key] for key in sorted(self._records))

    def of(self, part):
        return [record for record in self if record["part"] == part]

    def has(self, **wanted):
        """Whether a cell is there with at least so many runs, of this version, from this seed."""
        found = self._records.get(_key(wanted))
        return (
            found is not None
            and found["runs"] >= wanted["runs"]
            and (found["version"], found["seed"]) == (wanted["version"], wanted["seed"])
        )

    def put(self, record):
        """Keep a record in place of an older one of the same cell."""
        self._records[_key(record)] = record
        beside = self.path.with_suffix(".part")
        beside.write_text(
            "".join(
                json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in self
            ),
            encoding="utf-8",
        )
        os.replace(beside, self.path)  # noqa: PTH105


def _key(record):
    return tuple(record[name] for name in _KEY)
