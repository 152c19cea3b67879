"""The chosen variables in every group, as figures show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy import bool_
from numpy.typing import NDArray

from tellapart.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Profile:
    """Variables × groups: the heaviest variables of the comparisons that differ.

    Attributes
    ----------
    variables : tuple of str
        What is shown, group by group; of a category the level that differs most.
    groups : tuple of str
        All groups.
    listed_under : tuple of int
        For each variable the place of the group it is listed under: of those it was chosen for,
        the one it differs most in.
    effects : array of shape (variables, groups)
        Mean of the group less that of all other rows, in SDs within both.
    shares : array of the same shape
        Rows of the group above the most common value of the variable, where a tenth of all rows
        has it (for counts: the share that is not 0), else above its median; of a category, rows
        of that level.
    chosen : array of the same shape
        Whether the variable was chosen in a comparison of the group that differs.
    pvalues : array of the same shape
        The smallest p-value of the variable in these comparisons, adjusted within its comparison;
        1 in others.
    """

    variables: tuple[str, ...]
    groups: tuple[str, ...]
    listed_under: tuple[int, ...]
    effects: FloatArray
    shares: FloatArray
    chosen: NDArray[bool_]
    pvalues: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values, ready for JSON."""
        return {
            "variables": list(self.variables),
            "groups": list(self.groups),
            "listed_under": [self.groups[g] for g in self.listed_under],
            "effects": self.effects.tolist(),
            "shares": self.shares.tolist(),
            "chosen": self.chosen.tolist(),
            "pvalues": self.pvalues.tolist(),
        }
