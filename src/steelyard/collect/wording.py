"""What the pages say to raters, in the language of the campaign.

All of it stands in one file a language, ``texts/en.yaml`` first. Code names a text by its key.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import as_file, files
from typing import Any, TypeAlias

from babel import Locale, UnknownLocaleError
from babel.plural import PluralRule

from steelyard.collect.yaml_lines import read_yaml

__all__ = ["TEXTS", "Phrase", "Text", "Wording", "english", "phrase", "placeholders"]

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
        key = english().keys_by_text.get(text) if isinstance(text, str) else None
        return text if key is None else self(key)

    @cached_property
    def keys_by_text(self) -> Mapping[str, str]:
        """The keys of texts into which nothing is filled in."""
        plain = {key: text for key, text in self.texts.items() if isinstance(text, str)}
        return {text: key for key, text in plain.items() if not _PLACEHOLDER.search(text)}


@cache
def english() -> Wording:
    """Return the texts in English."""
    with as_file(TEXTS / "en.yaml") as path:
        data = dict(read_yaml(path).data)
    return Wording(data.pop("language"), data.pop("direction"), data)


def placeholders(text: Text) -> set[str]:
    """Return the names of what is filled into a text."""
    return set(_PLACEHOLDER.findall(text if isinstance(text, str) else " ".join(text.values())))
