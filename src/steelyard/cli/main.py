"""The ``steelyard`` command: finds the subcommand, and turns errors into one line and a code."""

import io
import shlex
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from steelyard.errors import InvalidDataError, SteelyardError
from steelyard.version import __version__

__all__ = ["main"]

_COMMANDS = {
    "check": "What is in your files, what is wrong, and the next command.",
    "convert": "Files of other tools and papers as outputs and judgments.",
    "demo": "The whole loop on a built-in campaign with simulated raters.",
    "compare": "Which system is better: differences, ranks, groups, gates.",
    "diagnose": "Is the metric any use here? Is the question to the raters?",
    "estimate": "The mean human score of each system, beside the plain mean.",
    "judge": "Score outputs with a language model.",
    "monitor": "Stop or go on? An interval that may be looked at all the time.",
    "paper": "Every table and figure of the paper, from its released data.",
    "plan": "Judgments and price for a goal, from a pilot or typed variances.",
    "report": "One self-contained HTML file with everything.",
    "sample": "Draw outputs to judge, with recorded probabilities.",
    "score": "Add automatic metrics to outputs.",
    "serve": "Collect judgments in the browser, and watch the estimate tighten.",
    "simulate": "Replay a finished campaign under plans and stopping rules.",
    "trajectory": "Interval length and data efficiency against the number of judgments.",
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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: steelyard demo",
)
@click.version_option(__version__, prog_name="steelyard")
def steelyard() -> None:
    """Tell how good a text-generation system is in human eyes.

    A few human judgments and an automatic metric on every output give the mean human score,
    unbiased and with an honest interval.
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; exit 2 for bad use or data, 130 if stopped, 1 for any other failure."""
    if sys.stdout is None:
        # closed by whoever started us: what is printed is not wanted
        sys.stdout = io.StringIO()
    try:
        code: Any = steelyard.main(arguments, prog_name="steelyard", standalone_mode=False)
    except SteelyardError as error:
        words = " ".join(str(error).split())
        _fail(words + _command_with(error, sys.argv[1:] if arguments is None else arguments), 2)
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
