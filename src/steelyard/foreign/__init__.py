"""Files of other tools as our tables: a format is a name, a test and a way to convert."""

from steelyard.foreign.format import Format, Options
from steelyard.foreign.registry import AUTO, FORMATS, converted, format_named, formats_of

__all__ = ["AUTO", "FORMATS", "Format", "Options", "converted", "format_named", "formats_of"]
