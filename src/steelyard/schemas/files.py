"""What ``check``, ``score`` and ``judge`` print."""

from typing import Literal

from pydantic import Field

from steelyard.schemas.shape import Count, Number, Shape

__all__ = ["CheckForm", "JudgeForm", "ScoreForm"]


class Problem(Shape):
    """One kind of problem, counted, with the first examples."""

    problem: str
    count: Count
    of: Count
    examples: list[str]
    way_out: str
    stops: bool
    """Whether no command can go on with it."""


class File(Shape):
    """What is in one file."""

    file: str
    rows: Count
    columns: list[str]
    problems: list[Problem]
    options: list[str]
    """What a command must be given to read it."""
    tool: str | None
    """The tool that wrote it, where that can be told and it is not a file of ours."""
    human: list[str]
    """The columns of human scores, where it is one table that holds outputs too."""


class OutputsFile(File):
    """A file of outputs."""

    kind: Literal["outputs"]
    items: Count
    systems: dict[str, Count]
    metrics: list[str]
    texts: bool


class PerOutput(Shape):
    """Judgments of an output under a prompt."""

    mean: Number
    most: Count | None
    outputs_with_two: Count


class Scores(Shape):
    """The scores of judgments."""

    low: Number
    high: Number
    different: Count


class JudgmentsFile(File):
    """A file of judgments."""

    kind: Literal["judgments"]
    items: Count
    systems: dict[str, Count]
    raters: Count | None
    """null where there is no column of raters."""
    prompts: dict[str, Count] | None
    judged_outputs: Count
    judgments_per_output: PerOutput
    scores: Scores
    preferences: dict[str, list[Count]] = Field(default_factory=dict)
    """Wins, ties and losses of each system, where two outputs were compared."""


class OtherFile(File):
    """A file that must be converted or mended before it is of use."""

    kind: Literal["outputs", "judgments", "one table", "wide table", "another form"]
    first_rows: list[dict[str, str]] = Field(default_factory=list)
    """Its first cells as text, where it is a table."""
    may_be: dict[str, str] = Field(default_factory=dict)
    """What each of its columns may be."""


class CheckForm(Shape):
    """What is in files, what is wrong with them, and the next command."""

    files: list[OutputsFile | JudgmentsFile | OtherFile]
    problems: list[Problem]
    """What does not fit between the files."""
    usable: bool
    possible: list[str]
    next: str


class ScoreForm(Shape):
    """What was scored."""

    output: str
    rows: Count
    metrics: list[str]
    seconds: float
    rows_per_second: float
    resumed_from: Count
    not_scored: Count
    """Rows that could not be scored and were kept without values."""
    problem: str | None
    """Why the first of them could not."""


class Tokens(Shape):
    """Tokens that were sent and received."""

    sent: Count = Field(alias="in")
    received: Count = Field(alias="out")
    uncounted_replies: Count


class Mass(Shape):
    """Probability that a model puts on the scale."""

    mean: float
    least: float


class Order(Shape):
    """How much a judge prefers what it is shown first."""

    n_pairs: Count
    n_changed: Count
    first_share: float | None
    low: float | None
    high: float | None


class Judged(Shape):
    """What one language model scored by one rubric."""

    model: str
    rubric: str
    column: str
    n_outputs: Count
    n_missing: Count
    failures: dict[str, Count]
    asked: Count
    from_cache: Count
    requests: Count
    tokens: Tokens
    cost: float | None
    mass: Mass | None
    averaged_over_fewer: Count
    order: Order | None


class Forecast(Shape):
    """What would be asked."""

    n_outputs: Count
    n_unaskable: Count
    questions: Count
    from_cache: Count
    tokens_in: Count
    tokens_out: Count
    most_tokens_out: Count | None
    is_measured: bool
    cost: float | None


class Foreseen(Shape):
    """What one language model would be asked by one rubric."""

    model: str
    rubric: str
    column: str
    forecast: Forecast


class JudgedForm(Shape):
    """What was scored, for each rubric and model."""

    columns: list[Judged]


class ForeseenForm(Shape):
    """What would be asked, for each rubric and model; ``--dry-run``."""

    columns: list[Foreseen]


JudgeForm = JudgedForm | ForeseenForm
