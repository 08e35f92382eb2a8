"""Whom to tell when a campaign stalls or ends, as a campaign file says it."""

import re
from typing import Literal, Self

from pydantic import Field, model_validator

from steelyard.collect.campaign_parts import Text
from steelyard.collect.outgoing import LOOPBACK, web_address
from steelyard.collect.tasks.declared import Declared, mistake

__all__ = ["Email", "Webhook"]

# One address without words around it: nothing in it can add a header or a receiver.
_ADDRESS = re.compile(r"[^\s@<>,;:\"()]+@[A-Za-z0-9.-]+")


class Webhook(Declared):
    """Whom to tell when a campaign stalls or ends.

    Attributes
    ----------
    url : str
        Where JSON is sent.
    stall_minutes : float
        Time without a judgment after which a campaign that is open counts as stalled.
    """

    url: Text
    stall_minutes: float = Field(default=60, ge=1, le=100_000)

    @model_validator(mode="after")
    def _is_address(self) -> Self:
        wrong = web_address(self.url)
        if wrong is not None:
            # it may hold a secret: it is not repeated
            raise mistake(("url",), wrong)
        return self


class Email(Declared):
    """Whom to write to when a campaign stalls or ends, by which mail server.

    Attributes
    ----------
    host : str
        The mail server.
    port : int or None
        Its port; by default that of `security`.
    security : {"starttls", "tls", "none"}
        How the connection is kept from others.
    sender : str
        Address of the sender.
    to : tuple of str
        Addresses of the receivers.
    user, password_env : str or None
        Who logs in there, and the environment variable with the password.
    stall_minutes : float
        Time without a judgment after which a campaign that is open counts as stalled.
    """

    host: Text
    port: int | None = Field(default=None, ge=1, le=65_535)
    security: Literal["starttls", "tls", "none"] = "starttls"
    sender: Text = Field(alias="from")
    to: tuple[Text, ...] = Field(strict=False, min_length=1, max_length=20)
    user: Text | None = None
    password_env: Text | None = None
    stall_minutes: float = Field(default=60, ge=1, le=100_000)

    @property
    def mail_port(self) -> int:
        """The port to ask at."""
        return self.port or {"starttls": 587, "tls": 465, "none": 25}[self.security]

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        for key, address in (("from", self.sender), *(("to", one) for one in self.to)):
            if not _ADDRESS.fullmatch(address):
                raise mistake((key,), f"must be like name@example.org; got {address!r}")
        if (self.user is None) != (self.password_env is None):
            there, lacking = ("user", "password_env") if self.user else ("password_env", "user")
            raise mistake((there,), f"needs `{lacking}` beside it")
        if self.user and self.security == "none" and self.host not in LOOPBACK:
            raise mistake(
                ("security",), "must be starttls or tls where a password is sent to another machine"
            )
        return self
