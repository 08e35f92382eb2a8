"""The two cookies: a rater's and the administrator's; each campaign adds a mark to their names."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["ADMIN_COOKIE", "RATER_COOKIE", "Cookie"]


@dataclass(frozen=True)
class Cookie:
    """How a cookie is set; scripts never see it.

    Attributes
    ----------
    name, path
        Its name, and the part of the site that it is sent to.
    same_site
        ``"none"`` lets a panel show our pages in its frame.
    secure
        Whether it is sent over https alone.
    """

    name: str
    path: str
    same_site: Literal["lax", "none"] = "lax"
    secure: bool = False

    def header(self, value: str, *, seconds: int) -> str:
        """Return the ``Set-Cookie`` header.

        Examples
        --------
        >>> Cookie("sy_rater", "/").header("abc", seconds=60)
        'sy_rater=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax'
        """
        parts = [f"{self.name}={value}", f"Path={self.path}", f"Max-Age={seconds}", "HttpOnly"]
        parts.append(f"SameSite={self.same_site.capitalize()}")
        if self.secure:
            parts.append("Secure")
        if self.same_site == "none":
            # browsers that keep no third party's cookies keep one for each embedding site
            parts.append("Partitioned")
        return "; ".join(parts)


RATER_COOKIE = "sy_rater"
ADMIN_COOKIE = "sy_admin"
