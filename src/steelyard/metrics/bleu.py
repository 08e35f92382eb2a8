"""Sentence-level BLEU.

References
----------
K. Papineni, S. Roukos, T. Ward, W.-J. Zhu (2002). BLEU: a method for automatic evaluation of
machine translation. ACL, 311-318.

B. Chen, C. Cherry (2014). A systematic comparison of smoothing techniques for sentence-level
BLEU. WMT, 362-367.

M. Post (2018). A call for clarity in reporting BLEU scores. WMT, 186-191.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.arrays import Ints
from steelyard.errors import InvalidArgumentError
from steelyard.metrics.fractions import fraction
from steelyard.metrics.metric import Floats, Metric, over_references
from steelyard.metrics.overlap import clipped_matches, pair_matches
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.tokenizers import (
    MtevalTokenizer,
    SacrebleuTokenizer,
    Tokenizer,
    WhitespaceTokenizer,
)
from steelyard.metrics.tokens import Tokens

__all__ = ["Bleu"]


@dataclass(frozen=True, kw_only=True)
class Bleu(Metric):
    r"""BLEU of a single output: precision of n-grams with a penalty for brevity.

    .. math:: \text{BLEU} = \min(1, e^{1 - r/c}) \Bigl(\prod_{n=1}^{N} p_n\Bigr)^{1/N}

    with :math:`c` the output's length, :math:`r` the length of the reference nearest to it, and
    :math:`p_n` the share of the output's n-grams that occur in the references, none counted more
    often than in the reference that has it most. It equals sacrebleu's ``sentence_bleu`` / 100.

    Attributes
    ----------
    order : int
        The longest n-gram, 1 to 4.
    smooth : {"exp", "floor", "add-k", "none", "omit"}
        What replaces a count of 0 matches: a half, a quarter and so on; a small constant; counts
        of all orders but the first have `smooth_value` added; nothing, so that BLEU is 0; the
        precision becomes 1, as in the scores that the paper released.
    smooth_value : float, optional
        The constant of ``floor`` (0.1) and of ``add-k`` (1).
    effective_order : bool
        Whether orders that an output is too short for are left out.
    lowercase : bool
        Whether case is ignored.
    tokenize : {"13a", "zh", "intl", "char", "none"}
        Tokenization, by sacrebleu's names.
    references : {"joint", "best", "mean"}
        With several references: all at once, as BLEU is defined; the best or the mean of the
        values against each alone.
    """

    order: int = 4
    smooth: Literal["exp", "floor", "add-k", "none", "omit"] = "exp"
    smooth_value: float | None = None
    effective_order: bool = True
    lowercase: bool = False
    tokenize: Literal["13a", "zh", "intl", "char", "untokenized"] = "13a"
    references: Literal["joint", "best", "mean"] = "joint"

    def __post_init__(self) -> None:
        if not 1 <= self.order <= 4:
            raise InvalidArgumentError(f"`order` must be between 1 and 4; got {self.order}")
        if self.smooth_value is not None and not self.smooth_value >= 0:
            raise InvalidArgumentError(
                f"`smooth_value` must not be negative; got {self.smooth_value}"
            )

    @property
    def tokenizer(self) -> Tokenizer:
        """What splits texts into tokens."""
        if self.tokenize == "13a":
            return MtevalTokenizer(lowercase=self.lowercase)
        if self.tokenize == "untokenized":
            return WhitespaceTokenizer(lowercase=self.lowercase)
        return SacrebleuTokenizer(name=self.tokenize, lowercase=self.lowercase)

    def scores(self, pairs: Pairs) -> Floats:
        """Score every example against its references."""
        tokens = pairs.tokens(self.tokenizer)
        if self.references == "joint" and len(pairs) > pairs.n_examples:
            return self._joint(tokens, pairs)
        output, reference = tokens.length[pairs.output], tokens.length[pairs.reference]
        values = self._bleu(pair_matches(tokens, pairs, order=self.order), output, reference)
        return over_references(
            values, pairs, preference=None if self.references == "mean" else values
        )

    def _joint(self, tokens: Tokens, pairs: Pairs) -> Floats:
        # each example is its output followed by its references
        text = np.insert(pairs.reference, pairs.first, pairs.output[pairs.first])
        group = np.insert(pairs.example, pairs.first, np.arange(pairs.n_examples))
        matches = clipped_matches(tokens, text, group, order=self.order)
        output, reference = tokens.length[pairs.output], tokens.length[pairs.reference]
        # the nearest reference length, the shorter one of two equally near
        nearest = np.lexsort((reference, np.abs(output - reference), pairs.example))[pairs.first]
        return self._bleu(matches, output[pairs.first], reference[nearest])

    def _bleu(self, matches: Ints, output: Ints, reference: Ints) -> Floats:
        """BLEU from matches (order, n), output lengths (n,) and reference lengths (n,)."""
        default = {"floor": 0.1, "add-k": 1.0}.get(self.smooth, 0.0)
        constant = default if self.smooth_value is None else self.smooth_value
        logarithm = np.zeros(len(output))
        halvings = np.zeros(len(output))
        used = np.zeros(len(output))
        with np.errstate(divide="ignore"):
            for n in range(self.order):
                matched = matches[n].astype(np.float64)
                total = np.maximum(output - n, 0).astype(np.float64)
                if self.smooth == "add-k" and n > 0:
                    matched, total = matched + constant, total + constant
                possible, none = total > 0, matched == 0
                halvings += possible & none
                if self.smooth == "exp":
                    matched = np.where(none, 0.5**halvings, matched)
                elif self.smooth == "floor":
                    matched = np.where(none, constant, matched)
                elif self.smooth == "omit":
                    matched = np.where(none, total, matched)
                precision = np.where(possible, fraction(matched, total), 1.0)
                logarithm += np.log(precision)
                used += possible
            if self.smooth == "omit":
                used[:] = self.order
            elif not self.effective_order:
                logarithm[used < self.order] = -np.inf
            brevity = np.minimum(1 - fraction(reference, output), 0.0)
            values = np.exp(brevity + fraction(logarithm, used))
        return np.where(matches.any(axis=0), values, 0.0)
