"""All formats by name, and which one a file has."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.foreign.documents import ToolFile, open_document
from steelyard.foreign.format import Conversion, Format, Options
from steelyard.foreign.gathered import Gathered
from steelyard.tables.opening import open_table

__all__ = ["AUTO", "FORMATS", "converted", "format_named", "formats_of"]

AUTO = "auto"
# The module that has each format; loaded when it is asked for.
FORMATS = {
    "argilla": "steelyard.foreign.argilla",
    "arena": "steelyard.foreign.arena",
    "deepeval": "steelyard.foreign.deepeval",
    "helm": "steelyard.foreign.helm",
    "inspect": "steelyard.foreign.inspect_logs",
    "label-studio": "steelyard.foreign.label_studio",
    "langfuse": "steelyard.foreign.langfuse",
    "lm-eval": "steelyard.foreign.lm_eval",
    "mt-metrics-eval": "steelyard.foreign.mt_metrics_eval",
    "mturk": "steelyard.foreign.mturk",
    "own": "steelyard.foreign.own",
    "pearmut": "steelyard.foreign.pearmut",
    "phoenix": "steelyard.foreign.phoenix",
    "potato": "steelyard.foreign.potato",
    "price-of-debiasing": "steelyard.paper.released_tables",
    "prolific": "steelyard.foreign.prolific",
    "promptfoo": "steelyard.foreign.promptfoo",
    "ragas": "steelyard.foreign.ragas",
    "wide": "steelyard.foreign.wide",
    "wmt-mqm": "steelyard.foreign.mqm",
}


def format_named(name: str) -> Format:
    """Return a format by its name.

    Raises
    ------
    InvalidArgumentError
        If there is no such format.

    Examples
    --------
    >>> format_named("inspect").title
    'Inspect AI logs (.json, .eval)'
    """
    if name not in FORMATS:
        known = ", ".join((AUTO, *FORMATS))
        near = get_close_matches(name.casefold(), FORMATS, n=1)
        hint = f": did you mean {near[0]}?" if near else ""
        raise InvalidArgumentError(f"`--from` must be one of {known}; got {name!r}{hint}")
    found = import_module(FORMATS[name]).FORMAT
    assert isinstance(found, Format)
    return found


def converted(
    paths: Sequence[Path], name: str = AUTO, options: Options | None = None
) -> tuple[Format, list[Conversion]]:
    """Convert files of another tool to our tables.

    Parameters
    ----------
    paths : sequence of Path
        Files or folders of one format.
    name : str
        The format's name, or ``auto``: by the content of the files.
    options : Options, optional
        What the user said about them.

    Returns
    -------
    format : Format
        The format.
    conversions : list of Conversion
        One for each campaign; most formats have one.

    Raises
    ------
    InvalidArgumentError
        If there is no such format, or an option does not fit it.
    InvalidDataError
        If the files are of another format, or of none.
    """
    options = options or Options()
    chosen = None if name == AUTO else format_named(name)
    documents = [
        open_document(path, separator=options.separator, decimal=options.decimal) for path in paths
    ]
    if chosen is None:
        said = options.separator or options.decimal
        given = "wide" if options.wide else "own" if said else ""
        chosen = format_named(given) if given else _recognised(documents)
    else:
        _check_recognised(chosen, documents, options)
    chosen.check_options(options)
    if len(documents) == 1:
        options = options.of_file(documents[0])
    elif chosen.joins_files and options.of_file(documents[0]) is not options:
        raise InvalidArgumentError(
            f"`--system` {options.system} needs a file for each system, and files of {chosen.name} "
            "belong together"
        )
    return chosen, _conversions(chosen, documents, options)


def _conversions(
    chosen: Format, documents: Sequence[ToolFile], options: Options
) -> list[Conversion]:
    """Convert; an error that names no file names the first, and semicolons are never silent."""
    paths = [document.path for document in documents]
    try:
        found = _read(chosen, documents, options)
    except InvalidDataError as error:
        if any(str(path) in str(error) for path in (*paths, options.raters_from) if str(path)):
            raise
        others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        raise InvalidDataError(f"{paths[0]}{others}: {error}", options=error.options) from error
    said = tuple(
        note
        for document in documents
        if document.table is not None
        for note in document.table.notes
    )
    return [replace(one, remarks=tuple(dict.fromkeys((*said, *one.remarks)))) for one in found]


def _read(chosen: Format, documents: Sequence[ToolFile], options: Options) -> list[Conversion]:
    if chosen.convert is not None:
        return chosen.convert(documents, options)
    assert chosen.read is not None
    gathered = Gathered(chosen.name, options)
    chosen.read(gathered, documents)
    return [gathered.conversion(way_out=chosen.way_out)]


def formats_of(document: ToolFile) -> list[Format]:
    """Return the formats that a document may have, by its content; wide tables and ours are not told.

    Examples
    --------
    >>> [one.name for one in formats_of(ToolFile(Path("x"), "json", {"testCases": []}))]
    ['deepeval']
    """
    every = (format_named(name) for name in FORMATS if name not in {"own", "wide"})
    return [one for one in every if one.recognises(document)]


def _recognised(documents: Sequence[ToolFile]) -> Format:
    """Return the one format that all files have."""
    found: dict[str, tuple[Format, ToolFile]] = {}
    unknown = []
    for document in documents:
        formats = formats_of(document)
        if len(formats) > 1:
            names = " and ".join(one.name for one in formats)
            raise InvalidDataError(
                f"{document.path}: looks like {names}: say which with --from {formats[0].name}"
            )
        if formats:
            found.setdefault(formats[0].name, (formats[0], document))
        else:
            unknown.append(document)
    if len(found) > 1:
        pairs = [f"{document.path} looks like {name}" for name, (_, document) in found.items()]
        raise InvalidDataError(f"{', '.join(pairs)}: convert files of each tool apart")
    for chosen, _ in found.values():
        if not unknown or chosen.companions:
            return chosen
    own = format_named("own")
    if not found and all(map(own.recognises, unknown)):
        return own
    # a table that is spoilt is refused as it would be elsewhere
    if unknown[0].refusal is not None and unknown[0].path.suffix.lower() in {".csv", ".tsv"}:
        raise unknown[0].refusal
    if unknown[0].kind in {"lines", "zip"}:
        open_table(unknown[0].path, label="outputs", contract=())
    raise _unknown(unknown[0])


def _unknown(document: ToolFile) -> InvalidDataError:
    way_out = f"name its format with --from ({', '.join(FORMATS)})"
    if document.kind == "table" and len(document.columns) > 1:
        way_out = "a wide table needs --wide PATTERN, such as '{rater}_{system}'; else " + way_out
    return InvalidDataError(f"{document.path}: not recognised: {document.contents}: {way_out}")


def _check_recognised(chosen: Format, documents: Sequence[ToolFile], options: Options) -> None:
    if chosen.name == "own" or (chosen.companions and any(map(chosen.recognises, documents))):
        return
    is_free = chosen.free_columns and "output" in options.columns
    for document in documents:
        if chosen.recognises(document) or (is_free and document.records):
            continue
        others = formats_of(document)
        if others:
            raise InvalidDataError(
                f"{document.path}: this is no file of {chosen.name}; it looks like {others[0].name}: "
                f"--from {others[0].name}"
            )
        raise InvalidDataError(
            f"{document.path}: this is no file of {chosen.name}, which has {chosen.expects}; it is "
            f"{document.contents}"
        )
