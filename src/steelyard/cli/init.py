"""``steelyard init``."""

import json
import shlex
from importlib.resources import as_file, files
from pathlib import Path

import click

from steelyard.cli.paths import InputPath
from steelyard.cli.serve import EXAMPLES
from steelyard.errors import InvalidArgumentError
from steelyard.tables import Outputs, read_outputs
from steelyard.tables.replacing import replacing

__all__ = ["init"]

_EXAMPLE = """\b
Examples:
  steelyard init our-campaign
  steelyard init our-campaign --outputs outputs.jsonl --task answer-correctness
"""


# Outputs of each system to judge, unless there are fewer.
_DRAWN = 60


@click.command(epilog=_EXAMPLE)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--outputs",
    type=InputPath(),
    help="Your outputs, which the campaign names; a small example by default.",
)
@click.option(
    "--task",
    type=click.Choice(EXAMPLES),
    default="language-quality",
    show_default=True,
    help="What raters are asked, to start from.",
)
def init(folder: Path, *, outputs: Path | None, task: str) -> None:
    """Write a commented campaign to a new folder: what is judged, by whom, until when.

    FOLDER gets campaign.yaml and task.yaml, to be changed as needed. Nothing there is written over.
    """
    if outputs is not None and not outputs.is_file():
        raise InvalidArgumentError(f"`--outputs` must be a file; there is no {outputs}")
    example = files("steelyard") / "collect" / "examples" / task
    with as_file(example / "outputs.jsonl") as own:
        sample = _sample(
            read_outputs(own if outputs is None else outputs), pairs=task == "pairwise"
        )
    named = "outputs.jsonl" if outputs is None else str(outputs.resolve())
    template = (files("steelyard.cli") / "templates" / "campaign.yaml").read_text("utf-8")
    written = {
        "campaign.yaml": template.replace("@OUTPUTS@", named).replace("@SAMPLE@", sample),
        "task.yaml": (example / "task.yaml").read_text("utf-8"),
    }
    if outputs is None:
        written["outputs.jsonl"] = (example / "outputs.jsonl").read_text("utf-8")
    there = [name for name in written if (folder / name).exists()]
    if there:
        raise InvalidArgumentError(
            f"FOLDER {folder} holds {' and '.join(there)} already, which is never written over: name "
            "another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in written.items():
        with replacing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    campaign = shlex.quote(str(folder / "campaign.yaml"))
    click.echo(
        f"Wrote {', '.join(written)} in {folder}. Look at campaign.yaml and task.yaml, then:\n"
        f"  steelyard serve {campaign}"
    )


def _sample(outputs: Outputs, *, pairs: bool) -> str:
    """Return what is drawn, as the campaign file has it."""
    drawn = {"n": min(_DRAWN, *outputs.sizes.values()), "seed": 1, "same_items": True}
    if pairs and len(outputs.systems) < 2:
        raise InvalidArgumentError(
            f"`--task pairwise` compares two systems; {outputs.name} has {len(outputs.systems)}"
        )
    return json.dumps(drawn | ({"systems": outputs.systems[:2]} if pairs else {}))
