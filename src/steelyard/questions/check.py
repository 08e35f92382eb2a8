"""What a user's files are, what can be computed from them now, and the command that does it."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from steelyard.campaign.files import StudyFiles
from steelyard.errors import InvalidDataError, SteelyardError
from steelyard.foreign import format_named
from steelyard.foreign.suggested import may_be_foreign, refusal, suggestion
from steelyard.questions.computable import (
    absent_outputs,
    chosen_outputs,
    computable,
    is_about_pairs,
    no_texts,
)
from steelyard.tables import Judgments, Outputs
from steelyard.tables.column_names import Columns, Role
from steelyard.tables.excel import sheets_of
from steelyard.tables.kinds import together
from steelyard.tables.problems import FileProblem
from steelyard.tables.profile import FileProfile, guessed_command, profile_file, unknown_form

__all__ = ["FileCheck", "check_files"]

_MEND = "nothing until the problems above are mended"


@dataclass(frozen=True, eq=False)
class FileCheck:
    """What a user's files are.

    Attributes
    ----------
    files : tuple of FileProfile
        Each file.
    problems : tuple of FileProblem
        What does not fit between outputs and judgments.
    possible : tuple of str
        What can be computed now, a sentence each; why not, where nothing can.
    command : str
        The next command, ready to be copied.
    usable : bool
        Whether nothing stops it.
    """

    files: tuple[FileProfile, ...]
    problems: tuple[FileProblem, ...]
    possible: tuple[str, ...]
    command: str

    usable: bool

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class _Reading:
    """How files are read, as it was said."""

    columns: Columns
    bounds: tuple[float, float] | None
    options: tuple[str, ...]

    def profile(self, path: Path, role: Role | None = None) -> FileProfile:
        """Return what is in a file; another tool's is not opened as a table."""
        # who says what the columns mean has a file in our form
        form = None if self.columns or role else suggestion(path)
        tool = "" if form is None else form.name
        if tool not in {"", "wide", "own"}:
            return FileProfile(str(path), "another form", tool=tool)
        try:
            found = profile_file(path, columns=self.columns, bounds=self.bounds, role=role)
        except InvalidDataError as error:
            if not path.is_file() or not may_be_foreign(path):
                raise
            return FileProfile(str(path), "another form", problems=(FileProblem(str(error), 0, 0),))
        if form is not None and (tool, found.kind) == ("wide", "wide table"):
            return replace(found, tool=tool, conversion=form.options)
        return found


def check_files(
    paths: Sequence[Path],
    *,
    columns: Columns | None = None,
    bounds: tuple[float, float] | None = None,
    options: Sequence[str] = (),
) -> FileCheck:
    """Look at files before anything is computed: what they are, what is wrong, what is next.

    Parameters
    ----------
    paths : sequence of path
        Files of outputs, judgments, or anything that can be opened.
    columns
        As in `Study.read`.
    bounds : (float, float), optional
        Least and greatest possible score.
    options : sequence of str
        What was said on the command line about how to read the files; the next command repeats it.

    Raises
    ------
    InvalidDataError
        If a file cannot be opened.
    """
    how = _Reading(columns or {}, bounds, tuple(options))
    sheets = [one for path in paths for one in sheets_of(path)]
    files = _with_roles(sheets, [how.profile(path) for path in sheets], how)
    pools = [one for one in files if one.kind == "outputs"]
    judged = [one for one in files if one.kind == "judgments"]
    files = tuple(_beside(one, pools, judged) for one in files)
    one_table = next((one for one in files if one.kind == "one table"), None)
    used = [*pools[:1], *judged[:1]] if judged else [one_table] if one_table else pools[:1]
    if any(one.options for file in used for one in file.problems):
        return _written_anew(files, used, how)
    if used and (len(used) == 2 or used[0].kind == "one table"):
        return _campaign(files, used, how)
    if any(one.kind in {"wide table", "another form"} for one in files):
        return _foreign(files)
    if pools:
        return _pool_only(files, pools[0], how)
    possible = ("nothing yet: estimates need the outputs too, every output of every system",)
    command = shlex.join(["steelyard", "check", "OUTPUTS", judged[0].name, *options])
    return _found(files, (), possible, command)


def _with_roles(
    paths: Sequence[Path], files: Sequence[FileProfile], how: _Reading
) -> tuple[FileProfile, ...]:
    """Return the files, each that could be outputs or judgments as what the others do not hold."""
    found = list(files)
    roles = together([one.kind for one in files])
    for place, (file, role) in enumerate(zip(files, roles, strict=True)):
        if role == file.kind or role not in {"outputs", "judgments"}:
            continue
        own = dict(how.columns)
        said: tuple[str, ...] = ()
        if role == "judgments" and "score" not in file.columns and len(file.human) == 1:
            own["judgments:score"] = file.human[0]
            said = ("--column", f"judgments:score={file.human[0]}")
        again = replace(how, columns=own).profile(paths[place], role)
        found[place] = replace(again, options=(*again.options, *said))
    return tuple(found)


def _beside(file: FileProfile, *groups: list[FileProfile]) -> FileProfile:
    """Return a file with the problem that commands take another one of its kind, if they do."""
    first = next((group[0] for group in groups if file in group[1:]), None)
    if first is None:
        return file
    way_out = f"what follows is about {first.name}; put the rows into one file"
    problem = FileProblem(f"a second file of {file.kind}", 0, 0, way_out=way_out)
    return replace(file, problems=(*file.problems, problem))


def _foreign(files: tuple[FileProfile, ...]) -> FileCheck:
    """Return what to do with files that are not in our form: the conversion, tried without writing."""
    others = [one for one in files if one.kind in {"wide table", "another form"}]
    first = next((one for one in others if one.tool), others[0])
    if first.tool:
        title = format_named(first.tool).title
        possible = (f"nothing yet: {first.name} is to be converted first ({first.tool}: {title})",)
        return _conversion(files, [one for one in others if one.tool in {"", first.tool}], possible)
    return _found(files, (), (unknown_form(first),), guessed_command(first))


def _conversion(
    files: tuple[FileProfile, ...], chosen: list[FileProfile], possible: tuple[str, ...]
) -> FileCheck:
    """Return the command that converts files of one tool, and why it would be refused."""
    first = next(one for one in chosen if one.tool)
    if not format_named(first.tool).companions:
        chosen = [one for one in chosen if one.tool and one.conversion == first.conversion]
    names = [one.name for one in chosen]
    refused = refusal([Path(name) for name in names], first.tool, first.conversion)
    asked = refused.options if isinstance(refused, InvalidDataError) else ()
    problems = () if refused is None else (FileProblem(str(refused), 0, 0, stops=True),)
    command = ["steelyard", "convert", "--from", first.tool, *names, *first.conversion, *asked]
    return _found(files, problems, possible, shlex.join([*command, "--output", "converted"]))


def _written_anew(
    files: tuple[FileProfile, ...],
    used: Sequence[FileProfile],
    how: _Reading,
    error: InvalidDataError | None = None,
) -> FileCheck:
    """Return the command that settles once how the files are to be read, and writes them so."""
    own = [one for file in used for one in file.problems]
    if _stops(own):
        return _found(files, (), (_MEND,), _again(used, how.options))
    odd = [file for file in used if any(one.options for one in file.problems)]
    if error is not None:
        odd = [file for file in used if str(error).startswith(file.name)] or list(used)
    human = (
        []
        if "score" in how.columns
        else [("--column", f"score={one}") for file in odd for one in file.human]
    )
    asked = [*human, *(one.options for file in odd for one in file.problems if one.options)]
    asked += [error.options] if error is not None else []
    given = [*how.options, *(part for one in odd for part in one.options)]
    given += [part for option in dict.fromkeys(asked) for part in option]
    command = ["steelyard", "convert", "--from", "own", *(one.name for one in odd), *given]
    problems = () if error is None else (FileProblem(str(error), 0, 0),)
    possible = ("nothing yet: first say how to read them, once for all commands",)
    return _found(files, problems, possible, shlex.join([*command, "--output", "converted"]))


def _pool_only(files: tuple[FileProfile, ...], pool: FileProfile, how: _Reading) -> FileCheck:
    if _stops(pool.problems):
        return _found(files, (), (_MEND,), _again([pool], how.options))
    smallest = min((pool.counts.systems or {}).values(), default=0)
    possible = ["sample: draw the outputs to judge; then serve: have people judge them"]
    if pool.counts.texts:
        possible.append("judge: ask an LLM for a score of every output, as a metric")
    if not pool.counts.metrics:
        possible.append("score: add automatic metrics, which make intervals narrower")
    command = ["sample", pool.name, "-n", str(min(100, smallest)), "--seed", "1"]
    command += [*how.options, *pool.options, "-o", "sample.jsonl"]
    try:
        problems = no_texts(_read([pool], how)[0])
    except SteelyardError as error:
        problems = [FileProblem(str(error), 0, 0, stops=True)]
    return _found(files, tuple(problems), tuple(possible), shlex.join(["steelyard", *command]))


def _campaign(
    files: tuple[FileProfile, ...], used: Sequence[FileProfile], how: _Reading
) -> FileCheck:
    """Return what can be computed from outputs and judgments, in two files or one."""
    own = [one for file in used for one in file.problems]
    again = _again(used, how.options)
    if _stops(own):
        return _found(files, (), (_MEND,), again)
    human = [] if "score" in how.columns else [one for file in used for one in file.human]
    given = [*how.options, *(part for one in used for part in one.options)]
    given += [part for one in human for part in ("--column", f"score={one}")]
    try:
        outputs, judgments, notes = _read(used, how)
        between = absent_outputs(outputs, judgments)
        if not _stops(between):
            between += [*chosen_outputs(outputs, judgments), *no_texts(outputs)]
            said = {one.what for one in own}
            between += [FileProblem(note, 0, 0) for note in notes if note not in said]
    except InvalidDataError as error:
        if error.options[:1] == ("--column",) and not {*error.options} <= {*given}:
            command = ["steelyard", "check", *(one.name for one in used), *given, *error.options]
            return _found(files, (FileProblem(str(error), 0, 0),), (_MEND,), shlex.join(command))
        if error.options:
            return _written_anew(files, used, how, error)
        between = [FileProblem(str(error), 0, 0, stops=True)]
    except SteelyardError as error:
        between = [FileProblem(str(error), 0, 0, stops=True)]
    if _stops(between):
        return _found(files, tuple(between), (_MEND,), again)
    verb = "compare" if is_about_pairs(judgments) else "estimate"
    command = ["steelyard", verb, *(one.name for one in used), *given]
    possible = computable(outputs, judgments)
    return _found(files, tuple(between), tuple(possible), shlex.join(command))


def _found(
    files: tuple[FileProfile, ...],
    problems: tuple[FileProblem, ...],
    possible: tuple[str, ...],
    command: str,
) -> FileCheck:
    """Return what was found, with whether something stops the next command."""
    stopping = [*problems, *(one for file in files for one in file.problems)]
    return FileCheck(files, problems, possible, command, usable=not _stops(stopping))


def _again(files: Sequence[FileProfile], options: Sequence[str]) -> str:
    return shlex.join(["steelyard", "check", *(one.name for one in files), *options])


def _stops(problems: Sequence[FileProblem]) -> bool:
    return any(one.stops and not one.options for one in problems)


def _read(used: Sequence[FileProfile], how: _Reading) -> tuple[Outputs, Judgments, tuple[str, ...]]:
    """Read outputs and judgments as the next command would."""
    columns = dict(how.columns)
    for file in used:
        for pair in file.options[1::2]:
            ours, _, theirs = pair.partition("=")
            columns[ours] = theirs
    human = used[0].human or None if len(used) == 1 else None
    if human is not None:
        columns.pop("score", None)
    files = StudyFiles(
        used[0].name,
        used[1].name if len(used) > 1 else None,
        columns={ours: str(theirs) for ours, theirs in columns.items()},
        human=human,
    )
    return files.read(None)
