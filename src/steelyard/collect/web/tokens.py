"""Signed tokens that expire, each good for one purpose in one campaign."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from hmac import compare_digest
from typing import Literal, TypeAlias, get_args

from itsdangerous import BadData, Signer, URLSafeSerializer

from steelyard.collect.config.wording import phrase
from steelyard.errors import SteelyardError

__all__ = ["InvalidTokenError", "Keys", "Purpose", "Token"]

Purpose: TypeAlias = Literal["invitation", "panel", "rater", "left", "admin-link", "admin"]

# Signatures that a process remembers, so that a rater's hundred requests cost one check.
_REMEMBERED = 4096
# No token of ours is longer; a longer one is not worth a check.
_LONGEST = 1024


class InvalidTokenError(SteelyardError, ValueError):
    """A token was not signed here, was made for something else, or is over."""


@dataclass(frozen=True)
class Token:
    """What a token says.

    Attributes
    ----------
    subject
        Whom or what it names: a rater, a session, a panel.
    expires
        When it is over, in milliseconds UTC.
    """

    subject: tuple[str, ...]
    expires: int


class Keys:
    """Signs and reads tokens with the campaign's secret.

    Every purpose signs with a key of its own, derived from the secret, the purpose and the
    campaign: an invitation is no administrator's link, and a token of one campaign says
    nothing in another even if they share the secret.

    Parameters
    ----------
    secret
        The campaign's random secret.
    campaign
        Fingerprint of the campaign.

    Examples
    --------
    >>> keys = Keys("not a real secret", "a campaign")
    >>> text = keys.sign("invitation", "r1", expires=2_000)
    >>> keys.read("invitation", text, now=1_000).subject
    ('r1',)
    >>> keys.read("invitation", text, now=2_000)
    Traceback (most recent call last):
    steelyard.collect.web.tokens.InvalidTokenError: this link is over: ask for a new one
    """

    def __init__(self, secret: str, campaign: str) -> None:
        strong = {"key_derivation": "hmac", "digest_method": sha256}
        self._serializers = {
            purpose: URLSafeSerializer(
                secret, salt=f"steelyard {purpose} {campaign}", signer_kwargs=strong
            )
            for purpose in get_args(Purpose)
        }
        guard = Signer(
            secret,
            salt=f"steelyard csrf {campaign}",
            key_derivation="hmac",
            digest_method=sha256,
        )
        self._read: Callable[[Purpose, str], Token] = lru_cache(_REMEMBERED)(self._unsigned)
        self._csrf: Callable[[str], str] = lru_cache(_REMEMBERED)(
            lambda bound_to: guard.get_signature(bound_to.encode()).decode("ascii")
        )
        marked = f"steelyard cookie {self.csrf('cookie')}"
        # a few letters that tell this campaign from others, and nothing of its secret
        self.mark = sha256(marked.encode()).hexdigest()[:10]

    def sign(self, purpose: Purpose, *subject: str, expires: int) -> str:
        """Return a token for `purpose` that names `subject` until `expires`."""
        text = self._serializers[purpose].dumps([expires, *subject])
        return text if isinstance(text, str) else text.decode("ascii")

    def read(self, purpose: Purpose, text: str, *, now: int) -> Token:
        """Return what a token says.

        Raises
        ------
        InvalidTokenError
            If it was not signed here for this purpose, or is over.
        """
        token = self._read(purpose, text)
        if now >= token.expires:
            raise InvalidTokenError(phrase("link-over"))
        return token

    def csrf(self, bound_to: str) -> str:
        """Return what a page must send back with every change, bound to its session."""
        return self._csrf(bound_to)

    def csrf_holds(self, bound_to: str, sent: str | None) -> bool:
        """Tell in constant time whether the page sent what it was given."""
        return sent is not None and compare_digest(self.csrf(bound_to).encode(), sent.encode())

    def _unsigned(self, purpose: Purpose, text: str) -> Token:
        if len(text) > _LONGEST:
            raise InvalidTokenError(phrase("link-not-valid"))
        try:
            # the signature covers all of it, in constant time, before anything is parsed
            expires, *subject = self._serializers[purpose].loads(text)
        except (BadData, UnicodeError) as error:
            raise InvalidTokenError(phrase("link-not-valid")) from error
        return Token(tuple(subject), expires)
