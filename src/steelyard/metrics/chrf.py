"""chrF and chrF++: F measure of character n-grams.

References
----------
M. Popović (2015). chrF: character n-gram F-score for automatic MT evaluation. WMT, 392-395.

M. Popović (2017). chrF++: words helping character n-grams. WMT, 612-618.
"""

from dataclasses import dataclass

import numpy as np

from steelyard.errors import InvalidArgumentError
from steelyard.metrics.fractions import f_measure, fraction
from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.overlap import pair_matches
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.tokenizers import ChrfTokenizer
from steelyard.metrics.tokens import Tokens

__all__ = ["Chrf", "ChrfPlusPlus"]


@dataclass(frozen=True, kw_only=True)
class Chrf(PairMetric):
    r"""chrF: F measure of character n-grams, recall counting more.

    Precision and recall are averaged over the orders for which both texts are long enough;
    :math:`F_\beta` is taken of the averages. It equals sacrebleu's ``sentence_chrf`` / 100.

    Attributes
    ----------
    character_order : int
        The longest character n-gram.
    word_order : int
        The longest word n-gram; 0 for none.
    beta : float
        How many times as much recall counts as precision.
    lowercase : bool
        Whether case is ignored.
    whitespace : bool
        Whether whitespace belongs to character n-grams.
    """

    character_order: int = 6
    word_order: int = 0
    beta: float = 2.0
    lowercase: bool = False
    whitespace: bool = False

    def __post_init__(self) -> None:
        if self.character_order < 1 or self.word_order < 0:
            raise InvalidArgumentError(
                "`character_order` must be at least 1 and `word_order` at least 0; "
                f"got {self.character_order} and {self.word_order}"
            )
        if not self.beta > 0:
            raise InvalidArgumentError(f"`beta` must be positive; got {self.beta}")

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        characters = pairs.characters(lowercase=self.lowercase, whitespace=self.whitespace)
        sums = _sums(characters, pairs, order=self.character_order)
        if self.word_order:
            words = pairs.tokens(ChrfTokenizer(lowercase=self.lowercase))
            sums += _sums(words, pairs, order=self.word_order)
        precision, recall, orders = sums
        return f_measure(fraction(precision, orders), fraction(recall, orders), beta=self.beta)


@dataclass(frozen=True, kw_only=True)
class ChrfPlusPlus(Chrf):
    """chrF++: chrF with single words and pairs of words added."""

    word_order: int = 2


def _sums(tokens: Tokens, pairs: Pairs, *, order: int) -> Floats:
    """Sum over orders of precision and recall, and how many orders both texts are long enough for.

    An array of shape (3, n_pairs).
    """
    matches = pair_matches(tokens, pairs, order=order)
    sums = np.zeros((3, len(pairs)))
    for n in range(order):
        output = np.maximum(tokens.length[pairs.output] - n, 0)
        reference = np.maximum(tokens.length[pairs.reference] - n, 0)
        sums[0] += fraction(matches[n], output)
        sums[1] += fraction(matches[n], reference)
        sums[2] += (output > 0) & (reference > 0)
    return sums
