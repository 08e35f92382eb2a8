"""The ``steelyard`` command: finds the subcommand, and turns errors into one line and a code."""

import io
import shlex
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click

from steelyard.errors import InvalidDataError, SteelyardError
from steelyard.version import __version__

__all__ = ["main"]

# In the order of a campaign.
_COMMANDS = {
    "demo": "The whole loop on a built-in campaign with simulated raters.",
    "check": "What is in your files, what is wrong, and the next command.",
    "convert": "Files of other tools and papers as outputs and judgments.",
    "plan": "Judgments and price for a goal, from a pilot or typed variances.",
    "sample": "Draw outputs to judge, with recorded probabilities.",
    "score": "Add automatic metrics to outputs.",
    "judge": "Score outputs with a language model.",
    "serve": "Collect judgments in the browser, and watch the estimate tighten.",
    "monitor": "Are the judgments enough? Answers that may be looked at all the time.",
    "estimate": "The mean human score of each system, beside the plain mean.",
    "compare": "Which system is better: differences, ranks, groups, gates.",
    "diagnose": "Is the metric any use here? Is the question to the raters?",
    "report": "One self-contained HTML file with everything.",
    "replay": "What fewer judgments, or another rule, would have shown in a finished campaign.",
    "paper": "Every table and figure of the paper, from its released data.",
}

# 128 and the number of the signal that Ctrl-C sends, as shells have it
_STOPPED = 130


class _Commands(click.Group):
    """Loads a command's module when the command is used, so that ``--help`` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(import_module(f"steelyard.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], _COMMANDS, n=1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


# What does the work of an option that is not there any more; of all commands, or of one.
_FORMER = {
    "--human": "--column score=COLUMN says which column of one table holds the scores of people",
    "--cluster-by": "--column cluster=COLUMN names the cluster of an output",
    "--average": "--weights PROMPT=X,… without --by averages prompts",
    "--bands": "--by COLUMN=X,Y cuts numbers",
    "--exclude-system": "--system -NAME leaves one out",
    "--exclude-metric": "--metric -NAME leaves one out",
    "--no-metric": "--metric none uses no metric",
    "--separator": "steelyard convert FILE --from own --separator … -o FOLDER writes it anew, once for all commands",
    "--decimal": "steelyard convert FILE --from own --decimal … -o FOLDER writes it anew, once for all commands",
    "--on-duplicate": "steelyard convert FILE --from own --on-duplicate … -o FOLDER settles it, once for all commands",
    "--fill": "steelyard convert FILE --from own --fill … -o FOLDER fills it, once for all commands",
    "score --reference": "--column reference=COLUMN names the references",
    "score --output-column": "--column output=COLUMN names the outputs",
    "serve --metrics-token-env": "/healthz and /readyz say whether the server works; it counts no requests",
    "serve --log-format": "the log has warnings and errors, in lines of words",
    "check --output": "redirect what is printed: steelyard check FILE > report.txt",
    "serve --outputs": "steelyard serve --new FOLDER OUTPUTS names them",
    "--target": "--about new-outputs gives intervals for new outputs; these are the default",
    "--raters": "--about these-raters gives intervals for exactly these; raters like these are the default",
    "diagnose --gate": "--worth X or --offset X makes the exit code the answer",
    "--json": "this command prints no result; check, estimate, compare, diagnose, monitor and plan have --json",
    **dict.fromkeys(
        [
            "--size",
            "--undecided",
            "--same-items",
            "--output-price",
            "--look",
            "--bounds",
            "--earlier",
            "--level",
            "--seed",
        ],
        "this command has it in Python only, where the function of its name takes it",
    ),
}

_LOOP = """\
Steelyard shows which text-generation system people find better, by how much, and how sure that is.

  Try it on a built-in campaign         steelyard demo
  You have outputs or judgments         steelyard check FILES
  You have files of another tool        steelyard convert --from auto FILES --output FOLDER
  You want to collect judgments         steelyard serve --new FOLDER

The loop: plan, sample, score, serve, monitor, estimate, compare, report.
All commands: steelyard --help        One command: steelyard COMMAND --help
Tab completion: eval "$(_STEELYARD_COMPLETE=bash_source steelyard)", or zsh_source, fish_source"""


# Arguments in Python, labels or numbers of each judgment, that are not what the options of these names are.
_OTHER_MEANING = frozenset({"raters", "metric", "metrics", "items"})


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: steelyard demo",
)
@click.version_option(__version__, prog_name="steelyard")
@click.pass_context
def steelyard(context: click.Context) -> None:
    """Show which text-generation system people find better, by how much, and how sure that is.

    A few human judgments and automatic metrics on every output give the mean human score,
    unbiased and with an honest interval.
    """
    if context.invoked_subcommand is None:
        click.echo(_LOOP)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; exit 2 for bad use or data, 130 if stopped, 1 for any other failure."""
    if sys.stdout is None:
        # closed by whoever started us: what is printed is not wanted
        sys.stdout = io.StringIO()
    try:
        code: Any = steelyard.main(arguments, prog_name="steelyard", standalone_mode=False)
    except SteelyardError as error:
        given = sys.argv[1:] if arguments is None else arguments
        words = " ".join(str(error).split())
        # In errors of data the same names are columns.
        if not isinstance(error, InvalidDataError):
            words = _in_option_names(words, given)
        _fail(words + _command_with(error, given), 2)
    except click.NoSuchOption as error:
        where = error.ctx.command_path if error.ctx else "steelyard"
        _fail(f"{_no_such_option(error, where)} See: {where} --help", 2)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "steelyard"
        _fail(f"{error.format_message()} See: {where} --help", 2)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except click.Abort:
        _fail("stopped", _STOPPED)
    except OSError as error:
        _fail(str(error), 1)
    sys.exit(code if isinstance(code, int) else 0)


def _no_such_option(error: click.NoSuchOption, where: str) -> str:
    """Return what to do instead of an option that is not there any more, or what click says."""
    name = error.option_name
    instead = _FORMER.get(f"{where.rpartition(' ')[2]} {name}", _FORMER.get(name))
    return f"{name} is no option any more: {instead}." if instead else error.format_message()


def _in_option_names(words: str, arguments: list[str]) -> str:
    """Return an error in the names of the command's options instead of Python's arguments."""
    command = steelyard.get_command(click.Context(steelyard), arguments[0]) if arguments else None
    words = words.replace("`average`", "`--weights`").replace("`path`", "`--output`")
    for one in command.params if command is not None else ():
        name, option = str(one.name), max(one.opts, key=len)
        if option.startswith("-") and name not in _OTHER_MEANING:
            # What follows are names from the files.
            rule, among, names = words.partition(" must be among ")
            words = rule.replace(f"`{name}`", f"`{option}`") + among + names
    return words


def _command_with(error: SteelyardError, arguments: list[str]) -> str:
    """Return the command with what it lacks, ready to be copied, where the error knows it."""
    options = error.options if isinstance(error, InvalidDataError) else ()
    command = steelyard.get_command(click.Context(steelyard), arguments[0]) if options else None
    if command is None or not any(options[0] in one.opts for one in command.params):
        return ""
    return f"; run: {shlex.join(['steelyard', *arguments, *options])}"


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"steelyard: {message}", err=True)
    sys.exit(code)
