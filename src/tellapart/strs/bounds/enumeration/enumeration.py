"""Every support of a node looked at, most of them in families."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.bounds.enumeration.close import dual_bounds
from tellapart.strs.bounds.enumeration.walk import DONE, MARGIN, STUCK, TINY_PIVOT, thin_out, walk
from tellapart.strs.domains.base import Domain

PAUSE = 30_000_000
"""Work between two looks at the clock: some hundredths of a second."""
ROOM = 20_000
"""Supports found between two pauses, beyond one row of them."""


class Enumeration:
    """The supports of the variables `forced` and `picks` others; M = −A and a run along all.

    `open_supports` yields those whose best dual bound may exceed a cutoff; the maxima over all
    others are at most the cutoff in force when they were passed. After an end without
    `finished` nothing is proved.
    """

    def __init__(
        self, M: FloatArray, a: FloatArray, forced: BoolArray, picks: int, domain: Domain, mu: float
    ) -> None:
        self.M, self.a, self.domain, self.mu, self.picks = M, a, domain, mu, picks
        self.given = np.flatnonzero(forced)
        self.finished = False
        self.work = 0
        H = M + mu * np.eye(a.shape[0])
        H[np.diag_indices_from(H)] *= 1 - MARGIN
        free = np.flatnonzero(~forced)
        self.started = self._condition(H, free)

    def _condition(self, H: FloatArray, free: IntArray) -> bool:
        """Fill in level 0: what the forced variables leave of H and a; False if H rules it out."""
        left, slopes, gained = H[np.ix_(free, free)], self.a[free], 0.0
        if self.given.shape[0] > 0:
            try:
                root = cholesky(H[np.ix_(self.given, self.given)], lower=True)
            except LinAlgError:
                return False
            cross = solve_triangular(root, H[np.ix_(self.given, free)], lower=True)
            along = solve_triangular(root, self.a[self.given], lower=True)
            left, slopes = left - cross.T @ cross, slopes - cross.T @ along
            gained = float(along @ along)
        own = np.diag(H)[free]
        if not (np.diag(left) > TINY_PIVOT * np.abs(own)).all():
            return False
        # The most promising first: what comes last is skipped together.
        order = np.argsort(-self.domain.promise(slopes) / np.sqrt(np.diag(left)), kind="stable")
        size, levels = free.shape[0], max(self.picks - 1, 1)
        self.names = free[order]
        self.left = np.empty((levels, size, size))
        self.left[0] = left[np.ix_(order, order)]
        self.slopes, self.reaches = np.empty((levels, size)), np.full((levels, size), np.inf)
        self.slopes[0] = slopes[order]
        self.gained = np.full(levels, gained)
        self.lists = np.zeros((levels, size), dtype=np.int64)
        self.lists[0] = np.arange(size)
        self.counts, self.places = np.full(levels, -1), np.zeros(levels, dtype=np.int64)
        self.counts[0] = size
        self.floors = TINY_PIVOT * np.abs(own[order])
        self.found = np.empty((ROOM + size, self.picks), dtype=np.int64)
        return True

    def open_supports(self, cutoff: Callable[[], float]) -> Iterator[IntArray | None]:
        """Yield supports that need a closer look, and None at pauses."""
        first = True
        while self.started:
            target = 4 * (cutoff() - self.mu)
            if first and self.picks > 2:
                self._thin_root(target)
            first = False
            state, number, work = walk(
                self.left,
                self.slopes,
                self.reaches,
                self.gained,
                self.lists,
                self.counts,
                self.places,
                self.floors,
                self.picks,
                target,
                self.domain.nonnegative,
                self.found,
                PAUSE,
            )
            self.work += work
            if state == STUCK:
                return
            yield from self._not_closed(self.found[:number], cutoff)
            yield None
            if state == DONE:
                self.finished = True
                return

    @property
    def promised_work(self) -> float:
        """About the operations of the whole enumeration, too many rather than too few.

        As if the supports not visited yet took as many each as those done with; the most
        promising come first, and take the most.
        """
        if self.finished or not self.started:
            return float(self.work)
        size, place = int(self.counts[0]), int(self.places[0])
        left = comb(max(size - place, 0), self.picks)
        done = 1 - left / max(comb(max(size, self.picks), self.picks), 1)
        return self.work / done if done > 0 else np.inf

    def _thin_root(self, target: float) -> None:
        thin_out(
            self.left[0],
            self.slopes[0],
            self.reaches[0],
            self.lists[0],
            self.counts,
            0,
            self.picks,
            target - float(self.gained[0]),
            self.domain.nonnegative,
            self.floors,
        )

    def _not_closed(self, found: IntArray, cutoff: Callable[[], float]) -> Iterator[IntArray]:
        """Yield those of some supports that their own best multiplier does not close."""
        given = np.broadcast_to(self.given, (found.shape[0], self.given.shape[0]))
        supports = np.hstack([given, self.names[found]])
        if self.domain.on_sphere:
            bounds = dual_bounds(self.M, self.a, supports, self.domain.nonnegative)
            order = np.argsort(-bounds, kind="stable")
            supports, bounds = supports[order], bounds[order]
            for support, bound in zip(supports, bounds, strict=True):
                # The cutoff rises with what is found.
                if bound <= cutoff():
                    break
                yield np.sort(support)
        else:
            yield from (np.sort(support) for support in supports)
