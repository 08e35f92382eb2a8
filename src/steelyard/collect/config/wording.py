"""What the pages say to raters, in the language of the campaign.

All of it stands in one file a language, ``texts/en.yaml`` first. Code names a text by its key.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, TypeAlias

from babel import Locale, UnknownLocaleError
from babel.plural import PluralRule

from steelyard.collect.config.declared import one_of, shown
from steelyard.collect.config.yaml_lines import Document, read_yaml

__all__ = [
    "TEXTS",
    "Phrase",
    "Text",
    "Wording",
    "english",
    "phrase",
    "placeholders",
    "read_wording",
    "shipped_languages",
]

# One text, or one for each form of number: {one: "{n} word", other: "{n} words"}.
Text: TypeAlias = str | Mapping[str, str]

TEXTS = files("steelyard.collect") / "texts"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Phrase(str):
    """A text in English that knows its key, so that the page can say it in another language.

    Attributes
    ----------
    key : str
        Of the text.
    values : mapping
        What is filled in.
    """

    __slots__ = ("key", "values")
    key: str
    values: Mapping[str, Any]


def phrase(key: str, /, **values: Any) -> Phrase:
    """Return a text by its key, in English until it reaches a page.

    Examples
    --------
    >>> phrase("at-most-errors", n=3)
    'Mark at most 3 errors.'
    """
    made = Phrase(english()(key, **values))
    made.key, made.values = key, values
    return made


@dataclass(frozen=True)
class Wording:
    """The texts of one language.

    Attributes
    ----------
    language : str
        Its tag, such as ``de``.
    direction : {"ltr", "rtl"}
        Which way it is written.
    texts : mapping of str to str, or to texts by the form of number
        By key.
    """

    language: str = "en"
    direction: str = "ltr"
    texts: Mapping[str, Text] = field(default_factory=dict)

    def __call__(self, key: str, /, **values: Any) -> str:
        """Return the text of a key with values filled in; ``n`` chooses the form of number."""
        text = self.texts[key]
        if not isinstance(text, str):
            number = values.get("n")
            form = "other" if number is None else self._forms(number)
            text = text.get(form, text["other"])
        known = {name: self.of(value) for name, value in values.items()}
        return _PLACEHOLDER.sub(lambda found: str(known.get(found[1], found[0])), text)

    @cached_property
    def _forms(self) -> PluralRule:
        """Which form of number a language uses for a number."""
        try:
            return Locale.parse(self.language, sep="-").plural_form
        except (UnknownLocaleError, ValueError):
            return Locale("en").plural_form

    def of(self, text: Any) -> Any:
        """Return a text that the server made in this language; what has no key stays as it is."""
        if isinstance(text, Phrase):
            return self(text.key, **text.values)
        return text


@cache
def english() -> Wording:
    """Return the texts in English."""
    with as_file(TEXTS / "en.yaml") as path:
        data = dict(read_yaml(path).data)
    return Wording(data.pop("language"), data.pop("direction"), data)


def placeholders(text: Text) -> set[str]:
    """Return the names of what is filled into a text."""
    return set(_PLACEHOLDER.findall(text if isinstance(text, str) else " ".join(text.values())))


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
