"""Test whether two samples differ, and which few variables distinguish them."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tellapart import baselines, datasets, kernels, objective, strs, theory
    from tellapart.data.sources.anndata import from_anndata
    from tellapart.data.sources.array import with_names
    from tellapart.data.sources.files import open_dataset
    from tellapart.data.sources.metadata import with_metadata
    from tellapart.data.time_blocks import time_blocks
    from tellapart.errors import (
        ConstantColumnWarning,
        InputError,
        InputWarning,
        MissingDependencyError,
        SchemaError,
    )
    from tellapart.estimator import MMDSelector
    from tellapart.groups.compare_groups import compare_groups
    from tellapart.groups.result import GroupsResult
    from tellapart.monitor.batch_monitor import BatchCheck, BatchMonitor
    from tellapart.monitor.check_result import CheckResult
    from tellapart.monitor.compare_to_reference import compare_to_reference, load_monitor
    from tellapart.monitor.reference_monitor import ReferenceMonitor
    from tellapart.planning.plan import SamplePlan
    from tellapart.planning.plan_sample_size import plan_sample_size
    from tellapart.results.result import TestResult
    from tellapart.scan.finding import Finding
    from tellapart.selection.select_variables import select_variables
    from tellapart.selection.selection import Selection
    from tellapart.two_sample.equivalence import (
        EquivalenceResult,
        assert_similar,
        equivalence_test,
    )
    from tellapart.two_sample.two_sample_test import two_sample_test

__version__ = "0.2.0"

# What is logged goes to handlers of the program, and nowhere without any.
logging.getLogger(__name__).addHandler(logging.NullHandler())

__all__ = [
    "BatchCheck",
    "BatchMonitor",
    "CheckResult",
    "ConstantColumnWarning",
    "EquivalenceResult",
    "Finding",
    "GroupsResult",
    "InputError",
    "InputWarning",
    "MMDSelector",
    "MissingDependencyError",
    "ReferenceMonitor",
    "SamplePlan",
    "SchemaError",
    "Selection",
    "TestResult",
    "__version__",
    "assert_similar",
    "baselines",
    "compare_groups",
    "compare_to_reference",
    "datasets",
    "equivalence_test",
    "from_anndata",
    "kernels",
    "load_monitor",
    "objective",
    "open_dataset",
    "plan_sample_size",
    "select_variables",
    "strs",
    "theory",
    "time_blocks",
    "two_sample_test",
    "with_metadata",
    "with_names",
]

_SUBMODULES = ("baselines", "datasets", "kernels", "objective", "strs", "theory")
_HOME = {
    "BatchCheck": "monitor.batch_monitor",
    "BatchMonitor": "monitor.batch_monitor",
    "CheckResult": "monitor.check_result",
    "ConstantColumnWarning": "errors",
    "EquivalenceResult": "two_sample.equivalence",
    "Finding": "scan.finding",
    "GroupsResult": "groups.result",
    "InputError": "errors",
    "InputWarning": "errors",
    "MMDSelector": "estimator",
    "MissingDependencyError": "errors",
    "ReferenceMonitor": "monitor.reference_monitor",
    "SamplePlan": "planning.plan",
    "SchemaError": "errors",
    "Selection": "selection.selection",
    "TestResult": "results.result",
    "assert_similar": "two_sample.equivalence",
    "compare_groups": "groups.compare_groups",
    "compare_to_reference": "monitor.compare_to_reference",
    "equivalence_test": "two_sample.equivalence",
    "from_anndata": "data.sources.anndata",
    "load_monitor": "monitor.compare_to_reference",
    "open_dataset": "data.sources.files",
    "plan_sample_size": "planning.plan_sample_size",
    "select_variables": "selection.select_variables",
    "time_blocks": "data.time_blocks",
    "two_sample_test": "two_sample.two_sample_test",
    "with_metadata": "data.sources.metadata",
    "with_names": "data.sources.array",
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
