"""How texts are split into tokens: the conventions that each metric's numbers depend on.

Every tokenizer works in two steps, so that a word is worked on once: ``prepare`` sees a whole
text, which is then cut at whitespace; ``spaced`` the distinct words of all texts, one on a line.
"""

import re
import string
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any

from steelyard.metrics.stemming import porter_stem

__all__ = [
    "AnswerTokenizer",
    "ChrfTokenizer",
    "MtevalTokenizer",
    "RougeTokenizer",
    "SacrebleuTokenizer",
    "StemmedTokenizer",
    "TercomTokenizer",
    "Tokenizer",
    "UnicodeTokenizer",
    "WhitespaceTokenizer",
    "WordTokenizer",
]


@dataclass(frozen=True, kw_only=True)
class Tokenizer:
    """Splits a text into tokens; equal tokenizers give equal tokens."""

    def prepare(self, text: str) -> str:
        """Whatever must be done to a whole text before it is cut at whitespace."""
        return text

    def spaced(self, words: str) -> str:
        """Put spaces between the tokens of words, each of which stands on a line of its own."""
        return words

    def tokens(self, text: str) -> list[str]:
        """Tokens of a text.

        Examples
        --------
        >>> RougeTokenizer().tokens("Don't panic, it's 42.")
        ['don', 't', 'panic', 'it', 's', '42']
        """
        return self.split(self.prepare(text))

    def split(self, prepared: str) -> list[str]:
        """Tokens of a text that is prepared."""
        return self.spaced("\n".join(prepared.split())).split()


@dataclass(frozen=True, kw_only=True)
class WhitespaceTokenizer(Tokenizer):
    """Words between whitespace, lowercased unless told otherwise."""

    lowercase: bool = True

    def prepare(self, text: str) -> str:
        """Lowercase."""
        return text.lower() if self.lowercase else text


@dataclass(frozen=True, kw_only=True)
class RougeTokenizer(Tokenizer):
    """Runs of a-z and 0-9 after lowercasing, as ROUGE-1.5.5 and rouge-score have them."""

    def prepare(self, text: str) -> str:
        """Lowercase."""
        return text.lower()

    def spaced(self, words: str) -> str:
        """Cut at everything that is not an ASCII letter or digit."""
        return _NOT_ROUGE.sub(" ", words)


_NOT_ROUGE = re.compile("[^a-z0-9\n]+")


@dataclass(frozen=True, kw_only=True)
class StemmedTokenizer(Tokenizer):
    """Another tokenizer's tokens, those of four letters or more by their Porter stems."""

    tokenizer: Tokenizer

    def prepare(self, text: str) -> str:
        """Prepare as the other tokenizer does."""
        return self.tokenizer.prepare(text)

    def spaced(self, words: str) -> str:
        """Split as the other tokenizer does, then stem."""
        return "\n".join(
            " ".join(porter_stem(token) if len(token) > 3 else token for token in line.split())
            for line in self.tokenizer.spaced(words).split("\n")
        )


@dataclass(frozen=True, kw_only=True)
class WordTokenizer(Tokenizer):
    """Words and punctuation marks apart, lowercased.

    A token is a run of letters, digits and underscores, in which an apostrophe, a full stop or a
    comma may stand between two of them (*don't*, *3.14*, *u.s*), or any other single character.
    """

    def prepare(self, text: str) -> str:
        """Lowercase."""
        return text.lower()

    def spaced(self, words: str) -> str:
        """Set punctuation apart."""
        return _WORD.sub(r" \g<0> ", words)


_WORD = re.compile(r"\w+(?:['\u2019.,]\w+)*|[^\w\s]")


@dataclass(frozen=True, kw_only=True)
class UnicodeTokenizer(Tokenizer):
    """Words of any language; scripts written without spaces by character.

    The text is brought to NFKC and case-folded. A word is a run of letters, numbers and
    combining marks. A letter of a script that does not put spaces between words (Han, kana, Thai,
    Lao, Khmer, Myanmar) is a token of its own together with the marks on it, and so is a symbol
    such as an emoji. Everything else separates words.
    """

    def prepare(self, text: str) -> str:
        """Normalise and fold case."""
        return unicodedata.normalize("NFKC", text).casefold()

    def spaced(self, words: str) -> str:
        """Cut by the classes of the characters."""
        parts: list[str] = []
        before = ""
        for character in words:
            kind = _kind(character)
            if kind == "line" or (kind == "mark" and before):
                parts.append(character)
            elif kind == "alone" or (kind == "word" and before != "word"):
                parts.append(" " + character)
            elif kind == "word":
                parts.append(character)
            if kind != "mark":
                before = kind if kind in ("word", "alone") else ""
        return "".join(parts)


# Blocks of scripts written without spaces between words (Unicode Standard Annex 29)
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),  # ideographic iteration mark, zero
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),  # Katakana phonetic extensions
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x1B000, 0x1B16F),  # kana supplement
    (0x20000, 0x3FFFF),  # Han
)


def _kind(character: str) -> str:
    """Whether a character ends a line, is a mark, a token alone, part of a word, or none."""
    if character == "\n":
        return "line"
    category = unicodedata.category(character)
    if category[0] == "M":
        return "mark"
    if category == "So":
        return "alone"
    if category[0] not in "LN":
        return ""
    point = ord(character)
    return "alone" if any(low <= point <= high for low, high in _UNSPACED) else "word"


@dataclass(frozen=True, kw_only=True)
class MtevalTokenizer(Tokenizer):
    """The ``13a`` tokenization of mteval-v13a and sacrebleu, BLEU's default.

    Punctuation is set apart, full stops and commas unless they stand between digits, a hyphen
    after a digit; four XML entities are resolved.
    """

    lowercase: bool = False

    def prepare(self, text: str) -> str:
        """Join lines broken at a hyphen and resolve entities."""
        text = text.rstrip()
        if self.lowercase:
            text = text.lower()
        if "<skipped>" in text:
            text = text.replace("<skipped>", "")
        if "\n" in text:
            text = text.replace("-\n", "").replace("\n", " ")
        if "&" in text:
            for entity, character in _ENTITIES:
                text = text.replace(entity, character)
        return text

    def spaced(self, words: str) -> str:
        """Set punctuation apart."""
        # The rules look one character back or forth, and no further: a word between two ends of
        # lines, which are no digits, is split as it would be between two spaces in its text.
        words = f"\n{words}\n"
        for pattern, replacement in _MTEVAL_RULES:
            words = pattern.sub(replacement, words)
        return words[1:-1]


_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_MTEVAL_RULES = (
    (re.compile(r"([{-~\[-`!-&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


@dataclass(frozen=True, kw_only=True)
class SacrebleuTokenizer(Tokenizer):
    """One of sacrebleu's other tokenizations, by its name there."""

    name: str
    lowercase: bool = False

    def prepare(self, text: str) -> str:
        """Let sacrebleu put spaces between tokens."""
        text = text.lower() if self.lowercase else text
        return str(_sacrebleu_tokenizer(self.name)(text.rstrip()))


@cache
def _sacrebleu_tokenizer(name: str) -> Any:
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 (only when it is asked for)

    return BLEU(tokenize=name).tokenizer


@dataclass(frozen=True, kw_only=True)
class TercomTokenizer(Tokenizer):
    """TER's tokenization with punctuation apart, which sacrebleu provides."""

    case_sensitive: bool = False

    def prepare(self, text: str) -> str:
        """Let sacrebleu put spaces between tokens."""
        return str(_tercom_tokenizer(self.case_sensitive)(text.rstrip()))


@cache
def _tercom_tokenizer(case_sensitive: bool) -> Any:  # noqa: FBT001 - sacrebleu's
    from sacrebleu.tokenizers import tokenizer_ter  # noqa: PLC0415 (only when it is asked for)

    return tokenizer_ter.TercomTokenizer(normalized=True, case_sensitive=case_sensitive)


@dataclass(frozen=True, kw_only=True)
class AnswerTokenizer(Tokenizer):
    """Words as the SQuAD evaluation compares them: no case, no punctuation, no articles."""

    def prepare(self, text: str) -> str:
        """Lowercase."""
        return text.lower()

    def spaced(self, words: str) -> str:
        """Drop ASCII punctuation, then English articles."""
        return _ARTICLE.sub(" ", words.translate(_NO_PUNCTUATION))


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True, kw_only=True)
class ChrfTokenizer(Tokenizer):
    """Words of chrF++: one punctuation mark is set apart, the last or else the first."""

    lowercase: bool = False

    def prepare(self, text: str) -> str:
        """Lowercase if asked to."""
        return text.lower() if self.lowercase else text

    def spaced(self, words: str) -> str:
        """Set a final mark apart, or else an initial one."""
        return _OUTER_MARK.sub(r"\1\3 \2\4", words)


_MARK = f"([{re.escape(string.punctuation)}])"
_OUTER_MARK = re.compile(f"^(.+){_MARK}$|^{_MARK}(.+)$", re.MULTILINE)
