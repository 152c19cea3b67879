"""Placeholder written while the real one is built."""
from dataclasses import dataclass
from tellapart.strs.local_search import LocalSearch
@dataclass(frozen=True)
class BranchAndBound(LocalSearch):
    name: str = "branch-and-bound"
