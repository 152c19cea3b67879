"""Search for the best few variables under kernels that no exact solver covers."""

from tellapart.search.annealing import Trace
from tellapart.search.solver import QUICK, Annealing, Found

__all__ = ["QUICK", "Annealing", "Found", "Trace"]
