"""The Python call behind a result: what a page gives for repeating it."""

from __future__ import annotations

from collections.abc import Mapping


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
