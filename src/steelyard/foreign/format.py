"""What a format of another tool is: a name, a test, and a way to our tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from steelyard.errors import InvalidArgumentError
from steelyard.foreign.documents import ToolFile
from steelyard.foreign.values import at
from steelyard.tables.duplicates import OnDuplicate

if TYPE_CHECKING:
    from steelyard.foreign.gathered import Gathered

__all__ = ["Conversion", "Format", "Options"]


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
    on_duplicate : {"error", "first", "last", "mean", "all"}
        What to do with rows that repeat another (``--on-duplicate``).
    separator, decimal : str or None
        What stands between cells, and before decimals (``--separator``, ``--decimal``).
    found : set of str
        Which of `columns` some record had, noted while files are read.
    """

    system: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, str] = field(default_factory=dict)
    scale: Mapping[str, float] = field(default_factory=dict)
    wide: tuple[str, ...] = ()
    raters: frozenset[str] | None = None
    raters_from: str = ""
    on_duplicate: OnDuplicate = "error"
    separator: str | None = None
    decimal: str | None = None
    found: set[str] = field(default_factory=set, compare=False, repr=False)

    def value(self, record: Mapping[str, Any], ours: str, *usual: str) -> Any:
        """Return what a record has under our name: where the user says, else at a usual path."""
        if ours == "system" and self.system is not None:
            return self.system
        paths = (self.columns[ours],) if ours in self.columns else usual
        value = next((found for path in paths if (found := at(record, path)) is not None), None)
        if value is not None and ours in self.columns:
            self.found.add(ours)
        return value

    def check_found(self) -> None:
        """Raise if no record had what ``--column`` names."""
        for ours, theirs in self.columns.items():
            if ours not in self.found:
                raise InvalidArgumentError(
                    f"`--column` {ours}={theirs}: no record has {theirs!r}: look for its name in the file"
                )

    def names(self, ours: str) -> bool:
        """Whether the user says where or what this is."""
        return ours in self.columns or (ours == "system" and self.system is not None)

    def of_file(self, document: ToolFile) -> "Options":
        """Return these options with ``{file}`` in ``--system`` filled in."""
        if self.system is None or "{file}" not in self.system:
            return self
        return replace(self, system=self.system.replace("{file}", document.path.name.split(".")[0]))


@dataclass(frozen=True, eq=False)
class Conversion:
    """One campaign in our form.

    Attributes
    ----------
    name : str
        Short name of the campaign, fit for the name of a file; empty if there is only one.
    outputs, judgments : polars.DataFrame
        Rows as `read_outputs` and `read_judgments` take them; empty if the tool has none.
    remarks : tuple of str
        What a reader must know: what was merged, renamed or not taken over.
    preferences : polars.DataFrame
        Comparisons of two systems, as ``serve`` exports them: two rows with the same
        ``submission``, scores that add up to 1, and the ``other_system``.
    """

    name: str
    outputs: pl.DataFrame
    judgments: pl.DataFrame
    remarks: tuple[str, ...] = ()
    preferences: pl.DataFrame = field(default_factory=pl.DataFrame)


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
    read : callable
        Adds what documents of this format hold to rows of our tables.
    way_out : str
        How to tell outputs apart, or choose among them, that share item and system.
    convert : callable
        In place of both: our tables, from documents of this format.
    columns : tuple of str
        What ``--column`` can name; with ``system`` among them, ``--system`` can too.
    only : tuple of str
        What ``--only`` can choose, besides prompts.
    companions : bool
        Whether a file that is not recognised may come along, such as the texts that were judged.
    free_columns : bool
        Whether users choose the columns themselves, so that ``--column`` makes any file do.
    joins_files : bool
        Whether several files hold parts of the same outputs, so that none is one system's.
    """

    name: str
    title: str
    expects: str
    recognises: Callable[[ToolFile], bool]
    read: Callable[["Gathered", Sequence[ToolFile]], None] | None = None
    way_out: str = ""
    convert: Callable[[Sequence[ToolFile], Options], list[Conversion]] | None = None
    columns: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    companions: bool = False
    free_columns: bool = False
    joins_files: bool = False

    def check_options(self, options: Options) -> None:
        """Raise if an option names what this format does not have.

        Raises
        ------
        InvalidArgumentError
            The message names the option.
        """
        for name in options.only:
            _check_known("--only", name, (*self.only, "prompt"), self.name)
        for name in options.columns:
            _check_known("--column", name, self.columns, self.name)
        if options.system is not None and "system" not in self.columns:
            raise InvalidArgumentError(
                f"`--system` is for files that do not name their systems, as files of {self.name} do: "
                "leave it out"
            )
        if options.wide and self.name != "wide":
            raise InvalidArgumentError(
                f"`--wide` is for wide tables, and these files are of {self.name}: leave it out"
            )


def _check_known(option: str, name: str, known: Sequence[str], files: str) -> None:
    if name not in known and "*" not in known:
        raise InvalidArgumentError(
            f"`{option}` can name {' or '.join(known) or 'nothing'} in files of {files}; got {name!r}"
        )
