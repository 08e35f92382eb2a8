"""Which conversion a file needs: its tool, or the pattern of a wide table's columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import SteelyardError
from steelyard.foreign.documents import ToolFile, open_document
from steelyard.foreign.format import Options
from steelyard.foreign.registry import converted, formats_of
from steelyard.foreign.values import is_missing, number
from steelyard.tables.column_names import lookalike

__all__ = ["Suggestion", "may_be_foreign", "refusal", "suggestion"]

# Larger files are not read as a whole only to say which tool wrote them.
_LARGEST = 100_000_000
# So many rows show what columns hold.
_ROWS = 2_000
_MARKS = ("_", "-", ".", ":", "/", "|", " ")
_SCORES = frozenset({"score", "rating", "judgment", "judgement", "grade", "human"})
_METRICS = ("bleu", "rouge", "chrf", "ter", "meteor", "comet", "bleurt", "bertscore", "bert_score")


@dataclass(frozen=True)
class Suggestion:
    """How a file may be converted.

    Attributes
    ----------
    name : str
        The format, as ``--from`` takes it.
    options : tuple of str
        What else the command needs, as far as it can be seen.
    """

    name: str
    options: tuple[str, ...] = ()


def suggestion(path: Path) -> Suggestion | None:
    """Return how a file may be converted; None if it is large, or neither a tool's nor wide."""
    suffixes = Path(path.name.partition("#")[0]).suffixes
    if ".parquet" in suffixes or (path.is_file() and path.stat().st_size > _LARGEST):
        return None
    try:
        document = open_document(path)
        found = formats_of(document)
    except SteelyardError:
        return None
    if found:
        return Suggestion(found[0].name)
    options = wide_options(document) if document.kind == "table" else ()
    return Suggestion("wide", options) if options else None


def may_be_foreign(path: Path) -> bool:
    """Whether a file that is no table of ours may well be another tool's: JSON, an archive, a text."""
    with path.open("rb") as file:
        head = file.read(4096)
    ours = {".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".xls", ".ods"}
    return bool(head.strip()) and path.suffix.lower() not in ours


def refusal(paths: Sequence[Path], name: str, options: Sequence[str]) -> SteelyardError | None:
    """Return why a conversion of these files would be refused; None if it would not be."""
    pairs = list(zip(options[::2], options[1::2], strict=True))
    columns = [value.partition("=") for option, value in pairs if option == "--column"]
    said = Options(
        wide=tuple(value for option, value in pairs if option == "--wide"),
        columns={ours: theirs for ours, _, theirs in columns},
    )
    try:
        converted(paths, name, said)
    except SteelyardError as error:
        return error
    return None


def wide_options(document: ToolFile) -> tuple[str, ...]:
    """Return the patterns of a wide table's columns and its item, if the names say them.

    Systems are known where their texts stand in columns of their own names; else the names must be
    made of all pairs of two parts.

    Examples
    --------
    >>> columns = ("item", "A", "B", "A_score", "B_score", "A_bleu", "B_bleu")
    >>> wide_options(ToolFile(Path("x"), "table", columns=columns))
    ('--wide', '{system}_score', '--wide', '{system}_{metric:bleu}')
    """
    columns = list(document.columns)
    item = lookalike("item", columns, misspelt=False)
    free = [name for name in columns if name != item]
    patterns = _anchored(free) or _crossed(document, free)
    if not patterns or item is None:
        return ()
    options = [part for pattern in patterns for part in ("--wide", pattern)]
    return (*options, *(() if item == "item" else ("--column", f"item={item}")))


def _anchored(names: Sequence[str]) -> list[str]:
    """Return the patterns where other names start or end with the names of systems."""
    for mark in _MARKS:
        for is_last in (True, False):
            parts: dict[str, dict[str, None]] = {}
            for system in names:
                rest = [_rest(name, system, mark, is_last=is_last) for name in names]
                if any(rest):
                    parts[system] = dict.fromkeys(one for one in rest if one)
            rests = list(dict.fromkeys(one for found in parts.values() for one in found))
            if len(parts) > 1 and all(list(found) == rests for found in parts.values()):
                return _patterns(list(parts), rests, mark, is_last=is_last)
    return []


def _rest(name: str, system: str, mark: str, *, is_last: bool) -> str:
    """Return what a name says besides a system; empty if it does not name the system."""
    if is_last:
        return name.removesuffix(mark + system) if name.endswith(mark + system) else ""
    return name.removeprefix(system + mark) if name.startswith(system + mark) else ""


def _patterns(systems: list[str], rests: list[str], mark: str, *, is_last: bool) -> list[str]:
    scores = [rest for rest in rests if rest.casefold() in _SCORES]
    metrics = [rest for rest in rests if rest.casefold().startswith(_METRICS)]
    raters = [rest for rest in rests if rest not in {*scores, *metrics}]
    parts = [*scores, *([f"{{metric:{'|'.join(metrics)}}}"] if metrics else [])]
    parts += [_place("rater", raters, mark)] if raters else []
    system = _place("system", systems, mark)
    return [f"{part}{mark}{system}" if is_last else f"{system}{mark}{part}" for part in parts]


def _place(what: str, names: Sequence[str], mark: str) -> str:
    """Return the place of a name in a pattern, with the names where one holds the mark."""
    return f"{{{what}:{'|'.join(names)}}}" if any(mark in name for name in names) else f"{{{what}}}"


def _crossed(document: ToolFile, names: Sequence[str]) -> list[str]:
    """Return the pattern of names that are all pairs of a first and a second part."""
    for mark in _MARKS:
        pairs = [tuple(name.split(mark)) for name in names if name.count(mark) == 1]
        firsts, seconds = ({pair[place] for pair in pairs} for place in (0, 1))
        is_full = len(set(pairs)) == len(firsts) * len(seconds)
        if is_full and min(len(firsts), len(seconds)) > 1 and "" not in firsts | seconds:
            judged = [mark.join(pair) for pair in pairs]
            return [f"{{rater}}{mark}{{system}}"] if _is_judged(document, judged) else []
    return []


def _is_judged(document: ToolFile, names: Sequence[str]) -> bool:
    """Whether columns hold scores: numbers, or few different words."""
    for name in names:
        cells = [row.get(name) for row in document.records[:_ROWS] if not is_missing(row.get(name))]
        if len({cell for cell in cells if number(cell) is None}) > 10:
            return False
    return True
