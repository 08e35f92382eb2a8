"""One self-contained HTML page about a study."""

from steelyard.report.page import write_report

__all__ = ["write_report"]
