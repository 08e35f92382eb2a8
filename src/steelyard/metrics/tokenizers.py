"""How texts are split into tokens: the conventions that each metric's numbers depend on.

Every tokenizer works in two steps, so that a word is worked on once however often it occurs:
``prepare`` sees the whole text, ``split`` one word of it between whitespace.
"""

import re
import string
import unicodedata
from abc import ABC, abstractmethod
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
class Tokenizer(ABC):
    """Splits a text into tokens; equal tokenizers give equal tokens."""

    def prepare(self, text: str) -> str:
        """Whatever must be done to the whole text before it is cut at whitespace."""
        return text

    @abstractmethod
    def split(self, word: str) -> list[str]:
        """Tokens of one word, which holds no whitespace."""

    def tokens(self, text: str) -> list[str]:
        """Tokens of a text.

        Examples
        --------
        >>> RougeTokenizer().tokens("Don't panic, it's 42.")
        ['don', 't', 'panic', 'it', 's', '42']
        """
        return [token for word in self.prepare(text).split() for token in self.split(word)]


@dataclass(frozen=True, kw_only=True)
class WhitespaceTokenizer(Tokenizer):
    """Words between whitespace, lowercased unless told otherwise."""

    lowercase: bool = True

    def prepare(self, text: str) -> str:
        """Lowercase."""
        return text.lower() if self.lowercase else text

    def split(self, word: str) -> list[str]:
        """Return the word itself."""
        return [word]


@dataclass(frozen=True, kw_only=True)
class RougeTokenizer(Tokenizer):
    """Runs of a-z and 0-9 after lowercasing, as ROUGE-1.5.5 and rouge-score have them."""

    def prepare(self, text: str) -> str:
        """Lowercase."""
        return text.lower()

    def split(self, word: str) -> list[str]:
        """Cut at everything that is not an ASCII letter or digit."""
        return _ROUGE_TOKEN.findall(word)


_ROUGE_TOKEN = re.compile("[a-z0-9]+")


@dataclass(frozen=True, kw_only=True)
class StemmedTokenizer(Tokenizer):
    """Another tokenizer's tokens, those of four letters or more by their Porter stems."""

    tokenizer: Tokenizer

    def prepare(self, text: str) -> str:
        """Prepare as the other tokenizer does."""
        return self.tokenizer.prepare(text)

    def split(self, word: str) -> list[str]:
        """Split as the other tokenizer does, then stem."""
        tokens = self.tokenizer.split(word)
        return [porter_stem(token) if len(token) > 3 else token for token in tokens]


@dataclass(frozen=True, kw_only=True)
class WordTokenizer(Tokenizer):
    """Words and punctuation marks apart, lowercased.

    A token is a run of letters, digits and marks, in which an apostrophe, a full stop or a
    comma may stand between two of them (*don't*, *3.14*, *u.s*), or any other single character.
    """

    def prepare(self, text: str) -> str:
        """Lowercase."""
        return text.lower()

    def split(self, word: str) -> list[str]:
        """Cut around punctuation."""
        return _WORD_TOKEN.findall(word)


_WORD_TOKEN = re.compile(r"\w+(?:['\u2019.,]\w+)*|[^\w\s]")


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

    def split(self, word: str) -> list[str]:
        """Cut by the classes of the characters."""
        tokens: list[str] = []
        inside = False
        for character in word:
            category = unicodedata.category(character)
            if _alone(character, category):
                tokens.append(character)
                inside = False
            elif category[0] == "M":
                # a mark belongs to what stands before it, if anything does
                if tokens and (
                    inside or _alone(tokens[-1][0], unicodedata.category(tokens[-1][0]))
                ):
                    tokens[-1] += character
            elif category[0] in "LN":
                if inside:
                    tokens[-1] += character
                else:
                    tokens.append(character)
                inside = True
            else:
                inside = False
        return tokens


# Blocks of scripts written without spaces between words (Unicode Standard Annex 29, table 3)
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


def _alone(character: str, category: str) -> bool:
    if category == "So":
        return True
    point = ord(character)
    return category[0] in "LN" and any(low <= point <= high for low, high in _UNSPACED)


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

    def split(self, word: str) -> list[str]:
        """Set punctuation apart."""
        plain = _MTEVAL_PLAIN.fullmatch(word)
        if plain is not None:
            return [part for part in plain.groups() if part]
        # The rules look one character back and forth, and a whitespace counts as a non-digit:
        # a word between two spaces is split as it would be within the text.
        word = f" {word} "
        for pattern, replacement in _MTEVAL_RULES:
            word = pattern.sub(replacement, word)
        return word.split()


_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
# Most words need no rule: those without punctuation, or with one mark at their end
_MTEVAL_PLAIN = re.compile(
    r"([^{-~\[-`!-&(-+:-@/.,0-9]+|[^{-~\[-`!-&(-+:-@/.,-]+)([{-~\[-`!-&(-+:-@/.,]?)"
)
_MTEVAL_RULES = (
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
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

    def split(self, word: str) -> list[str]:
        """Return the word itself."""
        return [word]


@cache
def _sacrebleu_tokenizer(name: str) -> Any:
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 (only when it is asked for)

    return BLEU(tokenize=name).tokenizer


@dataclass(frozen=True, kw_only=True)
class TercomTokenizer(Tokenizer):
    """TER's tokenization with its options, which sacrebleu provides."""

    normalized: bool = False
    no_punctuation: bool = False
    asian: bool = False
    case_sensitive: bool = False

    def prepare(self, text: str) -> str:
        """Let sacrebleu put spaces between tokens."""
        options = self.normalized, self.no_punctuation, self.asian, self.case_sensitive
        return str(_tercom_tokenizer(*options)(text.rstrip()))

    def split(self, word: str) -> list[str]:
        """Return the word itself."""
        return [word]


@cache
def _tercom_tokenizer(*options: bool) -> Any:
    from sacrebleu.tokenizers import tokenizer_ter  # noqa: PLC0415 (only when it is asked for)

    return tokenizer_ter.TercomTokenizer(*options)


@dataclass(frozen=True, kw_only=True)
class AnswerTokenizer(Tokenizer):
    """Words as the SQuAD evaluation compares them: no case, no punctuation, no articles."""

    def prepare(self, text: str) -> str:
        """Lowercase."""
        return text.lower()

    def split(self, word: str) -> list[str]:
        """Drop ASCII punctuation, then English articles."""
        return _ARTICLE.sub(" ", word.translate(_NO_PUNCTUATION)).split()


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True, kw_only=True)
class ChrfTokenizer(Tokenizer):
    """Words of chrF++: one punctuation mark is set apart, the last or else the first."""

    lowercase: bool = False

    def prepare(self, text: str) -> str:
        """Lowercase if asked to."""
        return text.lower() if self.lowercase else text

    def split(self, word: str) -> list[str]:
        """Set a final mark apart, or else an initial one."""
        if len(word) == 1:
            return [word]
        if word[-1] in string.punctuation:
            return [word[:-1], word[-1]]
        if word[0] in string.punctuation:
            return [word[0], word[1:]]
        return [word]
