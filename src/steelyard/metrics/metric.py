"""What every metric is: options as fields, texts in, one number per output."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from steelyard.arrays import Floats
from steelyard.metrics.pairs import Pairs

__all__ = ["Floats", "Metric", "PairMetric", "over_references"]


@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """A metric with its options; the base class of every metric.

    A metric is a frozen dataclass. Its fields are its options, so that a specification such as
    ``rouge-l:stem,recall`` can be read from the field names and types alone, and the first line
    of its docstring is its description.

    Attributes
    ----------
    higher_is_better : bool
        Whether a better output has a higher value.
    libraries : tuple of str
        Packages that it needs beyond those that come with this one. With other versions of them
        a value may differ, so an interrupted run is then not continued.
    """

    higher_is_better: ClassVar[bool] = True
    libraries: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def scores(self, pairs: Pairs) -> Floats:
        """Score every example against all of its references.

        Parameters
        ----------
        pairs : Pairs
            Examples: an output each, with one or more references.

        Returns
        -------
        (n_examples,) array of float
            The value of each example.
        """


@dataclass(frozen=True, kw_only=True)
class PairMetric(Metric):
    """A metric defined on an output and one reference, carried over to several references.

    Attributes
    ----------
    references : {"best", "mean"}
        With several references, the value against the best of them, or the mean over them.
    """

    references: Literal["best", "mean"] = "best"

    @abstractmethod
    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair: an array of shape (n_pairs,)."""

    def preference(self, pairs: Pairs, values: Floats) -> Floats:
        """Rank the pairs; the reference with the highest rank is an example's best."""
        del pairs
        return values if self.higher_is_better else -values

    def scores(self, pairs: Pairs) -> Floats:
        """Score every pair, then take the best or the mean over an example's references."""
        values = self.pair_scores(pairs)
        if self.references == "mean" or len(values) == pairs.n_examples:
            return over_references(values, pairs)
        return over_references(values, pairs, preference=self.preference(pairs, values))


def over_references(values: Floats, pairs: Pairs, *, preference: Floats | None = None) -> Floats:
    """Reduce the values of pairs to one value per example.

    Parameters
    ----------
    values : (n_pairs,) array
        Value of each pair.
    pairs : Pairs
        Which pairs belong to which example.
    preference : (n_pairs,) array, optional
        With it, the value of the pair with the highest preference, the first one of ties;
        without it, the mean.

    Returns
    -------
    (n_examples,) array of float
    """
    if len(values) == pairs.n_examples:
        return values
    if preference is None:
        return np.bincount(pairs.example, weights=values) / np.bincount(pairs.example)
    # last key first: by example, then best first, then in the order of the references
    order = np.lexsort((-preference, pairs.example))
    return values[order][pairs.first]
