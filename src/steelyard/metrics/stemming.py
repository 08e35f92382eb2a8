"""Porter's suffix stripping for English, with the extensions that NLTK made customary.

References
----------
M. F. Porter (1980). An algorithm for suffix stripping. Program 14(3), 130-137.
"""

from collections.abc import Callable
from functools import lru_cache

__all__ = ["porter_stem"]

# Words that the rules would confuse with others, as NLTK lists them.
_IRREGULAR = {
    "sky": "sky",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}

_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


@lru_cache(maxsize=1 << 17)
def porter_stem(word: str) -> str:
    """Stem an English word.

    Parameters
    ----------
    word : str
        A word; it is lowercased.

    Returns
    -------
    str
        Its stem; words of one or two letters are their own.

    Notes
    -----
    The rules are Porter's, with the departures of NLTK's default stemmer, which rouge-score and
    NLTK's METEOR use: a list of irregular forms; *dies* and *died* keep their *e*; *y* becomes
    *i* after a consonant only; *-alli* is tried first and again; *-fulli* and *-logi* are rules;
    two letters, vowel and consonant, count as a short syllable.

    Examples
    --------
    >>> [porter_stem(word) for word in ["caresses", "hopping", "relational", "dying"]]
    ['caress', 'hop', 'relat', 'die']
    """
    stem = word.lower()
    if stem in _IRREGULAR:
        return _IRREGULAR[stem]
    if len(word) <= 2:
        return stem
    for step in (_plural, _past, _final_y, _double_suffix, _single_suffix, _bare_suffix, _tidy):
        stem = step(stem)
    return stem


def _form(word: str) -> str:
    """Spell a word in c (consonant) and v (vowel); y is a vowel after a consonant."""
    form = []
    consonant = False
    for letter in word:
        consonant = letter not in "aeiou" and not (letter == "y" and consonant)
        form.append("c" if consonant else "v")
    return "".join(form)


def _measure(stem: str) -> int:
    """Porter's m: how many times a vowel is followed by a consonant."""
    return _form(stem).count("vc")


def _ends_short(stem: str) -> bool:
    """Whether the stem ends in a short syllable, Porter's ``*o``."""
    form = _form(stem)
    return form == "vc" or (form.endswith("cvc") and stem[-1] not in "wxy")


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word and "v" in _form(stem):
            return _restored(stem)
    return word


def _restored(stem: str) -> str:
    """Give a stem without -ed or -ing its regular end back: conflat(ed), hopp(ing), fil(ing)."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-2:-1] == stem[-1] and _form(stem)[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    if _measure(stem) == 1 and _ends_short(stem):
        return stem + "e"
    return stem


def _final_y(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _form(word)[-2] == "c":
        return word[:-1] + "i"
    return word


def _replaced(word: str, rules: tuple[tuple[str, str], ...], allowed: Callable[[str], bool]) -> str:
    """Apply the first rule whose suffix the word has, if what stands before it allows that."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            return stem + replacement if allowed(stem) else word
    return word


def _double_suffix(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _double_suffix(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, _STEP_2, lambda stem: _measure(stem) > 0)


def _single_suffix(word: str) -> str:
    return _replaced(word, _STEP_3, lambda stem: _measure(stem) > 0)


def _bare_suffix(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            keep = _measure(stem) <= 1 or (suffix == "ion" and stem[-1] not in "st")
            return word if keep else stem
    return word


def _tidy(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        return word[:-1]
    return word
