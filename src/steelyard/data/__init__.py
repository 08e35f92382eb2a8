"""Read, check and write the files people bring: outputs and judgments."""

from steelyard.data.judgments import Judgments
from steelyard.data.outputs import Outputs
from steelyard.data.reading import read_judgments, read_outputs
from steelyard.data.writing import write_table

__all__ = ["Judgments", "Outputs", "read_judgments", "read_outputs", "write_table"]
