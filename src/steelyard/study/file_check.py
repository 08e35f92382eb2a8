"""What a user's files are, what can be computed from them now, and the command that does it."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from steelyard.campaign.drawn_groups import drawn_groups
from steelyard.errors import InvalidDataError, SteelyardError
from steelyard.foreign import format_named
from steelyard.foreign.suggested import refusal
from steelyard.records import Output
from steelyard.study.recorded_draw import is_designed
from steelyard.study.study import Study
from steelyard.tables import Judgments, Outputs
from steelyard.tables.excel import filled_sheets
from steelyard.tables.problems import Problem, near_equal_names
from steelyard.tables.profile import FileProfile
from steelyard.tables.profiling import profile_file

__all__ = ["FileCheck", "check_files"]

_EXCEL = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"}


@dataclass(frozen=True, eq=False)
class FileCheck:
    """What a user's files are.

    Attributes
    ----------
    files : tuple of FileProfile
        Each file.
    problems : tuple of Problem
        What does not fit between outputs and judgments.
    possible : tuple of str
        What can be computed now, a sentence each; why not, where nothing can.
    command : str
        The next command, ready to be copied.
    """

    files: tuple[FileProfile, ...]
    problems: tuple[Problem, ...]
    possible: tuple[str, ...]
    command: str

    @property
    def usable(self) -> bool:
        """Whether nothing stops the next command."""
        found = [*self.problems, *(one for file in self.files for one in file.problems)]
        return not any(one.stops and not one.options for one in found)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "files": [one.to_dict() for one in self.files],
            "problems": [one.to_dict() for one in self.problems],
            "usable": self.usable,
            "possible": list(self.possible),
            "next": self.command,
        }


def check_files(
    paths: Sequence[Path],
    *,
    columns: Mapping[str, str] | None = None,
    separator: Mapping[str, str] | None = None,
    decimal: Mapping[str, str] | None = None,
    bounds: tuple[float, float] | None = None,
    options: Sequence[str] = (),
) -> FileCheck:
    """Look at files before anything is computed: what they are, what is wrong, what is next.

    Parameters
    ----------
    paths : sequence of path
        Files of outputs, judgments, or anything that can be opened.
    columns, separator, decimal
        As in `Study.read`, the latter two by file.
    bounds : (float, float), optional
        Least and greatest possible score.
    options : sequence of str
        What was said on the command line about how to read the files; the next command repeats it.

    Raises
    ------
    InvalidDataError
        If a file cannot be opened.
    """
    marks = list(dict.fromkeys((separator or {}).values()))
    sheets = [one for path in paths for one in _sheets(path)]
    files = tuple(
        profile_file(
            path,
            columns=columns,
            separator=marks[0] if marks else None,
            decimal=decimal,
            bounds=bounds,
        )
        for path in sheets
    )
    pools = [one for one in files if one.kind == "outputs"]
    judged = [one for one in files if one.kind == "judgments"]
    files = tuple(_beside(one, pools, judged) for one in files)
    if pools and judged and not judged[0].tool:
        return _campaign(files, pools[0], judged[0], list(options))
    worded = [one for one in judged if one.tool]
    if worded:
        return _conversion(
            files, worded, ("nothing yet: the scores are words: convert them first",)
        )
    if any(one.kind in {"wide table", "another form"} for one in files):
        return _foreign(files)
    if pools:
        possible, command = _pool_only(pools[0], list(options))
    else:
        possible = ("nothing yet: estimates need the outputs too, every output of every system",)
        command = shlex.join(["steelyard", "check", "OUTPUTS", judged[0].name, *options])
    return FileCheck(files, (), possible, command)


def _beside(file: FileProfile, *groups: list[FileProfile]) -> FileProfile:
    """Return a file with the problem that commands take another one of its kind, if they do."""
    first = next((group[0] for group in groups if file in group[1:]), None)
    if first is None:
        return file
    way_out = f"what follows is about {first.name}; put the rows into one file"
    problem = Problem(f"a second file of {file.kind}", 0, 0, way_out=way_out)
    return replace(file, problems=(*file.problems, problem))


def _sheets(path: Path) -> list[Path]:
    """Return every sheet of an Excel file that has several, and any other file as it is."""
    if not path.is_file() or path.stat().st_size == 0 or path.suffix.lower() not in _EXCEL:
        return [path]
    names = filled_sheets(path)
    return [Path(f"{path}#{name}") for name in names] if len(names) > 1 else [path]


def _foreign(files: tuple[FileProfile, ...]) -> FileCheck:
    """Return what to do with files that are not in our form: the conversion, tried without writing."""
    others = [one for one in files if one.kind in {"wide table", "another form"}]
    first = next((one for one in others if one.tool), others[0])
    if not first.tool:
        what = "a wide table" if first.kind == "wide table" else "not Steelyard's own form"
        command = ["steelyard", "convert", "--from", "auto", first.name, "--output", "converted"]
        possible = (f"nothing yet: {first.name} is {what}: convert it first",)
        return FileCheck(files, (), possible, shlex.join(command))
    title = format_named(first.tool).title
    possible = (f"nothing yet: {first.name} is to be converted first ({first.tool}: {title})",)
    return _conversion(files, [one for one in others if one.tool in {"", first.tool}], possible)


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
    problems = () if refused is None else (Problem(str(refused), 0, 0, stops=True),)
    command = ["steelyard", "convert", "--from", first.tool, *names, *first.conversion, *asked]
    return FileCheck(files, problems, possible, shlex.join([*command, "--output", "converted"]))


def _pool_only(pool: FileProfile, options: list[str]) -> tuple[tuple[str, ...], str]:
    given = [*options, *pool.options]
    if _stops(pool.problems):
        return ("nothing until the problems above are mended",), _again([pool], options)
    smallest = min(pool.counts["systems"].values(), default=0)
    possible = ["sample: draw the outputs to judge"]
    if not pool.counts["metrics"]:
        possible.append("score: add automatic metrics, which make intervals narrower")
    command = ["sample", pool.name, "-n", str(min(100, smallest)), "--seed", "1"]
    return tuple(possible), shlex.join(["steelyard", *command, *given, "-o", "sample.jsonl"])


def _campaign(
    files: tuple[FileProfile, ...], pool: FileProfile, judged: FileProfile, options: list[str]
) -> FileCheck:
    problems = [*pool.problems, *judged.problems]
    mending = [part for one in problems for part in one.options]
    given = [*options, *pool.options, *judged.options, *mending]
    again = _again([pool, judged], options)
    if _stops(problems):
        return FileCheck(files, (), ("nothing until the problems above are mended",), again)
    try:
        study = _study(pool.name, judged.name, given)
        between = _between(study.outputs, study.judgments)
        if not _stops(between):
            between += _chosen(study)
    except SteelyardError as error:
        between = [Problem(str(error), 0, 0, stops=True)]
    if _stops(between):
        reasons = ("nothing until the problems above are mended",)
        return FileCheck(files, tuple(between), reasons, again)
    verb = "compare" if _is_about_pairs(study) else "estimate"
    command = shlex.join(["steelyard", verb, pool.name, judged.name, *given])
    return FileCheck(files, tuple(between), tuple(_possible(study, pool, judged)), command)


def _again(files: Sequence[FileProfile], options: Sequence[str]) -> str:
    return shlex.join(["steelyard", "check", *(one.name for one in files), *options])


def _stops(problems: Sequence[Problem]) -> bool:
    return any(one.stops and not one.options for one in problems)


def _study(outputs: str, judgments: str, options: Sequence[str]) -> Study:
    """Read a study as the next command would."""
    pairs = list(zip(options[::2], options[1::2], strict=True))
    marks: dict[str, dict[str, str]] = {"--separator": {}, "--decimal": {}}
    columns = {}
    on_duplicate: Any = "error"
    for option, value in pairs:
        if option == "--column":
            ours, _, theirs = value.partition("=")
            columns[ours] = theirs
        elif option == "--on-duplicate":
            on_duplicate = value
        else:
            role, found, mark = value.partition(":")
            both = {"outputs": value, "judgments": value}
            marks[option] |= {role: mark} if found and role in both else both
    return Study.read(
        outputs,
        judgments,
        columns=columns,
        on_duplicate=on_duplicate,
        separator=marks["--separator"],
        decimal=marks["--decimal"],
    )


def _between(outputs: Outputs, judgments: Judgments) -> list[Problem]:
    """Return what does not fit: judged outputs that are not in the pool, nearly equal systems."""
    pool = outputs.rows(columns=list(Output.key))
    keys = judgments.frame.select(Output.key).unique(maintain_order=True)
    absent = keys.join(pool, on=Output.key, how="anti", maintain_order="left")
    problems = []
    if absent.height:
        item, system = absent.row(0)
        known = pool["item"][0]
        problems.append(
            Problem(
                f"judged outputs that are not in {outputs.name}",
                absent.height,
                keys.height,
                (f"item {item!r} of system {system!r}; an item there is {known!r}",),
                way_out="add them to the outputs, or make items and systems agree",
                stops=True,
            )
        )
        names = [*outputs.systems, *judgments.systems]
        problems += near_equal_names("system", names)
    return problems


def _is_about_pairs(study: Study) -> bool:
    """Whether every prompt asks which of two outputs is better."""
    return set(study.prompts) <= set(study.judgments.preference_prompts)


def _chosen(study: Study) -> list[Problem]:
    """Return the systems whose judged outputs do not look like a random sample, and groups drawn whole."""
    if _is_about_pairs(study):
        return []
    total = len(study.judged_pairs(None, None))
    problems = [
        Problem(f"{system}, {prompt}: {note}", 0, 0)
        for (prompt, system), note in list(study.imbalances.items())[:total]
    ]
    groups = None
    if not is_designed(study.judgments):
        groups = drawn_groups(study.outputs, study.judgments)
    return problems if groups is None else [*problems, Problem(groups.note, 0, 0)]


def _possible(study: Study, pool: FileProfile, judged: FileProfile) -> list[str]:
    preferred = study.judgments.preference_prompts
    asked = [f"compare: wins, ties and losses under {', '.join(preferred)}"] if preferred else []
    if _is_about_pairs(study):
        return asked
    metrics = study.metrics
    used = "the plain mean, because there are no metrics"
    if metrics:
        used = f"corrected by {metrics[0] if len(metrics) == 1 else f'{len(metrics)} metrics'}"
    found = [*asked, f"estimate: the mean human score of each system, {used}"]
    if len(study.systems) > 1:
        found.append("compare: which system is better")
    twice = judged.counts["judgments_per_output"]["outputs_with_two"]
    if not twice:
        found.append(
            "diagnose: not yet, because no output has two judgments: rater noise is unknown"
        )
    else:
        found.append("diagnose: what raters and metrics contribute; plan: how many more judgments")
    unjudged = [name for name in pool.counts["systems"] if name not in study.systems]
    if unjudged:
        found.append(f"nothing for systems without judgments: {', '.join(unjudged)}")
    return found
