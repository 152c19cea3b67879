"""The Python call behind a result: what a page gives for repeating it."""

from __future__ import annotations

from collections.abc import Mapping

from tellapart.data.design_labels import ARGUMENTS, GIVEN


def write_arguments(settings: Mapping[str, object], usual: Mapping[str, object]) -> str:
    """Return the settings that differ from the usual ones, as the end of an argument list.

    Examples
    --------
    >>> write_arguments({"alpha": 0.1, "kernel": "linear"}, {"alpha": 0.05, "kernel": "linear"})
    ', alpha=0.1'
    """
    given = {key: value for key, value in settings.items() if value != usual.get(key)}
    # A kernel or solver of one's own is known by its repr, which is code already.
    return "".join(f", {k}={v if '(' in str(v) else repr(v)}" for k, v in given.items())


def design_arguments(settings: Mapping[str, object], labels: str) -> dict[str, object]:
    """Return the design among the settings; labels that were given are written as `labels` says.

    Examples
    --------
    >>> asked = {"alpha": 0.05, "strata": "site", "clusters": "given labels"}
    >>> write_arguments(design_arguments(asked, "({0}_of_x, {0}_of_y)"), {})
    ", strata='site', clusters=(clusters_of_x, clusters_of_y)"
    """
    return {
        name: labels.format(name) if value == GIVEN else value
        for name, value in settings.items()
        if name in ARGUMENTS
    }
