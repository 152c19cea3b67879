"""Candidates among many columns: those that first-order information speaks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.search.starts import Scores
from tellapart.statistics.objective import FittedObjective

# Newcomers in one round of screening at most.
_NEWCOMERS = 30
MOST_ROUNDS = 5


@dataclass(frozen=True)
class Screen:
    """The candidate columns and the objective restricted to them.

    Attributes
    ----------
    columns : sorted int array
        The candidates.
    objective : FittedObjective
        F of the candidates alone, the kernel as it is for all columns.
    size : int
        Number of all columns.
    rounds : int
        How often candidates were chosen.
    """

    columns: IntArray
    objective: FittedObjective
    size: int
    rounds: int = 1

    @classmethod
    def of(
        cls,
        objective: FittedObjective,
        scores: Scores,
        n_variables: int,
        most: int,
        must: Sequence[int] = (),
    ) -> Screen:
        """Choose candidates: those of the starts, then the best by themselves and by slope.

        By slope: ∂F/∂ω_s at equal weights, where every column has its say.
        """
        size = scores.single.shape[0]
        wanted = max(most, 4 * n_variables)
        if size <= wanted:
            return cls(np.arange(size), objective, size)
        lift = objective.lift(objective.weight_slopes(np.full(size, 1 / np.sqrt(size))))
        first = [*must, *(s for group in scores.groups for s in group)]
        first += np.flatnonzero(scores.linear).tolist()
        ranked = zip(np.argsort(-scores.single), np.argsort(-lift), strict=True)
        queue = [*first, *(int(s) for pair in ranked for s in pair)]
        # Starts are never cut short, however few candidates were asked for.
        wanted = max(wanted, len(set(first)))
        columns = np.sort(np.array(list(dict.fromkeys(queue))[:wanted]))
        return cls(columns, objective.columns(columns), size)

    def restricted(self, scores: Scores) -> Scores:
        """Return the scores of the candidates, by their positions among them."""
        place = {int(s): i for i, s in enumerate(self.columns)}
        groups = tuple(tuple(place[s] for s in group) for group in scores.groups)
        return Scores(scores.single[self.columns], scores.linear[self.columns], groups)

    def embedded(self, z: FloatArray) -> FloatArray:
        """Return z of the candidates as a point of all columns."""
        full = np.zeros(self.size)
        full[self.columns] = z
        return full


def widened(
    screen: Screen, objective: FittedObjective, z: FloatArray, n_variables: int
) -> Screen | None:
    """Return a screen with more columns if some outside promise as much as those in use.

    Where Σω = 1, a column is worth a look if its ∂F/∂ω_s at z is above that of the chosen ones,
    which have one in common at a maximum. Elsewhere any slope helps while a place is unused, and
    one above the least of the chosen ones after that.
    """
    outside = np.setdiff1d(np.arange(screen.size), screen.columns)
    if outside.size == 0 or screen.rounds == MOST_ROUNDS:
        return None
    slopes = objective.weight_slopes(z)
    lift = objective.lift(slopes)
    used = np.flatnonzero(z)
    if objective.squares_weights:
        least = float(objective.weights(z) @ slopes)
    else:
        least = float(lift[used].min()) if used.shape[0] == n_variables else 0.0
    promising = outside[lift[outside] > least]
    if promising.size == 0:
        return None
    newcomers = promising[np.argsort(-lift[promising], kind="stable")[:_NEWCOMERS]]
    columns = np.union1d(screen.columns, newcomers)
    return Screen(columns, objective.columns(columns), screen.size, screen.rounds + 1)
