"""Function words: the words that every text has.

References
----------
M. Denkowski, A. Lavie (2014). Meteor Universal: language specific translation evaluation for any
target language. WMT, 376-380. A function word is one whose relative frequency in a large corpus
is above 1/1000.

R. Speer (2022). rspeer/wordfreq: v3.0. Frequencies of English words over eight kinds of sources.
"""

from functools import cache
from pathlib import Path

from steelyard.errors import InvalidArgumentError

__all__ = ["function_words", "is_mark"]

# Words of letters with `word_frequency(word, "en") >= 1e-3` in wordfreq 3.1, the most frequent
# first. A list by frequency has some words of content too, as the definition has it.
_ENGLISH = """
    the to and of a in i is for that you it on with this was be as are have at he not by but from
    my or we an your all so his they me if one can will just like about up out what has when more do
    no were who had it's their there her which time get been would she new people how don't some
    also them now other i'm its our than good only after first him into know see two make over
    think any then could back these us want because go well said way most much very where
"""


@cache
def function_words(path: str = "") -> frozenset[str]:
    """Function words of English, or those of a file.

    Parameters
    ----------
    path : str
        A file with a word on each line; the English list when it is empty.

    Returns
    -------
    frozenset of str
        Lowercased words.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read.

    Examples
    --------
    >>> "the" in function_words(), "cat" in function_words()
    (True, False)
    """
    if not path:
        return frozenset(_ENGLISH.split())
    try:
        return frozenset(Path(path).expanduser().read_text(encoding="utf-8").lower().split())
    except OSError as error:
        raise InvalidArgumentError(
            f"`function_words` must name a file with a word on each line; got {path!r}: "
            f"{error.strerror}"
        ) from error


def is_mark(word: str) -> bool:
    """Whether a word has neither letters nor digits: such marks are as frequent as function words.

    Examples
    --------
    >>> is_mark("--"), is_mark("3%")
    (True, False)
    """
    return not any(character.isalnum() for character in word)
