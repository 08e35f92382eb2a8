"""The panels that a campaign file can name."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from steelyard.collect.campaign_parts import Count, Text
from steelyard.collect.integrations.outgoing import web_address
from steelyard.collect.tasks.declared import Declared, mistake, shown

__all__ = [
    "ExternalQuestionPanel",
    "GenericPanel",
    "InvitationPanel",
    "OpenPanel",
    "Panel",
    "ProlificPanel",
    "ProlificPlaces",
]


class InvitationPanel(Declared):
    """Raters with a link of their own."""

    kind: Literal["invitation"]


class OpenPanel(Declared):
    """Anybody with the link; for trying out, and for people in one room."""

    kind: Literal["open"]


class ProlificPlaces(Declared):
    """How places of a study at Prolific are filled and paused through its API.

    Attributes
    ----------
    study : str
        Id of the study at Prolific.
    token_env : str
        Name of the environment variable with the token; the token itself stands in no file.
    most : int
        Most places that the study may ever have.
    at_once : int
        Places that may be open at the same time: places can be added, never taken away.
    address : str
        Where the API is.
    """

    study: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,100}$")]
    token_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    most: Count
    at_once: Count = 20
    address: Text = "https://api.prolific.com"

    @model_validator(mode="after")
    def _is_safe(self) -> Self:
        wrong = web_address(self.address, secret=True)
        if wrong is not None:
            raise mistake(("address",), f"{wrong}; got {shown(self.address)}")
        return self


class ProlificPanel(Declared):
    """Prolific: a rater goes back with a code.

    Attributes
    ----------
    completion_code, screen_out_code, excluded_code, no_consent_code : str
        Of a visit that was completed; of one that ended with the tutorial; of one that a rule ended;
        of one without consent. The last two are by default that of the tutorial.
    places : ProlificPlaces or None
        How the study's places are filled and paused; None: by hand.
    """

    kind: Literal["prolific"]
    completion_code: Text
    screen_out_code: Text | None = None
    excluded_code: Text | None = None
    no_consent_code: Text | None = None
    places: ProlificPlaces | None = None


class ExternalQuestionPanel(Declared):
    """The ExternalQuestion protocol; `hosts` may show the page and receive the form."""

    kind: Literal["external-question"]
    hosts: tuple[Text, ...] = Field(
        strict=False,
        min_length=1,
        default=("www.mturk.com", "workersandbox.mturk.com", "worker.mturk.com"),
    )


class GenericPanel(Declared):
    """Any panel that adds ids to a link and is returned to by one.

    Attributes
    ----------
    rater, session : str
        Names of the parameters that hold the panel's ids; `session` may be missing.
    return_to : str or None
        Where a rater goes at the end, with parameters in braces; the key is ``return``.
    screen_out : str or None
        Where a rater goes who failed the tutorial.
    excluded, no_consent : str or None
        Where a rater goes whom a rule excluded, and one who does not agree to take part; by default
        where those go who failed the tutorial.
    """

    kind: Literal["generic"]
    rater: Text
    session: Text | None = None
    return_to: Text | None = Field(alias="return", default=None)
    screen_out: Text | None = None
    excluded: Text | None = None
    no_consent: Text | None = None


Panel = Annotated[
    InvitationPanel | OpenPanel | ProlificPanel | ExternalQuestionPanel | GenericPanel,
    Field(discriminator="kind"),
]
