"""How large a difference is: effect sizes of raw values, studentised tests and intervals.

Everything here is computed from the values as they are, of the rows that have them. What finds a
difference, by ranks and winsorised values under permutations, is `tellapart.scan`; what is printed
beside it comes from here.
"""

from tellapart.effects.columns import column_effects
from tellapart.effects.estimate import Estimate, IndependentRows, Sampling, sampling_of
from tellapart.effects.groups import pair_effects, triple_effect

__all__ = [
    "Estimate",
    "IndependentRows",
    "Sampling",
    "column_effects",
    "pair_effects",
    "sampling_of",
    "triple_effect",
]
