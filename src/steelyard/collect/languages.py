"""Languages: the texts of the pages from a file, checked against the English ones."""

import re
from importlib.resources import as_file
from pathlib import Path
from typing import Any

from steelyard.collect.tasks.declared import one_of, shown
from steelyard.collect.wording import TEXTS, Text, Wording, english, placeholders
from steelyard.collect.yaml_lines import Document, read_yaml

__all__ = ["read_wording", "shipped_languages"]

# The forms of number that languages have; each but the last may be missing.
_FORMS = ("zero", "one", "two", "few", "many", "other")
_DIRECTIONS = ("ltr", "rtl")


def shipped_languages() -> tuple[str, ...]:
    """Return the languages that come with Steelyard."""
    return tuple(sorted(Path(one.name).stem for one in TEXTS.iterdir() if ".yaml" in one.name))


def read_wording(campaign: Document, named: str, folder: Path) -> Wording:
    """Return the texts of a language that comes with Steelyard, or of a file.

    Parameters
    ----------
    campaign : Document
        The campaign file.
    named : str
        ``en``, ``de``, or the path of a YAML file like ``texts/en.yaml``, with ``language`` and any of
        the keys of that; texts that it lacks stay in English.
    folder : Path
        Where a relative path begins.

    Raises
    ------
    InvalidDataError
        If there is no such language or file, or the file has a mistake; the message names file, line and
        key.
    """
    if named in shipped_languages():
        with as_file(TEXTS / f"{named}.yaml") as path:
            return _wording(read_yaml(path))
    file = folder / named
    if not file.is_file():
        raise campaign.error(
            ("language",),
            f"there is no file {shown(named)}, nor a language of this name; "
            f"{one_of(named, shipped_languages())}",
        )
    return _wording(read_yaml(file))


def _wording(document: Document) -> Wording:
    data, known = dict(document.data), english()
    language, direction = data.pop("language", None), data.pop("direction", known.direction)
    if not isinstance(language, str) or not re.fullmatch(
        r"[A-Za-z]{2,8}(-[A-Za-z0-9]+)*", language
    ):
        raise document.error(
            ("language",), f"must be the tag of a language, such as de; got {shown(language)}"
        )
    if direction not in _DIRECTIONS:
        raise document.error(("direction",), f"must be ltr or rtl; got {shown(direction)}")
    for key, text in data.items():
        if key not in known.texts:
            raise document.error((key,), f"is no text of the pages; {one_of(key, known.texts)}")
        _check(document, key, text, known.texts[key])
    return Wording(language, direction, {**known.texts, **data})


def _check(document: Document, key: str, text: Any, model: Text) -> None:
    """Raise unless a text can take the place of the English one."""
    forms = text if isinstance(text, dict) and not isinstance(model, str) else {"other": text}
    if "other" not in forms or not set(forms) <= set(_FORMS):
        raise document.error((key,), f"must have `other`, and may have {', '.join(_FORMS[:-1])}")
    allowed = placeholders(model)
    for one in forms.values():
        if not isinstance(one, str) or not one.strip():
            raise document.error((key,), f"must be text; got {shown(one)}")
        strange = placeholders(one) - allowed
        if strange:
            raise document.error(
                (key,), f"{{{min(strange)}}} is not filled in here; {_named(allowed)}"
            )


def _named(names: set[str]) -> str:
    if not names:
        return "nothing is"
    return f"what is: {', '.join(f'{{{name}}}' for name in sorted(names))}"
