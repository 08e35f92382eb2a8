"""Where the judge is asked, and with which key."""

import math
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

from steelyard.errors import InvalidArgumentError, SteelyardError

__all__ = ["Endpoint", "EndpointError", "Sleep"]

Sleep = Callable[[float], Awaitable[None]]

# A shorter key is a dummy for a local server, and would be found in innocent words.
_SECRET_LENGTH = 8


class EndpointError(SteelyardError, ConnectionError):
    """The endpoint refuses or cannot be reached, and would again: the run was stopped."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An address, a key, and how patiently it is asked.

    Attributes
    ----------
    address : str
        Where questions are posted to.
    key : str or None
        The API key; not shown.
    key_name : str or None
        The environment variable that it came from.
    timeout : float
        Seconds that a reply may take, from the request to its last byte.
    max_retries : int
        How often a question is asked again after a passing failure.
    """

    address: str
    key: str | None = field(default=None, repr=False)
    key_name: str | None = None
    timeout: float = 60.0
    max_retries: int = 5

    @classmethod
    def of(
        cls,
        base: str,
        *,
        api_key_env: str | None = None,
        timeout: float = 60.0,
        max_retries: int = 5,
        environment: Mapping[str, str] = os.environ,
    ) -> Self:
        """Check what the user gave.

        Parameters
        ----------
        base : str
            The address before ``/chat/completions``, such as ``http://localhost:8000/v1``.
        api_key_env : str, optional
            The environment variable that holds the API key.
        timeout : float
            Seconds that a reply may take.
        max_retries : int
            How often to ask again.
        environment : mapping
            Where the variable is looked up.

        Raises
        ------
        InvalidArgumentError
            If one of them breaks its rule.

        Examples
        --------
        >>> Endpoint.of("http://localhost:8000/v1/").address
        'http://localhost:8000/v1/chat/completions'
        """
        if not (math.isfinite(timeout) and timeout > 0):
            raise InvalidArgumentError(f"`timeout` must be positive seconds; got {timeout}")
        if max_retries < 0:
            raise InvalidArgumentError(f"`max_retries` must be at least 0; got {max_retries}")
        return cls(
            address=_address(base),
            key=None if api_key_env is None else _key(api_key_env, environment),
            key_name=api_key_env,
            timeout=timeout,
            max_retries=max_retries,
        )

    def without_key(self, text: str) -> str:
        """Return a text that came from the endpoint, with the key blacked out."""
        if self.key is None or len(self.key) < _SECRET_LENGTH:
            return text
        return text.replace(self.key, "[key]")


def _address(base: str) -> str:
    try:
        parts = urlsplit(base)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname)
        # reading it checks it
        _ = parts.port
    except ValueError:
        is_address = False
    if not is_address:
        raise InvalidArgumentError(
            "`endpoint` must be an address such as http://localhost:8000/v1; got "
            f"{_without_password(base)!r}"
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidArgumentError(
            "`endpoint` must hold no user, password or query: give the key by api_key_env, the "
            f"name of an environment variable; got {_without_password(base).partition('?')[0]!r}"
        )
    return f"{base.strip().rstrip('/')}/chat/completions"


def _without_password(base: str) -> str:
    return re.sub(r"//[^/]*@", "//[password]@", base)


def _key(name: str, environment: Mapping[str, str]) -> str:
    key = environment.get(name, "").strip()
    if not key:
        raise InvalidArgumentError(
            f"`api_key_env` must name an environment variable that is set; {name} is not"
        )
    # Said here, without the key: the library that sends it would quote it.
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise InvalidArgumentError(
            f"`api_key_env`: {name} holds spaces or characters that no key has: set it again"
        )
    return key
