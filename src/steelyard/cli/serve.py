"""``steelyard serve``."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.errors import InvalidArgumentError, MissingDependencyError

if TYPE_CHECKING:
    from steelyard.collect.config.campaign import Campaign
    from steelyard.collect.web.campaigns import Served

__all__ = ["serve"]

EXAMPLES = (
    "language-quality",
    "answer-correctness",
    "pairwise",
    "direct-assessment",
    "esa",
    "mqm",
    "side-by-side",
)
_ADVICE = {
    "invitation": "Open the rater link and judge a few texts; make one for each rater on the admin page.",
    "open": "Open the rater link and judge a few texts; everybody may use it, each in an own browser.",
    "prolific": "Paste the rater link into the study at Prolific, with its placeholders.",
    "external-question": "Put the rater link into the ExternalURL of the question.",
    "generic": "Give the rater link to the panel, which fills in the dots.",
}
_RENEWED = """\
{title}: the secret is renewed. No link, login or visit from before works any more; what was judged
stays. Stop the server if it is running, and start it again for new links. Raters who were at work
need a new link too."""
_EXAMPLE = """\b
Examples:
  steelyard serve --example language-quality
  steelyard serve --new ours outputs.jsonl
  steelyard serve campaign.yaml
  steelyard serve campaign.yaml --port 9000 --processes 4
  steelyard serve campaigns/
  steelyard serve campaign.yaml --renew-secret
"""


@click.command(epilog=_EXAMPLE)
@click.argument(
    "campaigns",
    type=click.Path(path_type=Path),
    nargs=-1,
    metavar="[CAMPAIGN]... or, with --new, [OUTPUTS]",
)
@click.option(
    "--example",
    type=click.Choice(EXAMPLES),
    help="Copy this complete campaign to a folder of its name and serve it; with --new, start from it.",
)
@click.option(
    "--new",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write a commented campaign.yaml and task.yaml there, about the outputs that are named, and end.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    help="Port to listen at.",
)
@click.option(
    "--processes",
    type=int,
    default=1,
    show_default=True,
    help="Server processes; more than one needs PostgreSQL.",
)
@click.option(
    "--renew-secret",
    is_flag=True,
    help="Make all links and logins given out so far worthless, and end.",
)
def serve(
    campaigns: tuple[Path, ...],
    *,
    example: str | None,
    new: Path | None,
    host: str,
    port: int,
    processes: int,
    renew_secret: bool,
) -> None:
    """Collect judgments in the browser, and watch the estimate tighten.

    CAMPAIGN is a YAML file that names the outputs, the task and the goal; or a folder with campaign.yaml in
    it, or in each of its folders. Several are served by one server, each below its name. Prints a link for raters,
    one for whoever runs the campaign, and one for those who only look. Everything is kept in the campaign's database: stop
    with Ctrl-C and run the same command again to go on. /healthz and /readyz say whether the server is
    there and can work.
    """
    about = () if new is None else campaigns
    campaigns = campaigns if new is None else ()
    _check_use(
        campaigns, about, is_new=example is not None or new is not None, renewed=renew_secret
    )
    try:
        # they need the extra
        from steelyard.collect.config.new_campaign import copy_example, write_campaign  # noqa: PLC0415
        from steelyard.collect.web import serving  # noqa: PLC0415
    except ImportError as error:
        if error.name is None or error.name.startswith("steelyard"):
            raise
        raise MissingDependencyError(
            f"steelyard serve needs {error.name}: pip install 'steelyard[serve]'"
        ) from error
    if new is not None:
        written = write_campaign(
            new, outputs=next(iter(about), None), example=example or EXAMPLES[0]
        )
        click.echo(
            f"Wrote {', '.join(written)} in {new}. Look at campaign.yaml and task.yaml, then:\n"
            f"  steelyard serve {shlex.quote(str(new / 'campaign.yaml'))}"
        )
        return
    if example is not None:
        campaigns = (copy_example(example, Path(example)),)
    if renew_secret:
        for place in serving.campaign_files(campaigns):
            click.echo(_RENEWED.format(title=serving.renew_secret(place.path).title))
        return
    serving.serve(
        campaigns,
        host=host,
        port=port,
        processes=processes,
        announce=_announce,
    )
    click.echo("Stopped. The same command goes on from here.")


def _check_use(
    campaigns: Sequence[Path], outputs: Sequence[Path], *, is_new: bool, renewed: bool
) -> None:
    """Raise unless it is clear which campaign is meant."""
    if len(outputs) > 1 or not all(one.is_file() for one in outputs):
        raise InvalidArgumentError(
            f"`--new` takes one file of outputs; got {', '.join(map(str, outputs))}"
        )
    if bool(campaigns) == is_new:
        raise InvalidArgumentError(
            "give either a campaign file, `--example` with a name or `--new` with a folder"
        )
    if renewed and not campaigns:
        raise InvalidArgumentError("`--renew-secret` is for a campaign file, not for a new one")


def _announce(served: "Sequence[Served]") -> None:
    lines = _of_one(served[0]) if len(served) == 1 and served[0].links else _of_many(served)
    click.echo("\n".join([*lines, "Stop with Ctrl-C."]))


def _of_one(served: "Served") -> list[str]:
    campaign = served.campaign
    assert campaign is not None
    return [
        campaign.title,
        "",
        *_links(served),
        "",
        *_laid_out(served),
        _ADVICE[campaign.panel.kind],
        "The admin page shows the estimate as it tightens, and says when to stop. Give that link to",
        "nobody: whoever has it runs the campaign. Who has the viewer link sees the same and changes nothing.",
        *_what_then(campaign),
    ]


def _of_many(served: "Sequence[Served]") -> list[str]:
    lines = []
    for one in served:
        if one.campaign is None:
            lines += [f"{one.name}: not served. {one.trouble}", ""]
        else:
            lines += [f"{one.name}: {one.campaign.title}", *_links(one)]
            lines += [*_laid_out(one), ""]
    return [
        *lines,
        "Give the rater links to raters or their panels, and the admin links to nobody else: whoever has one",
        "runs that campaign. Who has a viewer link sees the same and changes nothing.",
    ]


def _laid_out(served: "Served") -> list[str]:
    fields = served.as_markdown
    if not fields:
        return []
    return [
        f"Markdown is laid out in {', '.join(fields)}, whose texts look like it. Set `format: text` in the task",
        "to show them as they stand, or `format: markdown` to be free of this line.",
    ]


def _links(served: "Served") -> list[str]:
    return [f"  {people:6}  {link}" for people, link in served.links.items()]


def _what_then(campaign: "Campaign") -> list[str]:
    if campaign.task.pair:
        # `steelyard estimate` knows pools of outputs, not of pairs
        return ["The estimates of preferences are there too; judgments.jsonl has the judgments."]
    return [
        "Later, download judgments.jsonl from the admin page, and:",
        f"  {_next_command(campaign)}",
    ]


def _next_command(campaign: "Campaign") -> str:
    outputs, here = campaign.outputs, Path.cwd()
    shown = outputs.relative_to(here) if outputs.is_relative_to(here) else outputs
    prompt = campaign.goal_prompts[0]
    # orders are preferences, which are compared
    ranked = [score.prompt for score in campaign.task.scores if score.rule == "rank"]
    words = ["steelyard", "compare" if prompt in ranked else "estimate"]
    words += [str(shown), "judgments.jsonl", "--prompt", prompt]
    for name in campaign.metrics:
        words += ["--metric", name]
    return shlex.join(words)
