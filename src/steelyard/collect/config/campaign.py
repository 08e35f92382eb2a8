"""Campaigns: everything about a collection that is settled before it starts, in one file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import Field, PrivateAttr, model_validator

from steelyard.collect.config.declared import Declared, declared, mistake, one_of, shown
from steelyard.collect.config.parts import (
    Documents,
    FilePath,
    Goal,
    Gold,
    Pay,
    Quality,
    Sample,
    SampleOrFile,
    Session,
    Text,
    WebAddress,
    Welcome,
)
from steelyard.collect.config.questionnaires import AnyQuestion, ScreeningQuestions
from steelyard.collect.config.wording import Wording, english, read_wording
from steelyard.collect.config.yaml_lines import Document, KeyPath, read_yaml
from steelyard.collect.fingerprint import fingerprint_of
from steelyard.collect.integrations.panels import AnyPanel, InvitationPanel
from steelyard.collect.tasks.consistency import check_questions
from steelyard.collect.tasks.task import Task, load_task, shipped_tasks
from steelyard.errors import InvalidDataError

__all__ = ["Campaign", "check_metrics", "load_campaign"]


class Campaign(Declared):
    """A campaign; made by `load_campaign`.

    Attributes
    ----------
    title : str
        What raters and the administrator see.
    outputs : Path
        The pool.
    task : Task
        What is asked; in the file, a task file or the name of a task that comes with Steelyard.
    sample : Sample or Path
        What to draw, or a sample that ``steelyard sample`` wrote.
    documents : Documents or None
        What makes outputs segments of documents; None: each stands alone.
    media : Path or None
        The folder with the files that a task shows.
    judgments_per_output : int
        Judgments of each output, by different raters.
    second_judgments : int
        Outputs of each system that get one more, chosen at random.
    metrics : tuple of str
        Columns of the outputs that correct the estimate.
    goal : Goal or None
        When to stop; None: when everything is judged.
    database : str
        Path of an SQLite file, or a URL that begins with ``postgresql://``.
    panel, session, pay, quality, gold, welcome
        See the classes of these names.
    screening : tuple of ScreeningQuestion
        Questions before the work; who answers one of them otherwise than accepted takes no part.
    exit_questions : tuple of Widget
        Questions at the end of a visit in which something was judged.
    lease_minutes : float
        Time for which an output is kept for a rater who was last heard of.
    public_url : str or None
        Where raters reach the server, if not where it listens.
    webhook : str or None
        Address that is told when the campaign stalls or ends.
    language : str
        Language of the pages that raters see: ``en``, ``de``, or a file of texts.
    directory : Path
        The folder of the campaign file.
    """

    gone = {  # noqa: RUF012 - a class variable of `Declared`
        "email": "set `webhook` to a service that writes e-mail or messages",
        "limits": "how large an answer may be follows from the texts; take it out",
        "link_days": "links hold for 90 days; take it out",
    }

    title: Text
    outputs: FilePath
    task: Task
    sample: SampleOrFile
    documents: Documents | None = None
    media: FilePath | None = None
    judgments_per_output: Annotated[int, Field(gt=0, le=100)] = 1
    second_judgments: Annotated[int, Field(ge=0)] = 0
    metrics: tuple[Text, ...] = Field(strict=False, default=())
    goal: Goal | None = None
    database: Text = "campaign.sqlite"
    panel: AnyPanel = InvitationPanel()
    session: Session = Session()
    pay: Pay = Pay()
    quality: Quality = Quality()
    gold: Gold | None = None
    lease_minutes: float = Field(default=10, gt=0, le=1440)
    welcome: Welcome | None = None
    screening: ScreeningQuestions = ()
    exit_questions: tuple[AnyQuestion, ...] = Field(strict=False, default=())
    public_url: str | None = None
    webhook: WebAddress | None = None
    language: Text = "en"

    _document: Document = PrivateAttr(default=Document("campaign", {}, {}))
    _directory: Path = PrivateAttr(default=Path())
    _fingerprint: str = PrivateAttr(default="")
    _wording: Wording | None = PrivateAttr(default=None)

    @property
    def directory(self) -> Path:
        """The folder of the campaign file."""
        return self._directory

    @property
    def fingerprint(self) -> str:
        """What a database is bound to: the pool, the draw, the questions and the scores.

        Wording, pay, goal, quality rules and limits may change while a campaign runs.
        """
        return self._fingerprint

    @property
    def wording(self) -> Wording:
        """What the pages say to raters."""
        return self._wording or english()

    @property
    def goal_prompts(self) -> tuple[str, ...]:
        """The prompts that the goal speaks of."""
        return (self.goal.prompts if self.goal else ()) or self.task.prompts

    @property
    def most_visits(self) -> int | None:
        """Visits of one participant; None: any number."""
        by_visit = self.panel.kind == "external-question"
        return self.session.visits or (None if by_visit else 1)

    @property
    def visit_judgments(self) -> int | None:
        """Judgments that a visit brings, if that is settled."""
        declared = (self.session.judgments, self.session.judgments_per_rater)
        return min((one for one in declared if one is not None), default=None)

    def with_task(self, task: Task) -> "Campaign":
        """Return the campaign with its task laid out in another way."""
        return self.model_copy(update={"task": task})

    def error(self, path: KeyPath, message: str) -> InvalidDataError:
        """Return an error at a key of the campaign file."""
        return self._document.error(path, message)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        _check_goal(self)
        paths: list[KeyPath] = [("exit_questions", at) for at in range(len(self.exit_questions))]
        check_questions(self.exit_questions, paths)
        _check_names(self.metrics, ("metrics",))
        if self.task.pair and isinstance(self.sample, Sample):
            if self.sample.systems is None or len(self.sample.systems) != 2:
                raise mistake(("sample", "systems"), "must name the two systems of the pairs")
            if not self.sample.same_items:
                raise mistake(("sample", "same_items"), "must be true: pairs share an item")
        if isinstance(self.sample, Sample) and self.second_judgments > self.sample.n:
            raise mistake(
                ("second_judgments",),
                f"must not exceed the {self.sample.n} outputs of each system; got "
                f"{self.second_judgments}: set judgments_per_output to judge all more often",
            )
        _check_documents(self)
        _check_screens(self)
        files = [one.field for one in self.task.show if one.format in {"image", "audio", "video"}]
        if files and self.media is None:
            raise mistake(("media",), f"must name the folder with the files of {files[0]}")
        if self.quality.gold_failures is not None and self.gold is None:
            raise mistake(("quality", "gold_failures"), "needs `gold`: there are no gold items")
        if self.public_url is not None:
            _check_url(self.public_url)
        return self


def load_campaign(path: str | Path) -> Campaign:
    """Read a campaign file and the task that it names.

    Parameters
    ----------
    path : str or Path
        The YAML file. Paths in it are relative to its folder.

    Returns
    -------
    Campaign
        With absolute paths.

    Raises
    ------
    InvalidDataError
        If a file is missing or has a mistake; the message names file, line and key.

    Examples
    --------
    >>> from importlib.resources import files
    >>> example = files("steelyard.collect") / "examples" / "language-quality" / "campaign.yaml"
    >>> load_campaign(str(example)).task.name
    'language-quality'
    """
    file = Path(path).absolute()
    document = read_yaml(file)
    named = document.data.get("task")
    found: dict[str, Any] = {}
    if isinstance(named, str):
        found["task"] = _task(document, named, file.parent)
    elif named is not None and not isinstance(named, dict):
        raise document.error(("task",), f"must be a file or a name; got {shown(named)}")
    campaign = _located(declared(Campaign, document, found), document, file.parent)
    campaign._fingerprint = fingerprint_of(campaign)  # noqa: SLF001
    return campaign


def check_metrics(campaign: Campaign, columns: Sequence[str]) -> None:
    """Raise unless every metric of a campaign is a numeric column of its outputs.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    columns : sequence of str
        The numeric columns of the outputs: ``read_outputs(campaign.outputs).metrics``.

    Raises
    ------
    InvalidDataError
        The message names file, line and key.
    """
    for position, name in enumerate(campaign.metrics):
        if name not in columns:
            raise campaign.error(
                ("metrics", position),
                f"{shown(name)} is no numeric column of {campaign.outputs.name}; "
                f"{one_of(name, columns)}",
            )


def _task(document: Document, named: str, folder: Path) -> Task:
    if named in shipped_tasks():
        return load_task(named)
    file = folder / named
    if not file.is_file():
        raise document.error(
            ("task",), f"there is no file {shown(named)}; {one_of(named, shipped_tasks())}"
        )
    return load_task(file)


def _located(campaign: Campaign, document: Document, folder: Path) -> Campaign:
    """Make paths absolute, and see that the files are there."""
    changed: dict[str, Any] = {"outputs": folder / campaign.outputs}
    wanted: list[tuple[KeyPath, Path]] = [(("outputs",), changed["outputs"])]
    if isinstance(campaign.sample, Path):
        changed["sample"] = folder / campaign.sample
        wanted.append((("sample",), changed["sample"]))
    if campaign.gold is not None:
        file = folder / campaign.gold.file
        changed["gold"] = campaign.gold.model_copy(update={"file": file})
        wanted.append((("gold", "file"), file))
    if campaign.media is not None:
        changed["media"] = folder / campaign.media
        if not changed["media"].is_dir():
            raise document.error(("media",), f"there is no folder {campaign.media} in {folder}")
    for path, file in wanted:
        if not file.is_file():
            raise document.error(path, f"there is no file {file.name} in {file.parent}")
    if "://" not in campaign.database:
        changed["database"] = str(folder / campaign.database)
    elif urlsplit(campaign.database).scheme.partition("+")[0] not in {"postgresql", "sqlite"}:
        # an address may hold a password: it is not repeated
        raise document.error(
            ("database",), "must be the path of a file, or an address that begins postgresql://"
        )
    located = campaign.model_copy(update=changed)
    located._document = document  # noqa: SLF001
    located._directory = folder  # noqa: SLF001
    located._wording = read_wording(document, campaign.language, folder)  # noqa: SLF001
    return located


def _check_goal(campaign: Campaign) -> None:
    goal, task = campaign.goal, campaign.task
    if goal is None:
        return
    for position, prompt in enumerate(goal.prompts):
        if prompt not in task.prompts:
            raise mistake(
                ("goal", "prompts", position),
                f"{shown(prompt)} is no prompt of the task {task.name}; "
                f"{one_of(prompt, task.prompts)}",
            )
    _check_names(goal.prompts, ("goal", "prompts"))
    if goal.decide is not None:
        if task.pair:
            raise mistake(
                ("goal", "decide"), "needs scores of outputs, and the task asks for pairs"
            )
        if isinstance(campaign.sample, Sample) and not campaign.sample.same_items:
            raise mistake(("sample", "same_items"), "must be true: systems race on the same items")


def _check_documents(campaign: Campaign) -> None:
    if campaign.documents is None:
        return
    if isinstance(campaign.sample, Path):
        raise mistake(("sample",), "must have n and seed: whole documents are drawn at the start")
    if campaign.task.pair:
        raise mistake(("documents",), "do not go with a task about pairs")
    if campaign.second_judgments:
        raise mistake(
            ("second_judgments",), "does not go with documents: set judgments_per_output instead"
        )
    if campaign.goal is not None and campaign.goal.decide is not None:
        raise mistake(("goal", "decide"), "does not go with documents: a race is over single items")


def _check_screens(campaign: Campaign) -> None:
    if not campaign.task.side_by_side:
        return
    if isinstance(campaign.sample, Sample) and not campaign.sample.same_items:
        raise mistake(
            ("sample", "same_items"), "must be true: a screen shows one item of all systems"
        )
    if campaign.documents is not None:
        raise mistake(
            ("documents",), "does not go with a task side by side, whose screens are single items"
        )
    if campaign.goal is not None and campaign.goal.decide is not None:
        raise mistake(
            ("goal", "decide"),
            "does not go with a task side by side, which shows a system to the end: set `half_width`",
        )


def _check_names(names: Sequence[str], path: KeyPath) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise mistake((*path, position), f"{shown(name)} is there twice: keep one")


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
        raise mistake(("public_url",), f"must be like https://example.org; got {shown(url)}")
