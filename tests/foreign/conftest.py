from pathlib import Path

import pytest

from steelyard.foreign import Options, converted
from steelyard.tables import read_judgments, read_outputs

FILES = Path(__file__).parent / "files"


class Result:
    """A conversion, as rows."""

    def __init__(self, format_name, conversion):
        self.format = format_name
        self.remarks = "\n".join(conversion.remarks)
        self.outputs = {(row["item"], row["system"]): row for row in conversion.outputs.to_dicts()}
        self.judgments = conversion.judgments.to_dicts()
        self.preferences = conversion.preferences.to_dicts()
        # whatever is converted, our own readers take it
        if self.outputs:
            assert sum(read_outputs(conversion.outputs).sizes.values()) == len(self.outputs)
        if self.judgments:
            assert len(read_judgments(conversion.judgments)) == len(self.judgments)

    @property
    def scores(self):
        """Scores by item, system, rater and prompt."""
        return {
            (row["item"], row["system"], row["rater"], row["prompt"]): row["score"]
            for row in self.judgments
        }


@pytest.fixture
def convert():
    """Convert files by name, from the folder of fixtures or from a path."""

    def call(*names, source="auto", **options):
        chosen, (found,) = converted([FILES / name for name in names], source, Options(**options))
        return Result(chosen.name, found)

    return call
