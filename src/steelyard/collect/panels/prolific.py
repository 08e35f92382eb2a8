"""Raters from Prolific."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from steelyard.collect.panels.arriving import Arrival, Outcome, Return, parameter

__all__ = ["Prolific"]

_PROLIFIC = "https://app.prolific.com"


@dataclass(frozen=True)
class Prolific:
    """Raters whom Prolific sends, and who go back with a code.

    Attributes
    ----------
    completion_code
        Code of a visit that was completed.
    screen_out_code
        Code of a rater who did not pass the tutorial; without one they go back without a code.
    excluded_code
        Code of a rater whom a rule excluded; by default the one above.
    no_consent_code
        Code of a rater who does not agree to take part; by default that of the tutorial.

    References
    ----------
    Prolific, "Setting up your study": the parameters PROLIFIC_PID, STUDY_ID and SESSION_ID, and
    the address ``/submissions/complete?cc=CODE``.
    """

    completion_code: str
    screen_out_code: str | None = None
    excluded_code: str | None = None
    no_consent_code: str | None = None
    path: str = "/join/prolific"
    submits_to: tuple[str, ...] = (_PROLIFIC,)
    framed_by: tuple[str, ...] = ()

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Return the participant and the submission."""
        study = parameter(query, "STUDY_ID")
        visit = parameter(query, "SESSION_ID")
        return Arrival(parameter(query, "PROLIFIC_PID"), visit, {"STUDY_ID": study})

    def way_back(self, parameters: Mapping[str, str], *, outcome: Outcome) -> Return | None:
        """Return the address that tells Prolific the code.

        Examples
        --------
        >>> Prolific("C1A2").way_back({}, outcome="complete").url
        'https://app.prolific.com/submissions/complete?cc=C1A2'
        """
        del parameters
        codes = {
            "complete": self.completion_code,
            "excluded": self.excluded_code,
            "no-consent": self.no_consent_code,
        }
        code = codes.get(outcome) or self.screen_out_code
        if code is None:
            return None
        url = f"{_PROLIFIC}/submissions/complete?{urlencode({'cc': code})}"
        return Return("GET", url, "Back to Prolific")

    def link(self, origin: str, token: str) -> str:
        """Return the study's address, with the placeholders that Prolific fills in."""
        names = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
        filled = "".join(f"&{name}={{{{%{name}%}}}}" for name in names)
        return f"{origin}{self.path}?{urlencode({'token': token})}{filled}"
