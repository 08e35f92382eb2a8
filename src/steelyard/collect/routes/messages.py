"""What requests carry and answers say."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from steelyard.collect.security.payloads import plain_json

__all__ = [
    "Added",
    "Answer",
    "Answered",
    "Assignment",
    "Decided",
    "Decision",
    "Draft",
    "Goal",
    "HandBack",
    "HandedBack",
    "InvitationList",
    "InvitationName",
    "Invitations",
    "Links",
    "More",
    "Next",
    "NextDone",
    "NextPaused",
    "NextTask",
    "NextTutorial",
    "NextWait",
    "Nothing",
    "Progress",
    "Question",
    "Renewed",
    "Standing",
    "State",
    "Submission",
    "Submitted",
    "TutorialReply",
    "TutorialState",
    "WayBack",
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


class _Sent(BaseModel):
    """A request's body: nothing unknown, nothing converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Said(BaseModel):
    """An answer's body."""

    model_config = ConfigDict(frozen=True)


class Nothing(_Sent):
    """An empty object."""


class Draft(_Sent):
    """Work in progress on an assignment."""

    assignment: Name
    answer: Answer
    active_ms: int = Field(ge=0, le=_MOST_MS)


class Submission(_Sent):
    """A complete answer; the same `key` again is the same submission."""

    assignment: Name
    key: str = Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    answer: Answer
    active_ms: int = Field(ge=0, le=_MOST_MS)


class HandBack(_Sent):
    """A text that the rater cannot judge, and why."""

    assignment: Name
    kind: Literal["cannot-judge", "problem"]
    reason: PlainText = Field(min_length=1, max_length=1_000)


class Question(_Sent):
    """An answer to a question of the tutorial."""

    question: PlainText = Field(min_length=1, max_length=200)
    answer: Annotated[Any, AfterValidator(plain_json)]


class Assignment(_Said):
    """A unit to judge: what is shown of it, and the work saved on it."""

    id: str
    content: dict[str, str | list[str]]
    draft: dict[str, Any] | None
    active_ms: int
    expires: int


class Progress(_Said):
    """How far this visit is."""

    done: int
    of: int | None
    earned: str | None


class WayBack(_Said):
    """The way back to the panel."""

    method: Literal["GET", "POST"]
    url: str
    fields: dict[str, str]
    label: str


class Answered(_Said):
    """A question of the tutorial that has been tried."""

    id: str
    correct: bool
    tries: int
    feedback: str | None


class TutorialState(_Said):
    """How far the tutorial is."""

    version: str
    questions: int
    answered: list[Answered]
    passed: bool | None


class NextTask(_Said):
    """Something to judge."""

    status: Literal["task"] = "task"
    assignment: Assignment
    progress: Progress


class NextTutorial(_Said):
    """The tutorial comes first."""

    status: Literal["tutorial"] = "tutorial"
    tutorial: TutorialState


class NextWait(_Said):
    """Nothing now, perhaps soon: others hold what is left."""

    status: Literal["wait"] = "wait"
    retry_seconds: int


class NextPaused(_Said):
    """The campaign is paused."""

    status: Literal["paused"] = "paused"


class NextDone(_Said):
    """The visit is over."""

    status: Literal["done"] = "done"
    reason: Literal[
        "session-complete",
        "rater-complete",
        "revoked",
        "none-left",
        "stopped",
        "tutorial-failed",
        "excluded",
        "enough",
    ]
    message: str
    way_back: WayBack | None = Field(serialization_alias="return")


Next: TypeAlias = Annotated[
    NextTask | NextTutorial | NextWait | NextPaused | NextDone, Field(discriminator="status")
]


class Renewed(_Said):
    """A draft was kept, and the assignment with it."""

    expires: int


class Submitted(_Said):
    """A submission is stored for good."""

    accepted: Literal[True] = True
    repeated: bool
    done: int
    earned: str | None
    feedback: str | None = None


class HandedBack(_Said):
    """A text was taken back."""

    accepted: Literal[True] = True


class TutorialReply(_Said):
    """What the tutorial says to an answer."""

    correct: bool
    tries_left: int
    hint: str | None
    feedback: str | None
    passed: bool | None
    correct_answer: Any = None


class State(_Sent):
    """What the campaign shall do."""

    state: Literal["running", "paused", "stopped"]


class Goal(_Sent):
    """The goal, from now on; what is not given stays. `unlimited` lifts the budget."""

    half_width: float | None = Field(default=None, gt=0, le=1e9, allow_inf_nan=False)
    budget: float | None = Field(default=None, gt=0, le=1e9, allow_inf_nan=False)
    unlimited: bool = False


class More(_Sent):
    """How many outputs of each system to add to the sample."""

    more: int = Field(ge=1, le=1_000_000)


PersonName: TypeAlias = Annotated[
    str,
    AfterValidator(plain_json),
    Field(min_length=1, max_length=100, pattern=r"^[^\s\x00-\x1f].*$"),
]


class Invitations(_Sent):
    """Whom to invite: people by name, or so many without one."""

    count: int = Field(default=0, ge=0, le=1_000)
    names: list[PersonName] = Field(default_factory=list, max_length=1_000)


class InvitationName(_Sent):
    """An invitation."""

    name: PersonName


class Links(_Said):
    """Invitations, one rater each, in the order of their names."""

    names: list[str]
    links: list[str]


class Invitation(_Said):
    """An invitation, with its link and what came of it."""

    name: str
    link: str
    created: int
    revoked: int | None
    rater: int | None
    judgments: int


class InvitationList(_Said):
    """All invitations by name."""

    invitations: list[Invitation]


class Standing(_Said):
    """What the campaign does and aims at from now on."""

    state: Literal["running", "paused", "stopped"]
    half_width: float | None
    budget: float | None
    sample_size: int


class Added(_Said):
    """What was added to the sample."""

    units: int
    sample_size: int


class Decided(_Said):
    """The decision that now counts."""

    about: Literal["estimate", "payment"]
    verdict: Literal["exclude", "include", "refuse", "pay"]
    reason: str


class Decision(_Sent):
    """What becomes of a rater's work."""

    rater: Name
    about: Literal["estimate", "payment"]
    verdict: Literal["exclude", "include", "refuse", "pay"]
    reason: PlainText = Field(min_length=1, max_length=1_000)
