"""The objective F(z) = MMD²(z) − λ σ²(z), under the name users know it by."""

from tellapart.statistics.objective import Objective

__all__ = ["Objective"]
