"""The command line: one file a command."""

from steelyard.cli.main import main

__all__ = ["main"]
