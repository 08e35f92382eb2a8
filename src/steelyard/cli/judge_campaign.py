"""The questions of a campaign for ``steelyard judge``."""

from dataclasses import dataclass
from pathlib import Path

import click

from steelyard.errors import InvalidArgumentError, MissingDependencyError
from steelyard.judge import Rubric

__all__ = ["CampaignQuestions", "campaign_questions"]


@dataclass(frozen=True)
class CampaignQuestions:
    """What a campaign asks.

    Attributes
    ----------
    rubrics : list of Rubric
        Its questions.
    prompts : tuple of str
        The names of people's judgments, which no column may have.
    files : list of Path
        What belongs to the campaign, and is never written over.
    """

    rubrics: list[Rubric]
    prompts: tuple[str, ...]
    files: list[Path]


def campaign_questions(path: Path | None) -> CampaignQuestions:
    """Read the questions of a campaign file, and say which of them cannot be asked; none without a file.

    Raises
    ------
    InvalidArgumentError
        If none can be asked.
    """
    if path is None:
        return CampaignQuestions([], (), [])
    try:
        # they need the extra
        from steelyard.collect.config.campaign import load_campaign  # noqa: PLC0415
        from steelyard.collect.rubrics import task_rubrics  # noqa: PLC0415
    except ImportError as error:
        if error.name is None or error.name.startswith("steelyard"):
            raise
        raise MissingDependencyError(
            f"`--campaign` needs {error.name}: pip install 'steelyard[serve]'"
        ) from error
    campaign = load_campaign(path)
    found = task_rubrics(campaign.task)
    if not found.rubrics:
        reasons = "; ".join(f"{prompt}: {reason}" for prompt, reason in found.left_out.items())
        raise InvalidArgumentError(
            f"`--campaign` {path} asks nothing that one number or word answers ({reasons}): write a --rubric"
        )
    for prompt, reason in found.left_out.items():
        click.echo(f"steelyard: {path.name}: {prompt} is not asked: {reason}", err=True)
    files = [path, campaign.outputs]
    files += [campaign.sample] if isinstance(campaign.sample, Path) else []
    files += [campaign.gold.file] if campaign.gold is not None else []
    files += [Path(campaign.database)] if "://" not in campaign.database else []
    return CampaignQuestions(list(found.rubrics.values()), campaign.task.prompts, files)
