"""A result as plain Python values: everything but the data, ready for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tellapart.data.design import Design
from tellapart.data.samples import Samples

if TYPE_CHECKING:
    from tellapart.testing.result import TestResult


def record_design(design: Design | None) -> dict[str, Any] | None:
    """Return a design as plain Python values."""
    if design is None:
        return None
    return {
        "strata": design.strata,
        "paired": design.paired,
        "clusters": design.clusters,
        "n_blocks": design.n_blocks,
        "n_units": list(design.n_units),
        "left_out": list(design.left_out),
        "described": design.describe(),
    }


def record_missing(samples: Samples) -> dict[str, Any]:
    """Return what was done about missing values; all empty where there are none."""
    return {
        "dropped_rows": list(samples.dropped_rows),
        "dropped_columns": list(samples.dropped_columns),
        "pairwise_columns": list(samples.filled_columns),
    }


def record_result(result: TestResult) -> dict[str, Any]:
    """Return everything but the data as plain Python values."""
    return {
        "pvalue": result.pvalue,
        "pvalue_error": result.pvalue_error,
        "statistic": result.statistic,
        "threshold": result.threshold,
        "reject": result.reject,
        "alpha": result.alpha,
        "exact": result.exact,
        "n_permutations": int(result.null_distribution.size),
        "rows_per_bin": result.rows_per_bin,
        "note": result.note,
        "labels": list(result.labels),
        "design": record_design(result.held_out.design),
        "n_train": list(result.n_train),
        "n_test": list(result.n_test),
        "missing": record_missing(result.held_out),
        "columns": result.held_out.notes.to_dict(),
        "drawn_from": None if result.drawn_from is None else list(result.drawn_from),
        "variables": list(result.variables),
        "regularization": result.regularization,
        "selection": result.selection.to_dict(),
        "tuning": None if result.tuning is None else asdict(result.tuning),
        "method": None if result.method is None else result.method.name,
        "scan": None if result.scan is None else result.scan.to_dict(),
        "settings": dict(result.settings),
        "seconds": result.seconds,
        "null_distribution": result.null_distribution.tolist(),
    }
