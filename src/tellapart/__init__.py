"""Tell whether two samples differ, and by which few variables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tellapart import baselines, datasets, kernels, objective, strs
    from tellapart.errors import ConstantColumnWarning, InputError, MissingDependencyError
    from tellapart.groups import compare_groups
    from tellapart.groups_result import GroupsResult
    from tellapart.reference import CheckResult, ReferenceMonitor, compare_to_reference
    from tellapart.result import TestResult
    from tellapart.select import select_variables
    from tellapart.selection import Selection
    from tellapart.selector import MMDSelector
    from tellapart.sources import with_names
    from tellapart.two_sample import two_sample_test

__version__ = "0.1.0"

__all__ = [
    "CheckResult",
    "ConstantColumnWarning",
    "GroupsResult",
    "InputError",
    "MMDSelector",
    "MissingDependencyError",
    "ReferenceMonitor",
    "Selection",
    "TestResult",
    "__version__",
    "baselines",
    "compare_groups",
    "compare_to_reference",
    "datasets",
    "kernels",
    "objective",
    "select_variables",
    "strs",
    "two_sample_test",
    "with_names",
]

_SUBMODULES = ("baselines", "datasets", "kernels", "objective", "strs")
_HOME = {
    "CheckResult": "reference",
    "ConstantColumnWarning": "errors",
    "GroupsResult": "groups_result",
    "InputError": "errors",
    "MMDSelector": "selector",
    "MissingDependencyError": "errors",
    "ReferenceMonitor": "reference",
    "Selection": "selection",
    "TestResult": "result",
    "compare_groups": "groups",
    "compare_to_reference": "reference",
    "select_variables": "select",
    "two_sample_test": "two_sample",
    "with_names": "sources",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: Numba and scikit-learn take a second to load."""
    if name in _SUBMODULES:
        return import_module(f"tellapart.{name}")
    if name in _HOME:
        value = getattr(import_module(f"tellapart.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tellapart' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
