"""What a format of another tool is: a name, a test, and a way to our tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from steelyard.data.conversion import Conversion
from steelyard.data.foreign.documents import Document
from steelyard.data.foreign.values import at
from steelyard.errors import InvalidArgumentError

__all__ = ["Format", "Options"]

# What `--column` can name.
_COLUMNS = (
    *("item", "system", "output", "input", "reference", "cluster", "rater", "prompt", "score"),
    *("time", "left", "right"),
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the user said about the files.

    Attributes
    ----------
    system : str or None
        The system of all outputs, where the tool does not record it; ``{file}`` stands for the
        name of the file (``--system``).
    columns : mapping
        Our name of a column, to the key or dotted path it has in the files (``--column``).
    only : mapping
        Which of several epochs, filters, trials, prompts to take (``--only``).
    scale : mapping
        What a word is worth as a score, words in small letters (``--scale``).
    wide : tuple of str
        Patterns of the columns of a wide table (``--wide``).
    raters : frozenset of str or None
        The raters to keep; None for all (``--raters-from``).
    raters_from : str
        Where they are listed.
    on_duplicate : str
        ``error``, ``first`` or ``last`` (``--on-duplicate``).
    """

    system: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, str] = field(default_factory=dict)
    scale: Mapping[str, float] = field(default_factory=dict)
    wide: tuple[str, ...] = ()
    raters: frozenset[str] | None = None
    raters_from: str = ""
    on_duplicate: str = "error"

    def value(self, record: Mapping[str, Any], ours: str, *usual: str) -> Any:
        """Return what a record has under our name: where the user says, else at a usual path."""
        if ours == "system" and self.system is not None:
            return self.system
        paths = (self.columns[ours],) if ours in self.columns else usual
        return next((found for path in paths if (found := at(record, path)) is not None), None)

    def of_file(self, document: Document) -> "Options":
        """Return these options with ``{file}`` in ``--system`` filled in."""
        if self.system is None or "{file}" not in self.system:
            return self
        return replace(self, system=self.system.replace("{file}", document.path.name.split(".")[0]))


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format that `convert` reads.

    Attributes
    ----------
    name : str
        What it is called on the command line.
    title : str
        The tool and its files, in a few words.
    expects : str
        What a file of this format has, for an error message.
    recognises : callable
        Whether a document is of this format, by its content.
    convert : callable
        Our tables, from documents of this format.
    only : tuple of str
        What ``--only`` can choose, besides prompts.
    companions : bool
        Whether a file that is not recognised may come along, such as the texts that were judged.
    free_columns : bool
        Whether users choose the columns themselves, so that ``--column`` makes any file do.
    """

    name: str
    title: str
    expects: str
    recognises: Callable[[Document], bool]
    convert: Callable[[Sequence[Document], Options], list[Conversion]]
    only: tuple[str, ...] = ()
    companions: bool = False
    free_columns: bool = False

    def check_options(self, options: Options) -> None:
        """Raise if an option names what this format does not have.

        Raises
        ------
        InvalidArgumentError
            The message names the option.
        """
        for name in options.only:
            if name not in (*self.only, "prompt"):
                known = " or ".join((*self.only, "prompt"))
                raise InvalidArgumentError(
                    f"`--only` can choose {known} in files of {self.name}; got {name!r}"
                )
        for ours in options.columns:
            if ours not in _COLUMNS:
                raise InvalidArgumentError(
                    f"`--column` must name one of {', '.join(_COLUMNS)} before the '='; got {ours!r}"
                )
        if options.wide and self.name != "wide":
            raise InvalidArgumentError(
                f"`--wide` is for wide tables, and these files are of {self.name}: leave it out"
            )
