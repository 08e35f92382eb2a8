"""Where the judge is asked, and with which key."""

import math
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from steelyard.errors import InvalidArgumentError, SteelyardError

__all__ = ["Endpoint", "EndpointError", "Sleep"]

Sleep = Callable[[float], Awaitable[None]]

# A shorter key is a dummy for a local server, and would be found in innocent words.
_SECRET_LENGTH = 8
# Names in a query that hold a secret, which would stand in histories of shells and in lists of processes.
_SECRETS = ("key", "token", "secret", "password", "sig", "auth")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")


class EndpointError(SteelyardError, ConnectionError):
    """The endpoint refuses or cannot be reached, and would again: the run was stopped."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An address, a key, and how patiently it is asked.

    Attributes
    ----------
    address : str
        Where questions are posted to, without the query.
    query : str
        What stands behind the question mark.
    key : str or None
        The API key; not shown.
    key_name : str or None
        The environment variable that it came from.
    key_header : str
        The header that it is sent in.
    timeout : float
        Seconds that a reply may take, from the request to its last byte.
    max_retries : int
        How often a question is asked again after a passing failure.
    """

    address: str
    query: str = ""
    key: str | None = field(default=None, repr=False)
    key_name: str | None = None
    key_header: str = "Authorization"
    timeout: float = 60.0
    max_retries: int = 5

    @classmethod
    def of(
        cls,
        base: str,
        *,
        api_key_env: str | None = None,
        api_key_header: str = "Authorization",
        timeout: float = 60.0,
        max_retries: int = 5,
        environment: Mapping[str, str] = os.environ,
    ) -> Self:
        """Check what the user gave.

        Parameters
        ----------
        base : str
            The address before ``/chat/completions``, such as ``http://localhost:8000/v1``, with a
            query if the endpoint wants one.
        api_key_env : str, optional
            The environment variable that holds the API key.
        api_key_header : str
            The header that it is sent in.
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
        if not _HEADER.fullmatch(api_key_header):
            raise InvalidArgumentError(
                f"`api_key_header` must be the name of a header, such as api-key; got {api_key_header!r}"
            )
        address, query = _address(base)
        return cls(
            address=address,
            query=query,
            key_header=api_key_header,
            key=None if api_key_env is None else _key(api_key_env, environment),
            key_name=api_key_env,
            timeout=timeout,
            max_retries=max_retries,
        )

    @property
    def headers(self) -> dict[str, str]:
        """The header with the key; none if there is no key."""
        if self.key is None:
            return {}
        is_usual = self.key_header.lower() == "authorization"
        return {self.key_header: f"Bearer {self.key}" if is_usual else self.key}

    @property
    def full_address(self) -> str:
        """Where questions are posted to, with the query."""
        return f"{self.address}?{self.query}" if self.query else self.address

    def beside(self, path: str) -> str:
        """Return an address beside ``/chat/completions``, with the query.

        Examples
        --------
        >>> Endpoint.of("http://localhost:8000/v1?version=2").beside("files")
        'http://localhost:8000/v1/files?version=2'
        """
        base = self.address.removesuffix("chat/completions")
        joint = "&" if "?" in path else "?"
        return f"{base}{path}{joint}{self.query}" if self.query else f"{base}{path}"

    def without_key(self, text: str) -> str:
        """Return a text that came from the endpoint, with the key blacked out."""
        if self.key is None or len(self.key) < _SECRET_LENGTH:
            return text
        return text.replace(self.key, "[key]")


def _address(base: str) -> tuple[str, str]:
    try:
        parts = urlsplit(base.strip())
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
    names = [name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    if "@" in parts.netloc or parts.fragment or any(_is_secret(name) for name in names):
        raise InvalidArgumentError(
            "`endpoint` must hold no user, password or key: give the key by api_key_env, the "
            f"name of an environment variable; got {_without_password(base).partition('?')[0]!r}"
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return f"{parts.scheme}://{parts.netloc}{path}/chat/completions", parts.query


def _is_secret(name: str) -> bool:
    return any(word in name.replace("-", "_") for word in _SECRETS)


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
