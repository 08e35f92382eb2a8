"""What requests of the administrator carry."""

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from steelyard.collect.web.messages import Name, PlainText, Sent, plain_json

__all__ = [
    "Decision",
    "Goal",
    "HandBacks",
    "InvitationName",
    "Invitations",
    "More",
    "RaterMessage",
    "State",
]

PersonName: TypeAlias = Annotated[
    str,
    AfterValidator(plain_json),
    Field(min_length=1, max_length=100, pattern=r"^[^\s\x00-\x1f].*$"),
]


class State(Sent):
    """What the campaign shall do."""

    state: Literal["running", "paused", "stopped"]


class Goal(Sent):
    """The goal, from now on; what is not given stays. `unlimited` lifts the budget."""

    half_width: float | None = Field(default=None, gt=0, le=1e9, allow_inf_nan=False)
    budget: float | None = Field(default=None, gt=0, le=1e9, allow_inf_nan=False)
    unlimited: bool = False


class RaterMessage(Sent):
    """What all raters are told from now on; empty: nothing any more."""

    text: PlainText = Field(max_length=1_000)


class More(Sent):
    """How many outputs of each system to add to the sample."""

    more: int = Field(ge=1, le=1_000_000)


class Invitations(Sent):
    """Whom to invite: people by name, or so many without one."""

    count: int = Field(default=0, ge=0, le=1_000)
    names: list[PersonName] = Field(default_factory=list, max_length=1_000)

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        if not self.count and not self.names:
            raise ValueError("invite at least one")
        return self


class InvitationName(Sent):
    """An invitation."""

    name: PersonName


class HandBacks(Sent):
    """Whose texts that were handed back shall be judged again."""

    rater: Name


class Decision(Sent):
    """What becomes of a rater's work."""

    rater: Name
    about: Literal["estimate", "payment"]
    verdict: Literal["exclude", "include", "refuse", "pay"]
    reason: PlainText = Field(min_length=1, max_length=1_000)
