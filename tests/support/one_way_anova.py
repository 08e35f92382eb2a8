"""The one-way analysis of variance of judgments by output, by its textbook formula."""

from dataclasses import dataclass


@dataclass(frozen=True)
class OneWay:
    """Unbiased variances, and judgments per output, n0."""

    rater: float
    unbiased_item: float
    effective_count: float

    @property
    def item(self):
        return max(self.unbiased_item, 0.0)


def one_way(sample):
    """Searle, Casella and McCulloch (1992), section 3.6."""
    m, n, M = sample.count, sample.n_outputs, sample.n_judgments
    rater = sample.within.sum() / (M - n)
    between = m @ (sample.mean - sample.human.mean()) ** 2 / (n - 1)
    effective = (M - m @ m / M) / (n - 1)
    return OneWay(rater, (between - rater) / effective, effective)
