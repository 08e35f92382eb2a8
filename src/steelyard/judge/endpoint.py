"""Where the judge is asked, and with which key."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from steelyard.errors import InvalidArgumentError

__all__ = ["Endpoint"]

# A shorter key is a dummy for a local server, and would be found in innocent words.
_SECRET_LENGTH = 8
# Names in a query that hold a secret, which would stand in histories of shells and in lists of processes.
_SECRETS = ("key", "token", "secret", "password", "sig", "auth")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An address before ``/chat/completions`` and its query; a key, its variable, and its header."""

    base: str
    query: str = ""
    key: str | None = field(default=None, repr=False)
    key_name: str | None = None
    key_header: str = "Authorization"

    @classmethod
    def of(
        cls,
        base: str,
        *,
        api_key_env: str | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> Self:
        """Check what the user gave; see `steelyard.judge.judge`.

        Raises
        ------
        InvalidArgumentError
            If one of them breaks its rule.

        Examples
        --------
        >>> Endpoint.of("http://localhost:8000/v1/").address
        'http://localhost:8000/v1/chat/completions'
        """
        address, query = _address(base)
        if api_key_env is None:
            return cls(base=address, query=query)
        header, _, name = api_key_env.rpartition("=")
        if header and not _HEADER.fullmatch(header):
            raise InvalidArgumentError(
                f"`api_key_env` must be VAR, or HEADER=VAR as in api-key=AZURE_KEY; got {api_key_env!r}"
            )
        return cls(
            base=address,
            query=query,
            key=_key(name, environment),
            key_name=name,
            key_header=header or "Authorization",
        )

    @property
    def headers(self) -> dict[str, str]:
        """The header with the key; none if there is no key."""
        if self.key is None:
            return {}
        is_usual = self.key_header.lower() == "authorization"
        return {self.key_header: f"Bearer {self.key}" if is_usual else self.key}

    @property
    def key_words(self) -> str:
        """What is said about the key if access is refused."""
        return (
            f"the key in {self.key_name}"
            if self.key_name
            else "no key was sent: give `api_key_env`"
        )

    @property
    def address(self) -> str:
        """Where questions are sent, with the query."""
        query = f"?{self.query}" if self.query else ""
        return f"{self.base}/chat/completions{query}"

    def without_key(self, text: str) -> str:
        """Return a text that came from the endpoint, with the key blacked out."""
        if self.key is None or len(self.key) < _SECRET_LENGTH:
            return text
        return text.replace(self.key, "[key]")


def _address(base: str) -> tuple[str, str]:
    shown = re.sub(r"//[^/]*@", "//[password]@", base)
    try:
        parts = urlsplit(base.strip())
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname)
        # reading it checks it
        _ = parts.port
    except ValueError:
        is_address = False
    if not is_address:
        raise InvalidArgumentError(
            f"`endpoint` must be an address such as http://localhost:8000/v1; got {shown!r}"
        )
    names = [name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    has_secret = any(word in name.replace("-", "_") for word in _SECRETS for name in names)
    if "@" in parts.netloc or parts.fragment or has_secret:
        raise InvalidArgumentError(
            "`endpoint` must hold no user, password or key: give the key by api_key_env, the "
            f"name of an environment variable; got {shown.partition('?')[0]!r}"
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return f"{parts.scheme}://{parts.netloc}{path}", parts.query


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
