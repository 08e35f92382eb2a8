"""Figures as files."""

from pathlib import Path

from matplotlib.figure import Figure

from steelyard.errors import InvalidArgumentError
from steelyard.plots.style import styled
from steelyard.tables.replacing import replacing

__all__ = ["save_figure"]

_KINDS = (".svg", ".pdf", ".png")


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, PDF or PNG, by the extension of its file.

    Raises
    ------
    InvalidArgumentError
        If the extension is another, or the folder is not there.
    InvalidDataError
        If the file cannot be written.
    """
    kind = path.suffix.lower()
    if kind not in _KINDS:
        raise InvalidArgumentError(f"`figure` must end in {', '.join(_KINDS)}; got {path.name!r}")
    if not path.parent.is_dir():
        raise InvalidArgumentError(
            f"`figure` must lie in an existing folder; there is no {path.parent}"
        )
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": None}
    with styled(), replacing(path) as temporary:
        figure.savefig(temporary, format=kind[1:], metadata=dates[kind])
