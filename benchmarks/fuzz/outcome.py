"""What may become of a call: a whole result, or one clear error. Anything else is a fault."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable

from tellapart.errors import InputError, MissingDependencyError

UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What steers a terminal, breaks a line or turns text around."""


class FaultError(AssertionError):
    """A call that neither answered nor refused in one clear line."""


def outcome(call: Callable[[], object]) -> str:
    """Return "result" or "refused"; anything else is raised, warnings of NumPy included."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("error", DeprecationWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            result = call()
        except (InputError, MissingDependencyError) as error:
            check_line(str(error))
            return "refused"
    check_result(result)
    return "result"


def check_line(message: str) -> None:
    """Raise a FaultError unless the message is one line that is safe to show."""
    if not message.strip() or UNSAFE.search(message):
        raise FaultError(f"not one clear line: {message!r}")


def check_result(result: object) -> None:
    """Raise a FaultError unless p-value, variables, summary and JSON hold together."""
    pvalue, variables = result.pvalue, result.variables  # type: ignore[attr-defined]
    if not (0 < pvalue <= 1 and math.isfinite(pvalue)):
        raise FaultError(f"p-value {pvalue!r}")
    if len(set(variables)) != len(variables) or not variables:
        raise FaultError(f"variables {variables!r}")
    if not result.summary().strip():  # type: ignore[attr-defined]
        raise FaultError("empty summary")
    result.to_json()  # type: ignore[attr-defined]
