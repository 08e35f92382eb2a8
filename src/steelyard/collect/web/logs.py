"""What the server writes to its log: lines of words, never a token."""

import logging
import re

__all__ = ["start_log", "without_secrets"]

# Tokens of links, and passwords of database addresses, wherever a message has them.
_SECRET = re.compile(
    r"((?:token|csrf|password)=)[^&\s\"']+|(//[^/\s:@]+:)[^@\s/]+(?=@)", re.IGNORECASE
)


def start_log() -> None:
    """Write warnings and errors to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(_WithoutSecrets("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


def without_secrets(text: str) -> str:
    """Black out what lets somebody in.

    Examples
    --------
    >>> without_secrets("GET /join?token=abc.def&x=1 of postgresql://me:pass@host/db")
    'GET /join?token=[...]&x=1 of postgresql://me:[...]@host/db'
    """
    return _SECRET.sub(lambda found: f"{found[1] or found[2]}[...]", text)


class _WithoutSecrets(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))
