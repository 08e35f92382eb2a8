"""METEOR: aligned words, their number and their order.

References
----------
S. Banerjee, A. Lavie (2005). METEOR: an automatic metric for MT evaluation with improved
correlation with human judgments. ACL workshop on evaluation measures, 65-72.

A. Lavie, A. Agarwal (2007). METEOR: an automatic metric for MT evaluation with high levels of
correlation with human judgments. WMT, 228-231.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Floats, Ints
from steelyard.metrics.fractions import fraction
from steelyard.metrics.metric import PairMetric
from steelyard.metrics.overlap import blocks, run_sums, sorted_runs
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.stemming import porter_stem
from steelyard.metrics.tokenizers import Tokenizer, UnicodeTokenizer, WordTokenizer
from steelyard.metrics.tokens import Numbering, Tokens, spans

__all__ = ["Meteor"]

# Weight of recall, greatest penalty, and its shape, as NLTK has them
_ALPHA, _GAMMA, _BETA = 0.9, 0.5, 3.0


@dataclass(frozen=True, kw_only=True)
class Meteor(PairMetric):
    r"""METEOR: words aligned exactly or by stem, less a penalty for disorder.

    With :math:`m` words aligned in :math:`c` chunks, runs of words that stand side by side in both
    texts, precision :math:`P` and recall :math:`R`,

    .. math:: \frac{PR}{0.9 P + 0.1 R} \bigl(1 - 0.5 (c / m)^3\bigr).

    It equals NLTK's ``meteor_score`` on the same tokens without synonyms.

    Attributes
    ----------
    tokens : {"words", "unicode"}
        Words and punctuation marks apart; words by Unicode rules.

    Notes
    -----
    Words are aligned from the end of both texts: first equal words, then words with equal Porter
    stems.
    """

    tokens: Literal["words", "unicode"] = "words"

    @property
    def tokenizer(self) -> Tokenizer:
        """What splits texts into tokens."""
        return UnicodeTokenizer() if self.tokens == "unicode" else WordTokenizer()

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        tokens = pairs.tokens(self.tokenizer)
        count, chunks = np.zeros(len(pairs)), np.zeros(len(pairs))
        text = np.stack([pairs.output, pairs.reference], axis=1)
        for low, high in blocks(tokens.length[text].sum(axis=1)):
            pair, output, reference = _aligned(tokens, text[low:high])
            apart = (np.diff(output, prepend=-2) != 1) | (np.diff(reference, prepend=-2) != 1)
            count[low:high] = np.bincount(pair, minlength=high - low)
            chunks[low:high] = np.bincount(pair[apart], minlength=high - low)
        precision = fraction(count, tokens.length[pairs.output])
        recall = fraction(count, tokens.length[pairs.reference])
        mean = fraction(precision * recall, _ALPHA * precision + (1 - _ALPHA) * recall)
        return (1 - _GAMMA * fraction(chunks, count) ** _BETA) * mean


def _stems(word: Ints, vocabulary: Sequence[str]) -> Ints:
    """Number of the stem of each word, equal for equal stems."""
    distinct, which = np.unique(word, return_inverse=True)
    stems = [porter_stem(vocabulary[number]) for number in distinct.tolist()]
    return Numbering().tokens([stems]).ids[which]


def _aligned(tokens: Tokens, text: Ints) -> tuple[Ints, Ints, Ints]:
    """Align the words of pairs: each aligned word's pair, and its places in output and reference.

    The words of all pairs are laid end to end, an output's before its reference's; a place counts
    from the first of them.
    """
    side = np.repeat(np.arange(text.size), tokens.length[text.ravel()])
    pair, in_output = side // 2, side % 2 == 0
    word = tokens.of(text.ravel())
    place = np.arange(len(word))
    exact = _equal(place, word, pair, in_output)
    left = np.delete(place, np.concatenate(exact))
    by_stem = _equal(left, _stems(word[left], tokens.vocabulary), pair, in_output)
    output, reference = (
        np.concatenate([one, other]) for one, other in zip(exact, by_stem, strict=True)
    )
    order = np.argsort(output)
    return pair[output[order]], output[order], reference[order]


def _equal(place: Ints, name: Ints, pair: Ints, in_output: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Align words of one name: the last of the output with the last of the reference, and so on."""
    if len(place) == 0:
        return place, place
    place, start = sorted_runs(name, place, pair)
    total = np.diff(start, append=len(place))
    output = run_sums(in_output[place], start)
    both = np.minimum(output, total - output)
    return place[spans(start + output - both, both)], place[spans(start + total - both, both)]
