"""What the server writes to its log: lines of words, or of JSON; never a token."""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Literal

__all__ = ["LogFormat", "start_log"]

LogFormat = Literal["text", "json"]

# Tokens of links, and passwords of database addresses, wherever a message has them.
_SECRET = re.compile(
    r"((?:token|csrf|password)=)[^&\s\"']+|(//[^/\s:@]+:)[^@\s/]+(?=@)", re.IGNORECASE
)


def start_log(log_format: LogFormat) -> None:
    """Write log lines to standard error.

    With JSON there is a line for every request too: its route, its status and its time, but neither
    its address nor who asked.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(_Objects() if log_format == "json" else _Lines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    logging.getLogger("steelyard.access").setLevel(
        logging.INFO if log_format == "json" else logging.WARNING
    )


def without_secrets(text: str) -> str:
    """Black out what lets somebody in.

    Examples
    --------
    >>> without_secrets("GET /join?token=abc.def&x=1 of postgresql://me:pass@host/db")
    'GET /join?token=[...]&x=1 of postgresql://me:[...]@host/db'
    """
    return _SECRET.sub(lambda found: f"{found[1] or found[2]}[...]", text)


class _Lines(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


class _Objects(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        found = {
            "time": moment,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
        }
        found |= getattr(record, "facts", {})
        if record.exc_info:
            found["exception"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(found, ensure_ascii=False)
