"""Arguments of public calls: settings made from all of them, checks of single ones.

An argument that is wrong is one clear error, raised before any work is done.
"""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, SupportsFloat, SupportsInt, TypeVar, cast

import numpy as np

from tellapart.errors import InputError

Settings = TypeVar("Settings")


def settings_from(kind: type[Settings], arguments: Mapping[str, Any], **others: Any) -> Settings:
    """Return settings of a kind with the values that a call was given, matched by name.

    Public calls write out their arguments; `settings_from(kind, locals())` in their first line
    spares writing them out again. `others` are given beside the arguments, or instead of them.
    """
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    given = {name: value for name, value in arguments.items() if name in names}
    return kind(**given | others)


def with_checked(settings: Settings, **values: Any) -> Settings:
    """Return settings with other values, which are valid: none is checked again."""
    other = object.__new__(type(settings))
    for field in fields(settings):  # type: ignore[arg-type]
        value = values[field.name] if field.name in values else getattr(settings, field.name)
        object.__setattr__(other, field.name, value)
    return other


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`; the error lists them all."""
    allowed = list(choices)
    if isinstance(value, str) and value in allowed:
        return value
    raise InputError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}")


def check_flag(name: str, value: object) -> bool:
    """Return `value` if it is True or False; other truthy or falsy values are errors."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputError(f"{name} must be True or False; got {value!r}")


def check_labels(value: object) -> tuple[str, str]:
    """Return the names of two samples: two different non-empty strings."""
    pair = tuple(value) if isinstance(value, list | tuple) else ()
    if len(pair) == 2 and all(isinstance(label, str) and label for label in pair):
        first, second = pair
        if first != second:
            return first, second
    raise InputError(f"labels must be two different non-empty strings; got {value!r}")


def check_integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return `value` as an int in [low, high]."""
    expected = f"an integer of at least {low}" if high is None else f"an integer in {low}..{high}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name} must be {expected}; got {value!r}")
    number = int(cast(SupportsInt, value))
    if number < low or (high is not None and number > high):
        raise InputError(f"{name} must be {expected}; got {number}")
    return number


def check_number(
    name: str,
    value: object,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return `value` as a finite float in the interval from `low` to `high`."""
    left = "(" if open_low or low == -math.inf else "["
    right = ")" if open_high or high == math.inf else "]"
    expected = f"a finite number in {left}{low:g}, {high:g}{right}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InputError(f"{name} must be {expected}; got {value!r}")
    try:
        number = float(cast(SupportsFloat, value))
    except OverflowError:  # an integer beyond float64
        number = math.inf if cast(int, value) > 0 else -math.inf
    below = number < low or (open_low and number == low)
    above = number > high or (open_high and number == high)
    if not math.isfinite(number) or below or above:
        raise InputError(f"{name} must be {expected}; got {number!r}")
    return number


def check_time_limit(value: object) -> float | None:
    """Return the time limit in seconds, or None for no limit."""
    return None if value is None else check_number("time_limit", value, 0.0, open_low=True)


def check_random_state(value: object) -> np.random.Generator:
    """Return a generator from None, a non-negative integer seed, or a Generator."""
    if isinstance(value, np.random.Generator):
        return value
    if value is None:
        return np.random.default_rng()
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if is_integer and int(cast(SupportsInt, value)) >= 0:
        return np.random.default_rng(int(cast(SupportsInt, value)))
    raise InputError(
        f"random_state must be None, a non-negative integer or a numpy Generator; got {value!r}"
    )


def check_n_jobs(value: object) -> int:
    """Return a number of threads: None is 1, −1 is every core."""
    if value is None:
        return 1
    if isinstance(value, numbers.Integral) and int(cast(SupportsInt, value)) == -1:
        return os.cpu_count() or 1
    try:
        return check_integer("n_jobs", value, 1)
    except InputError:
        raise InputError(
            f"n_jobs must be None, -1 (every core) or a positive integer; got {value!r}"
        ) from None
