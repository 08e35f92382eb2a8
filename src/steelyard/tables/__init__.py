"""Read, check and write the files people bring: outputs and judgments."""

from steelyard.tables.judgments import Judgments
from steelyard.tables.outputs import Outputs
from steelyard.tables.reading import read_judgments, read_outputs
from steelyard.tables.writing import write_table

__all__ = ["Judgments", "Outputs", "read_judgments", "read_outputs", "write_table"]
