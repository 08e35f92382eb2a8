"""Forms: weights on means, of which most are 0."""

import numpy as np
from scipy.sparse import csr_array

from steelyard.model.campaign import Floats

__all__ = ["squares"]


def squares(forms: Floats, covariance: Floats) -> Floats:
    """Return the square ``f C f'`` of each form f.

    Parameters
    ----------
    forms : (f, k) array
        The weight of each mean in each form.
    covariance : (k, k) array
        A covariance of the means.
    """
    nonzero = csr_array(forms)
    return np.asarray(nonzero.multiply(nonzero @ covariance).sum(axis=1)).ravel()
