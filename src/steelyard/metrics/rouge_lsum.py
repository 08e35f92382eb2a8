"""ROUGE-Lsum: longest common subsequences of sentences, for summaries.

References
----------
C.-Y. Lin (2004). ROUGE: a package for automatic evaluation of summaries. Text Summarization
Branches Out, 74-81, section 3.2.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from steelyard.metrics.fractions import fraction
from steelyard.metrics.metric import Floats
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.pieces import tokenized
from steelyard.metrics.rouge import Rouge

__all__ = ["RougeLsum", "common_positions"]

Sentences = list[list[int]]


@dataclass(frozen=True, kw_only=True)
class RougeLsum(Rouge):
    """ROUGE-Lsum: longest common subsequences of lines, one line a sentence.

    A word of a reference sentence is found when it belongs to the longest common subsequence of
    its sentence with any sentence of the output. No word is found more often than the output has
    it.
    """

    def precision_recall(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Words found over those of the output, and over those of the reference."""
        texts = pairs.keep(("lines", self.tokenizer), lambda: self._sentences(pairs))
        found = np.fromiter(
            (
                _found(texts[output], texts[reference])
                for output, reference in zip(
                    pairs.output.tolist(), pairs.reference.tolist(), strict=True
                )
            ),
            np.float64,
            count=len(pairs),
        )
        length = np.array([sum(map(len, sentences)) for sentences in texts])
        return fraction(found, length[pairs.output]), fraction(found, length[pairs.reference])

    def _sentences(self, pairs: Pairs) -> list[Sentences]:
        lines = [text.split("\n") for text in pairs.texts]
        tokens = tokenized([line for several in lines for line in several], self.tokenizer)
        ids, bounds = tokens.ids.tolist(), tokens.start.tolist()
        cut = [ids[low:high] for low, high in pairwise(bounds)]
        rest = iter(cut)
        return [[next(rest) for _ in several] for several in lines]


def _found(output: Sentences, reference: Sentences) -> int:
    supply = Counter(token for sentence in output for token in sentence)
    union: Counter[int] = Counter()
    for sentence in reference:
        places = set().union(*(common_positions(sentence, other) for other in output))
        union.update(sentence[place] for place in places)
    return (union & supply).total()


def common_positions(reference: Sequence[int], output: Sequence[int]) -> list[int]:
    """Positions in the reference of one longest common subsequence with the output.

    Where there are several, it is the one that ROUGE-1.5.5 reads out: from the end, equal words
    are matched at once, and otherwise a word of the reference is passed over as long as that
    costs nothing.

    Parameters
    ----------
    reference, output : sequences of int
        Tokens.

    Returns
    -------
    list of int
        Positions, from the last to the first.

    Notes
    -----
    Bit i of a step's number is 0 where the longest common subsequence of the output so far grows
    from the first i words of the reference to the first i + 1 (Hyyrö, 2004, Bit-parallel LCS-length
    computation revisited).

    Examples
    --------
    >>> common_positions([1, 2, 3, 4], [2, 5, 3])
    [2, 1]
    """
    place: dict[int, int] = {}
    for i, token in enumerate(reference):
        place[token] = place.get(token, 0) | 1 << i
    mask = (1 << len(reference)) - 1
    flat = mask
    steps = []
    for token in output:
        hit = flat & place.get(token, 0)
        flat = (flat + hit | flat - hit) & mask
        steps.append(flat)
    positions = []
    i, j = len(reference) - 1, len(output) - 1
    while i >= 0 and j >= 0:
        if reference[i] == output[j]:
            positions.append(i)
            i, j = i - 1, j - 1
        elif steps[j] >> i & 1:
            i -= 1
        else:
            j -= 1
    return positions
