"""Edit distance between output and reference.

References
----------
V. I. Levenshtein (1966). Binary codes capable of correcting deletions, insertions, and reversals.
Soviet Physics Doklady 10(8), 707-710.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from steelyard.metrics.fractions import fraction
from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.tokenizers import UnicodeTokenizer, WhitespaceTokenizer

__all__ = ["Edit"]


@dataclass(frozen=True, kw_only=True)
class Edit(PairMetric):
    """Edit distance: the share of words to change for the output to become the reference.

    The fewest insertions, deletions and substitutions over the length of the longer text: 0 for
    equal texts, 1 when nothing can stay. Lower is better.

    Attributes
    ----------
    unit : {"words", "characters"}
        What is inserted, deleted or substituted. Words are lowercased and stand between
        whitespace; characters are taken as they are.
    unicode : bool
        Whether words are split by Unicode rules instead.
    """

    higher_is_better: ClassVar[bool] = False

    unit: Literal["words", "characters"] = "words"
    unicode: bool = False

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        if self.unit == "characters":
            tokens = pairs.characters()
        else:
            tokens = pairs.tokens(UnicodeTokenizer() if self.unicode else WhitespaceTokenizer())
        symbols = tokens.symbols
        distance = cpdist(
            [symbols[text] for text in pairs.output.tolist()],
            [symbols[text] for text in pairs.reference.tolist()],
            scorer=Levenshtein.distance,
            dtype=np.int64,
        )
        longer = np.maximum(tokens.length[pairs.output], tokens.length[pairs.reference])
        return fraction(distance, longer)
