"""A race: judge systems item by item, and let those go that need no more judgments."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.design.race.accounts import Accounts
from steelyard.design.race.claims import ordered_claims
from steelyard.design.race.control import RaceControl
from steelyard.design.race.options import RaceOptions
from steelyard.errors import InvalidArgumentError

__all__ = ["Race"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]

# Of the stake against a system, what is bet on the leader of the moment; the rest is divided among
# all others.
_ON_LEADER = 0.95
# What is kept back for bets that others are at most the margin below, if there is a margin.
_ON_MARGIN = 0.5
# Capital beyond this is counted as this, so that the exponential does not overflow.
_ENOUGH = 600.0


class Race:
    r"""Which of K systems is best, or how they are ordered, after every item.

    All systems that are still in are judged on the same items, in the random order of a draw without
    replacement. A system is let go once the goal needs no more of it.

    **best.** Against "a is the best" somebody bets that others are better than a: most of
    the stake on the leader among the others at that moment, the rest divided among all others. If a is the best,
    no such bet gains on average, so the capital ever reaches :math:`1/\alpha` with probability at
    most :math:`\alpha`: then a is out. Only the best system's account can be wrong, so there is no
    price for the number of systems. With a margin, one half is kept back and divided among bets that
    each b is at most the margin below a: b is named when, with these, the capital against every other
    a that is in reaches :math:`1/\alpha`.

    **order.** See `ordered_claims`: every pair at :math:`(K-1)/\alpha`.

    **difference.** Every pair at :math:`m/\alpha` with m the number of pairs, one half of the stake on
    "b is better than a" and the other on "b is at most the margin below a".

    Parameters
    ----------
    differing : (K, K) array of int
        Items of the pool on which two systems' outputs differ.
    pool_size : int
        Items of the pool, N.
    options : RaceOptions
        Goal, margin, level, bounds and method.
    runs : int
        Campaigns that are run side by side.
    control : RaceControl, optional
        The metrics of all outputs of the pool.

    Attributes
    ----------
    items : int
        Items so far.
    inside : (R, K) array of bool
        Systems that still get judgments.
    out_at, out_by : (R, K) array of int
        The item after which a system was let go, 0 while it is in; and, with the goal best, the system that led
        then, else -1.
    beaten : (R, K, K) array of bool
        [a, b]: b was found to be better than a, at the level of its pair.
    near : (R, K, K) array of bool
        [a, b]: b was found to be at most the margin worse than a.
    decided_at : (R,) array of int
        The item after which the goal was reached, 0 before.
    contradicted : (R,) array of bool
        Whether every system was found not to be the best; the leader then stays.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> race = Race(np.full((3, 3), 500) - np.diag([500] * 3), 500, RaceOptions())
    >>> while not race.decided_at[0]:
    ...     race.judge(rng.uniform(size=(1, 3)) * [0.6, 0.4, 1.0])
    >>> race.items, race.winner.tolist(), race.out_at.tolist()
    (28, [2], [[28, 22, 0]])
    """

    def __init__(
        self,
        differing: ArrayLike,
        pool_size: int,
        options: RaceOptions,
        *,
        runs: int = 1,
        control: RaceControl | None = None,
    ) -> None:
        apart = np.asarray(differing, dtype=np.int64)
        systems = len(apart)
        if systems < 2:
            raise InvalidArgumentError(f"a race needs at least two systems; got {systems}")
        self.options = options
        self.pool_size = pool_size
        self.control = control
        margin = (options.margin or 0) / options.scale
        sums = [0.0] if options.margin is None else [0.0, -pool_size * margin]
        candidates = np.stack([np.full(apart.shape, one) for one in sums])
        self.accounts = Accounts.opened(
            apart,
            candidates,
            runs=runs,
            method=options.method,
            bounded=options.bounded,
            # Of systems that are nearly equal any will do, and the luckiest is named first: metrics would take its luck.
            corrects=(True, options.goal != "best"),
        )
        self.items = 0
        self.total = np.zeros((runs, systems))
        self.inside = np.ones((runs, systems), dtype=bool)
        self.out_at = np.zeros((runs, systems), dtype=np.int64)
        self.out_by = np.full((runs, systems), -1)
        self.beaten = np.zeros((runs, systems, systems), dtype=bool)
        self.near = np.zeros((runs, systems, systems), dtype=bool)
        self.decided_at = np.zeros(runs, dtype=np.int64)
        self.contradicted = np.zeros(runs, dtype=bool)
        self._on_leader = np.zeros((runs, systems))

    @property
    def systems(self) -> int:
        """Number of systems K."""
        return len(self.accounts.differing)

    @property
    def alike(self) -> Bools:
        """Systems that wrote the same text for every item of the pool; (K, K)."""
        return np.asarray(self.accounts.differing == 0)

    @property
    def running(self) -> Bools:
        """Campaigns whose goal is not reached; (R,)."""
        return np.asarray(self.decided_at == 0)

    @property
    def winner(self) -> Integers:
        """The leader among those still in, or among those known to be near all of them; (R,)."""
        near = self._near_all
        kept = np.where(near.any(axis=1, keepdims=True), near, self.inside)
        return np.asarray(np.where(kept, self.total, -np.inf).argmax(axis=1))

    @property
    def mean_differences(self) -> Floats:
        """[a, b]: mean of b less mean of a over the items judged for both; (R, K, K)."""
        # Where they wrote the same, they differ by 0.
        common = np.minimum(self._counts[:, :, np.newaxis], self._counts[:, np.newaxis, :])
        return np.asarray(self.accounts.total * self.options.scale / np.maximum(common, 1))

    @property
    def _counts(self) -> Integers:
        return np.asarray(np.where(self.out_at > 0, self.out_at, self.items))

    @property
    def evidence(self) -> Floats:
        r"""Capital against each system being the best; it is out at :math:`1/\alpha`; (R, K)."""
        capital = _capital(self.accounts.logarithm[:, 0])
        capital[self.accounts.certain(self.accounts.candidates[0])] = np.inf
        return self._against(capital)

    def judge(
        self, scores: ArrayLike, same: Bools | None = None, *, place: int | None = None
    ) -> None:
        """Add one item.

        Parameters
        ----------
        scores : (R, K) array
            Judgments of this item; those of systems that are out are not looked at.
        same : (K, K) or (R, K, K) array of bool, optional
            Pairs of systems that wrote the same text.
        place : int, optional
            Its number in the pool of the `control`; by default its number in the race.
        """
        human = np.asarray(scores, dtype=np.float64) / self.options.scale
        playing = self.inside & self.running[:, np.newaxis]
        if not np.isfinite(human[playing]).all():
            raise InvalidArgumentError("`scores` must be finite for every system that is in")
        human = np.where(playing, human, 0)
        live = playing[:, :, np.newaxis] & playing[:, np.newaxis, :]
        live &= ~np.eye(self.systems, dtype=bool)
        if same is not None:
            live &= ~same
        leads = self._leading()
        apart = human[:, np.newaxis, :] - human[:, :, np.newaxis]
        if self.control is None:
            gained = self.accounts.played(apart, live)
        else:
            number = self.items if place is None else place
            foretold = self.control.correction(number, self.running)
            gained = self.accounts.played(apart, live, foretold)
            self.control.judged(number, human, playing)
        # The asymptotic race has no bets to move from one to another.
        if self.options.method == "betting":
            # Those who lead together share the bet evenly.
            factor = (np.exp(gained[:, 0]) * leads).sum(axis=2) / leads.sum(axis=2)
            self._on_leader += np.where(playing, np.log(factor), 0)
        self.total += human
        self.items += 1
        if self.options.goal == "best":
            self._let_losers_go(playing)
        else:
            self._let_decided_go(playing)

    @property
    def on_margin(self) -> float:
        """Share of the stake that is on differences up to the margin."""
        return 0.0 if self.options.margin is None else _ON_MARGIN

    def _leading(self) -> Bools:
        """Return whether b leads the others than a that are in; (R, K, K)."""
        standing = np.where(self.inside, self.total, -np.inf)
        others = np.repeat(standing[:, np.newaxis, :], self.systems, axis=1)
        others[:, np.eye(self.systems, dtype=bool)] = -np.inf
        return np.asarray(others == others.max(axis=2, keepdims=True))

    def _against(self, capital: Floats) -> Floats:
        """Return the capital against each system, given that of each pair."""
        leader = 0.0 if self.options.method == "asymptotic" else _ON_LEADER
        others = capital.sum(axis=2) / (self.systems - 1)
        found = leader * _capital(self._on_leader) + (1 - leader) * others
        return np.asarray(found * (1 - self.on_margin))

    def _let_losers_go(self, playing: Bools) -> None:
        evidence = self.evidence
        if self.options.margin is not None:
            self._find_near(evidence)
        out = playing & (evidence >= 1 / self.options.alpha)
        # One must be the best: the leader stays.
        lost = (playing & ~out).sum(axis=1) == 0
        self.contradicted |= lost & playing.any(axis=1)
        out[lost, self.winner[lost]] = False
        self.out_by = np.where(out, self._leading().argmax(axis=2), self.out_by)
        self._let_go(out)
        # Systems that wrote the same texts throughout are equally good.
        apart = self.inside[:, :, np.newaxis] & self.inside[:, np.newaxis, :] & ~self.alike
        enough = ~apart.any(axis=(1, 2)) | self._near_all.any(axis=1)
        self.decided_at = np.where(self.running & enough, self.items, self.decided_at)

    @property
    def _near_all(self) -> Bools:
        """Systems at most the margin below every other that is in; (R, K)."""
        if self.options.goal != "best" or self.options.margin is None:
            return np.zeros_like(self.inside)
        known = self.near | ~self.inside[:, :, np.newaxis] | np.eye(self.systems, dtype=bool)
        return np.asarray(known.all(axis=1) & self.inside)

    def _find_near(self, evidence: Floats) -> None:
        """Note which systems are at most the margin below which, if the latter is the best."""
        on_margin = _capital(self.accounts.logarithm[:, 1]) * self.on_margin / (self.systems - 1)
        near = evidence[:, :, np.newaxis] + on_margin >= 1 / self.options.alpha
        near |= self.accounts.certain(self.accounts.candidates[1])
        self.near |= near & self.running[:, np.newaxis, np.newaxis]

    def _let_decided_go(self, playing: Bools) -> None:
        accounts, running = self.accounts, self.running[:, np.newaxis, np.newaxis]
        capital = (1 - self.on_margin) * _capital(accounts.logarithm[:, 0])
        better = (capital >= self.least_capital) | accounts.certain(accounts.candidates[0])
        self.beaten |= better & running
        if self.options.goal == "difference":
            capital += self.on_margin * _capital(accounts.logarithm[:, 1])
            near = (capital >= self.least_capital) | accounts.certain(accounts.candidates[1])
            self.near |= near & running
        settled = np.all(self.settled | np.eye(self.systems, dtype=bool), axis=2)
        self._let_go(playing & settled)
        self.decided_at = np.where(self.running & settled.all(axis=1), self.items, self.decided_at)

    @property
    def least_capital(self) -> float:
        """The capital at which a pair is decided, by the goal order or difference."""
        neighbours = self.systems - 1
        pairs = self.systems * neighbours / 2
        return (pairs if self.options.goal == "difference" else neighbours) / self.options.alpha

    @property
    def above(self) -> Bools:
        """[a, b]: b is known to be better than a, by the goal order or difference; (R, K, K)."""
        return ordered_claims(self.beaten) if self.options.goal == "order" else self.beaten

    @property
    def settled(self) -> Bools:
        """Pairs that are decided by the goal order or difference, and nobody against himself; (R, K, K)."""
        above = self.above
        near = (self.near & self.near.transpose(0, 2, 1)) | self.alike
        return np.asarray(above | above.transpose(0, 2, 1) | near) & ~np.eye(
            self.systems, dtype=bool
        )

    def _let_go(self, out: Bools) -> None:
        self.out_at = np.where(out, self.items, self.out_at)
        self.inside = self.inside & ~out


def _capital(logarithm: Floats) -> Floats:
    capital = np.exp(np.minimum(logarithm, _ENOUGH))
    if capital.ndim == 3:  # nobody bets against himself
        capital[:, np.eye(capital.shape[-1], dtype=bool)] = 0
    return np.asarray(capital)
