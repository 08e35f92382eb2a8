"""What requests carry and answers say."""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from steelyard.collect.config.questionnaires import Part
from steelyard.collect.web.payloads import plain_json

__all__ = [
    "Answer",
    "Answered",
    "Assignment",
    "Consent",
    "Consented",
    "Corrected",
    "Draft",
    "HandBack",
    "HandedBack",
    "LastAnswer",
    "Left",
    "Name",
    "Next",
    "NextDone",
    "NextPaused",
    "NextQuestions",
    "NextTask",
    "NextTutorial",
    "NextWait",
    "NextWelcome",
    "Nothing",
    "Notice",
    "PlainText",
    "Progress",
    "Question",
    "Questionnaire",
    "Renewed",
    "Said",
    "Sent",
    "Submission",
    "Submitted",
    "TutorialReply",
    "TutorialState",
    "WayBack",
    "Welcome",
]

# What a browser can count exactly, and longer than any lease.
_MOST_MS = 10**12

Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")]
PlainText: TypeAlias = Annotated[str, AfterValidator(plain_json)]
Answer: TypeAlias = Annotated[
    dict[str, Any],
    AfterValidator(plain_json),
    Field(description="Answers by the id of their widget, as the task declares them."),
]


class Sent(BaseModel):
    """A request's body: nothing unknown, nothing converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Said(BaseModel):
    """An answer's body."""

    model_config = ConfigDict(frozen=True)


class Nothing(Sent):
    """An empty object."""


class Consent(Sent):
    """Whether a rater agrees to take part."""

    agreed: bool


class Draft(Sent):
    """Work in progress on an assignment."""

    assignment: Name
    answer: Answer
    active_ms: int = Field(ge=0, le=_MOST_MS)


class Submission(Sent):
    """A complete answer; the same `key` again is the same submission."""

    assignment: Name
    key: str = Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    answer: Answer
    active_ms: int = Field(ge=0, le=_MOST_MS)


class HandBack(Sent):
    """A text that the rater cannot judge, and why; a text that is skipped needs no reason."""

    assignment: Name
    kind: Literal["cannot-judge", "problem", "skip"]
    reason: PlainText = Field(default="", max_length=1_000)

    @model_validator(mode="after")
    def _has_a_reason(self) -> Self:
        if self.kind != "skip" and not self.reason.strip():
            raise ValueError("a reason is needed")
        return self


class Questionnaire(Sent):
    """Answers to the questions before the work, or at its end."""

    part: Part
    answer: Answer


class Question(Sent):
    """An answer to a question of the tutorial."""

    question: PlainText = Field(min_length=1, max_length=200)
    answer: Annotated[Any, AfterValidator(plain_json)]


class Assignment(Said):
    """A unit to judge: what is shown of it, and the work saved on it."""

    id: str
    content: dict[str, Any]
    shown: dict[str, Any] = Field(
        description="The fields that are shown, as trees: a text, or a tag, its attributes and children."
    )
    draft: dict[str, Any] | None
    active_ms: int
    expires: int


class Progress(Said):
    """How far this visit is."""

    done: int
    of: int | None
    earned: str | None


class WayBack(Said):
    """The way back to the panel."""

    method: Literal["GET", "POST"]
    url: str
    fields: dict[str, str]
    label: str


class Answered(Said):
    """A question of the tutorial that has been tried."""

    id: str
    correct: bool
    tries: int
    feedback: str | None


class TutorialState(Said):
    """How far the tutorial is."""

    version: str
    questions: int
    answered: list[Answered]
    passed: bool | None


class Welcome(Said):
    """What a rater is told first, and whether the rater agreed."""

    purpose: str
    consent: str | None
    terms: str
    agreed: bool | None


class NextWelcome(Said):
    """The first page comes before everything else."""

    status: Literal["welcome"] = "welcome"
    welcome: Welcome


class NextQuestions(Said):
    """Questions about the rater come first, or last."""

    status: Literal["questions"] = "questions"
    part: Part


class NextTask(Said):
    """Something to judge."""

    status: Literal["task"] = "task"
    assignment: Assignment
    progress: Progress


class NextTutorial(Said):
    """The tutorial comes first."""

    status: Literal["tutorial"] = "tutorial"
    tutorial: TutorialState


class NextWait(Said):
    """Nothing now, perhaps soon: others hold what is left."""

    status: Literal["wait"] = "wait"
    retry_seconds: int


class NextPaused(Said):
    """The campaign is paused."""

    status: Literal["paused"] = "paused"


class NextDone(Said):
    """The visit is over."""

    status: Literal["done"] = "done"
    reason: Literal[
        "session-complete",
        "rater-complete",
        "revoked",
        "no-consent",
        "screened-out",
        "none-left",
        "stopped",
        "tutorial-failed",
        "excluded",
        "enough",
    ]
    title: str
    message: str
    way_back: WayBack | None = Field(serialization_alias="return")


Next: TypeAlias = Annotated[
    NextWelcome | NextQuestions | NextTask | NextTutorial | NextWait | NextPaused | NextDone,
    Field(discriminator="status"),
]


class Renewed(Said):
    """A draft was kept, and the assignment with it."""

    expires: int


class Submitted(Said):
    """A submission is stored for good."""

    accepted: Literal[True] = True
    repeated: bool
    done: int
    earned: str | None
    feedback: str | None = None


class Consented(Said):
    """What the rater said is kept."""

    agreed: bool


class Left(Said):
    """The browser knows the rater no more."""

    left: Literal[True] = True


class Notice(Said):
    """What all raters are told now; empty if nothing is."""

    text: str


class HandedBack(Said):
    """A text was taken back."""

    accepted: Literal[True] = True


class LastAnswer(Said):
    """The last answer of this visit, to be changed; its assignment has it as the draft."""

    assignment: Assignment


class Corrected(Said):
    """The last answer was changed; the earlier one is kept."""

    accepted: Literal[True] = True


class TutorialReply(Said):
    """What the tutorial says to an answer."""

    correct: bool
    tries_left: int
    hint: str | None
    feedback: str | None
    passed: bool | None
    correct_answer: Any = None
