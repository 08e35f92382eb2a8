r"""The control: one number per output, learned from the metrics and judgments of a whole campaign.

Metrics are centred at each system's pool mean and scaled, so a control
:math:`h_i = \beta' x_i` averages zero over the pool, and :math:`\bar y - \bar h` is unbiased for
any :math:`\beta` that does not know the judgments of the item that it corrects. Items are dealt
into folds, and an output's control uses the :math:`\beta` of the other folds. Given them, a fold of a
draw without replacement comes from the rest of the pool. So that the control still averages zero,
its mean :math:`\bar h` over the n outputs of a system becomes
:math:`(1 - n/N)\,\bar h + (n/N)\,\bar\beta'\bar x`, which is exactly zero for a pool that was judged
whole. Derived in docs/methods/campaign.md; the measurements behind each
choice are in docs/decisions/0006-campaign-defaults.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["LearnedControl", "learned_control"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FOLDS = 20
# Shares of the variance that the metrics may explain, as prior guesses: each fixes a ridge.
_EXPLAINED = (0.03, 0.1, 0.2, 0.35, 0.5)
# How much more a metric that follows the judgments is believed: not, somewhat, mostly.
_SHARPNESS = (0, 2, 4)
# A priori variance, and the number of imagined systems behind it, of the systems' own scales.
_SCALE_VARIANCE, _IMAGINED_SYSTEMS = 0.05, 2
# A priori mean and variance of the scale that suits differences on the same items, and the chance that
# the control knows nothing but what an item does to all systems, so that no scale but 0 suits them:
# one half, as for no control at all.
_PAIR_SCALE, _PAIR_VARIANCE, _NOTHING = 0.7, 0.09, 0.5


@dataclass(frozen=True, eq=False)
class LearnedControl:
    """Controls of the judged outputs of a campaign.

    Attributes
    ----------
    values : (n,) array
        Control of each output, by coefficients that were fitted without its item.
    coefficients : (k, p) array
        Mean coefficients of each system, in score per scaled metric.
    """

    values: Floats
    coefficients: Floats


def learned_control(
    scores: Floats,
    metrics: Floats,
    *,
    systems: Integers,
    items: Integers,
    spread: Floats,
    pool_sizes: Floats,
    differences: bool = False,
) -> LearnedControl:
    """Learn a control from judged outputs, within systems.

    Parameters
    ----------
    scores : (n,) array
        Mean judgment of each output.
    metrics : (n, p) array
        Metrics, centred at the mean of their system's pool and scaled; 0 where one is missing.
    systems, items : (n,) array of int
        Codes of each output's system and item; an item's outputs are never used to predict it.
    spread : (k,) array
        Standard deviation of each system's scores, by which its judgments are weighted.
    pool_sizes : (k,) array
        Number of outputs that each system's were drawn from without replacement; infinite for any
        other draw.
    differences : bool
        Whether it is to correct differences between systems instead of their means.

    Returns
    -------
    LearnedControl
    """
    k, p = len(spread), metrics.shape[1]
    n = len(scores)
    folds = _folds(items)
    if p == 0 or folds.max(initial=0) < 2 or n < k + 3 or not (spread > 0).all():
        return LearnedControl(np.zeros(n), np.zeros((k, p)))
    scale = spread[systems]
    # Everything below is within systems; around their means no digits are lost to large scores.
    y = _centred(scores, systems, k) / scale
    common = _common(y, metrics, systems=systems, items=items, folds=folds)
    if k > 1:
        common = common.scaled(_own_scales(y, common.values, systems, folds))
        if differences:
            terms = _centred(np.stack([y, common.values]), systems, k)
            terms *= scale / np.bincount(systems)[systems]
            suits = _pair_scales(*terms, systems=systems, items=items, folds=folds)
            common = common.scaled(np.repeat(suits[:, np.newaxis], k, axis=1))
    values = common.values * scale
    count = np.maximum(np.bincount(systems, minlength=k), 1)
    sums = np.zeros((2, k, p))
    np.add.at(sums[0], systems, common.coefficients[folds, systems] * scale[:, np.newaxis])
    np.add.at(sums[1], systems, metrics)
    coefficients, means = sums / count[:, np.newaxis]
    # A fold is drawn from what the other folds left of the pool, whose mean is not the pool's.
    whole = np.einsum("kp,kp->k", coefficients, means)
    shift = count / pool_sizes * (whole - np.bincount(systems, values, minlength=k) / count)
    return LearnedControl(values + shift[systems], coefficients)


@dataclass(frozen=True, eq=False)
class _Controls:
    """Controls with the coefficients, (folds, k, p), that made them."""

    values: Floats
    coefficients: Floats
    folds: Integers
    systems: Integers

    def scaled(self, factor: Floats) -> "_Controls":
        """Return the controls times a (folds, k) factor."""
        return _Controls(
            self.values * factor[self.folds, self.systems],
            self.coefficients * factor[:, :, np.newaxis],
            self.folds,
            self.systems,
        )


def _folds(items: Integers) -> Integers:
    """Deal items into folds, in the order of their codes."""
    distinct, position = np.unique(items, return_inverse=True)
    return np.asarray(position % min(len(distinct), _FOLDS))


def _common(
    y: Floats, x: Floats, *, systems: Integers, items: Integers, folds: Integers
) -> _Controls:
    """Return the control that all systems share: an average of ridge fits and of none."""
    k = int(systems.max()) + 1
    candidates = _candidates(y, x, systems, folds)
    predicted = np.zeros((len(candidates) + 1, len(y)))
    for fold in range(candidates.shape[1]):
        inside = folds == fold
        predicted[1:, inside] = candidates[:, fold] @ x[inside].T
    left = _centred(y - predicted, systems, k) ** 2
    weights = _evidence(left, items, folds)
    beta = np.einsum("fc,cfp->fp", weights[:, 1:], candidates)
    control = np.einsum("nc,cn->n", weights[folds], predicted)
    keep = _reliability(
        _centred(y, systems, k), _centred(control, systems, k), items, folds, p=x.shape[1], k=k
    )
    coefficients = np.repeat((keep[:, np.newaxis] * beta)[:, np.newaxis], k, axis=1)
    return _Controls(keep[folds] * control, coefficients, folds, systems)


def _centred(values: Floats, systems: Integers, k: int) -> Floats:
    """Return values (…, n) around the means of their systems."""
    rows = np.atleast_2d(values)
    count = np.maximum(np.bincount(systems, minlength=k), 1)
    means = np.stack([np.bincount(systems, row, minlength=k) / count for row in rows])
    return (rows - means[:, systems]).reshape(values.shape)


def _candidates(y: Floats, x: Floats, systems: Integers, folds: Integers) -> Floats:
    """Return coefficients (candidates, folds, p), each fold's from the others', within systems."""
    S, C, freedom = _moments_without(y, x, systems, folds)
    variance = np.maximum(np.einsum("fpp->fp", S), 0.0)
    follows = np.abs(np.divide(C, np.sqrt(variance), out=np.zeros_like(C), where=variance > 1e-12))
    found = []
    for sharpness in _SHARPNESS if x.shape[1] > 1 else _SHARPNESS[:1]:
        belief = follows**sharpness
        belief = belief / np.maximum(belief.max(axis=1, keepdims=True), 1e-12)
        size, axes = np.linalg.eigh(belief[:, :, np.newaxis] * S * belief[:, np.newaxis])
        size = np.maximum(size, 0.0)
        along = np.matmul(axes.transpose(0, 2, 1), (belief * C)[:, :, np.newaxis])[:, :, 0]
        total = np.maximum(size.sum(axis=1), 1e-12)
        for explained in _EXPLAINED:
            # Prior variance tau^2 of the coefficients with tau^2 tr S = odds of `explained`.
            ridge = total * (1 - explained) / explained / freedom
            solved = along / (size + ridge[:, np.newaxis])
            found.append(belief * np.matmul(axes, solved[:, :, np.newaxis])[:, :, 0])
    return np.array(found)


def _moments_without(
    y: Floats, x: Floats, systems: Integers, folds: Integers
) -> tuple[Floats, Floats, Floats]:
    """Return within-system (co)variances of metrics and scores without each fold."""
    n_folds, k, (n, p) = int(folds.max()) + 1, int(systems.max()) + 1, x.shape
    cell = folds * k + systems
    rows = np.column_stack([np.ones(n), y, x])
    sums = np.zeros((n_folds * k, p + 2))
    np.add.at(sums, cell, rows)
    sums = sums.reshape(n_folds, k, p + 2)
    products = np.zeros((n_folds, p + 1, p + 1))
    for fold in range(n_folds):
        inside = rows[folds == fold, 1:]
        products[fold] = inside.T @ inside
    sums, products = sums.sum(axis=0) - sums, products.sum(axis=0) - products
    count = sums[:, :, 0]
    root = np.divide(1.0, np.sqrt(count), out=np.zeros_like(count), where=count > 0)
    means = sums[:, :, 1:] * root[:, :, np.newaxis]
    centred = products - np.matmul(means.transpose(0, 2, 1), means)
    freedom = np.maximum(count.sum(axis=1) - (count > 0).sum(axis=1), 1.0)
    centred /= freedom[:, np.newaxis, np.newaxis]
    return centred[:, 1:, 1:], centred[:, 1:, 0], freedom


def _evidence(left: Floats, items: Integers, folds: Integers) -> Floats:
    """Weigh candidates by how well they predict items that they have not seen, (folds, candidates).

    The first row of `left`, squared errors, is without any control, and has half of the prior
    weight. A fold has no say in the weights of its own control. The number of items, not of
    outputs, is what the evidence rests on.
    """
    loss = _without_fold(left.T, folds)
    _, first = np.unique(items, return_index=True)
    n_items = len(first) - np.bincount(folds[first])
    none = np.maximum(loss[:, :1], 1e-300)
    evidence = -n_items[:, np.newaxis] / 2 * np.log(np.maximum(loss / none, 1e-12))
    evidence[:, 1:] -= np.log(len(left) - 1)
    weights = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _without_fold(rows: Floats, folds: Integers) -> Floats:
    """Return the sums of rows (n, q) over all folds but one, (folds, q)."""
    sums = np.zeros((int(folds.max()) + 1, rows.shape[1]))
    np.add.at(sums, folds, rows)
    return np.asarray(sums.sum(axis=0) - sums)


def _reliability(
    y: Floats, control: Floats, items: Integers, folds: Integers, *, p: int, k: int
) -> Floats:
    r"""Share of the control to keep: :math:`\hat a\,(1 - \log(1 + p) \operatorname{Var}\hat a/\hat a^2)_+`.

    :math:`\hat a` is the slope of the judgments on the control, both of items that the control has
    not seen, with a variance that allows for outputs of one item being alike. The best of p
    worthless metrics has a slope that grows with log p, roughly. Each fold's share comes from the others.
    """
    rows = np.column_stack([control**2, control * y, y**2, np.ones(len(y))])
    size, cross, total, count = _without_fold(rows, folds).T
    known = (size > 1e-12 * total) & (cross > 0)
    slope = np.divide(cross, size, out=np.zeros_like(size), where=known)
    noise = np.maximum(total - 2 * slope * cross + slope**2 * size, 0) / np.maximum(
        count - k - 1, 1
    )
    # Of one item's outputs, sums of control times what the slope leaves.
    item, where = np.unique(items, return_inverse=True)[1], folds
    of_item = np.zeros(int(item.max()) + 1, dtype=np.int64)
    of_item[item] = where
    pull = np.stack([np.bincount(item, control * y), np.bincount(item, control**2)], axis=1)
    squares = np.column_stack([pull[:, :1] * pull, pull[:, 1:] ** 2])
    yy, yh, hh = _without_fold(squares, of_item).T
    clustered = np.maximum(yy - 2 * slope * yh + slope**2 * hh, 0)
    worth = np.maximum(clustered, noise * size)
    doubt = np.divide(worth, cross**2, out=np.full_like(worth, np.inf), where=known)
    share = np.maximum(1 - np.log(1 + p) * doubt, 0.0)
    return np.where(known, np.minimum(slope, 1.2) * share, 0.0)


def _own_scales(y: Floats, control: Floats, systems: Integers, folds: Integers) -> Floats:
    """Return the systems' own scales of the common control, (folds, k): random effects.

    A system's own slope on the control is shrunk towards the common one by how much slopes differ
    between systems beyond chance (DerSimonian and Laird 1986), each without the fold at hand.
    """
    n_folds, k = int(folds.max()) + 1, int(systems.max()) + 1
    cell = folds * k + systems
    rows = (np.ones_like(y), y, control, control**2, control * y, y**2)
    sums = [np.bincount(cell, row, minlength=n_folds * k).reshape(n_folds, k) for row in rows]
    n, sy, sh, shh, shy, syy = (one.sum(axis=0) - one for one in sums)
    count = np.maximum(n, 1)
    size, cross, total = shh - sh**2 / count, shy - sh * sy / count, syy - sy**2 / count
    known = (size > 1e-9 * np.maximum(total, 1e-300)) & (n >= 3)
    size, cross = np.where(known, size, 0.0), np.where(known, cross, 0.0)
    left = np.where(known, np.maximum(total - 2 * cross + size, 0.0), 0.0).sum(axis=1)
    freedom = np.maximum(np.where(known, n - 1, 0).sum(axis=1), 1)
    noise = left / freedom
    whole = size.sum(axis=1)
    common = np.divide(cross.sum(axis=1), whole, out=np.ones_like(whole), where=whole > 0)
    # The common scale is 1 by construction, up to the shrinkage of its making.
    prior = 0.25 * whole
    common = np.clip((common * prior + noise) / np.maximum(prior + noise, 1e-300), 0, 1.5)
    common = np.where(whole > 0, common, 1.0)[:, np.newaxis]
    own = np.divide(cross, size, out=np.broadcast_to(common, size.shape).copy(), where=known)
    number = known.sum(axis=1)
    departure = (size * (own - common) ** 2).sum(axis=1) - noise * number
    between = np.divide(departure, whole, out=np.zeros_like(whole), where=whole > 0)
    between = np.maximum(between, 0) * number + _SCALE_VARIANCE * _IMAGINED_SYSTEMS
    between = (between / (number + _IMAGINED_SYSTEMS))[:, np.newaxis]
    error = np.divide(noise[:, np.newaxis], size, out=np.full_like(size, np.inf), where=known)
    kept = np.where(known, between / (between + error), 0.0)
    return np.asarray(np.clip(common + kept * (own - common), 0.0, 2.0))


def _pair_scales(
    y: Floats, control: Floats, *, systems: Integers, items: Integers, folds: Integers
) -> Floats:
    r"""Return the scale of the control that suits differences between systems, (folds,).

    What an item does to all systems leaves their differences, and with it the part of the control that
    follows it. With the terms :math:`u_{ai}` of the errors of k means, all differences together have the
    variance :math:`\sum_i [k \sum_a u_{ai}^2 - (\sum_a u_{ai})^2]`. The scale that makes it least is the
    posterior mean of a normal prior, without the fold at hand. Systems without an item in common err
    independently, so their means' control is the best for differences too.
    """
    k = int(systems.max()) + 1
    item = np.unique(items, return_inverse=True)[1]
    of_item = np.zeros(int(item.max()) + 1, dtype=np.int64)
    of_item[item] = folds
    cell, place = np.unique(item * k + systems, return_inverse=True)
    if len(cell) == len(of_item):
        return np.ones(int(folds.max()) + 1)
    g, h, item = np.bincount(place, y), np.bincount(place, control), cell // k
    sum_g, sum_h = np.bincount(item, g), np.bincount(item, h)
    cross = k * np.bincount(item, h * g) - sum_h * sum_g
    size = k * np.bincount(item, h**2) - sum_h**2
    rows = np.column_stack([cross, size, cross**2, cross * size, size**2])
    b, c, bb, bc, cc = _without_fold(rows, of_item).T
    known = c > 1e-12 * max(float(size.sum()), 1e-300)
    scale = np.divide(b, c, out=np.ones_like(c), where=known)
    doubt = np.divide(
        np.maximum(bb - 2 * scale * bc + scale**2 * cc, 0.0),
        c**2,
        out=np.full_like(c, np.inf),
        where=known,
    )
    kept = _PAIR_VARIANCE / (_PAIR_VARIANCE + doubt)
    found = np.clip(_PAIR_SCALE + kept * (scale - _PAIR_SCALE), 0.0, 1.5)
    return np.asarray(found * (1 - _chance_of_nothing(scale, doubt)))


def _chance_of_nothing(scale: Floats, doubt: Floats) -> Floats:
    """Return the posterior chance that the control is of no use for differences."""
    known = np.isfinite(doubt) & (doubt > 0)
    error = np.where(known, doubt, 1.0)
    wide = _PAIR_VARIANCE + error
    # How much less likely the scale at hand is if the control is of use.
    ratio = np.sqrt(error / wide) * np.exp(
        np.clip(scale**2 / error - (scale - _PAIR_SCALE) ** 2 / wide, -1400, 1400) / 2
    )
    found = _NOTHING / (_NOTHING + (1 - _NOTHING) * ratio)
    # Errors that are not known say nothing; a scale without error says all.
    return np.asarray(np.where(known, found, np.where(doubt > 0, _NOTHING, scale == 0)))
