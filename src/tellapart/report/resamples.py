"""What the report says of stability: how often each variable was chosen again, and what instead."""

from __future__ import annotations

from dataclasses import dataclass

from tellapart.arguments import check_integer
from tellapart.errors import InputError
from tellapart.selection.stability import FEWEST_ROWS, Stability
from tellapart.testing.result import TestResult

RESAMPLES = 50
SECONDS = 10.0
"""What a report that was not asked for a number of resamples spends on them."""
MOST_OTHERS = 8


@dataclass(frozen=True)
class Count:
    """One variable, how often it was chosen again in words, and as a share."""

    name: str
    text: str
    share: float


@dataclass(frozen=True)
class Resamples:
    """The counts of the chosen variables and of the runners-up, and how they were made."""

    method: str
    found: str
    chosen: dict[str, Count]
    others: list[Count]
    left_out: int


def measure_for_report(result: TestResult, asked: bool | int) -> Stability | None:
    """Return the stability a report shows: None where it was not asked for or cannot be had.

    True is 50 resamples, or as many as fit into ten seconds; a number is that many. Where every
    variable is chosen, there is nothing to count.
    """
    if not isinstance(asked, bool):
        try:
            count = check_integer("stability", asked, 0)
        except InputError:
            raise InputError(
                f"stability must be True, False or a number of resamples; got {asked!r}"
            ) from None
        return result.stability(count) if count else None
    if not asked or result.train is None or result.kernel is None:
        return None
    selection = result.selection
    all_chosen = selection.support.size + len(selection.constant) == len(selection.names)
    if min(result.train.n_x, result.train.n_y) < FEWEST_ROWS or all_chosen:
        return None
    return result.stability(RESAMPLES, time_limit=SECONDS)


def describe_stability(stability: Stability) -> Resamples:
    """Put counts into words."""
    made = stability.n_resamples
    counts = {
        name: Count(name, f"{count} of {made}", count / made)
        for name, count in (stability.chosen | stability.others).items()
    }
    others = [counts[name] for name in stability.others]
    return Resamples(
        method=_method(stability),
        found=_found(stability),
        chosen={name: counts[name] for name in stability.chosen},
        others=others[:MOST_OTHERS],
        left_out=max(len(others) - MOST_OTHERS, 0),
    )


def _method(stability: Stability) -> str:
    x, y = stability.n_rows
    rows = f"{x:,} and {y:,} rows"
    of = "halves of the training rows" if stability.halves else "draws from the training rows"
    short = (
        f" Time ran out after {stability.n_resamples} of {stability.asked}."
        if stability.n_resamples < stability.asked
        else ""
    )
    return (
        f"The choice was made again on {stability.n_resamples} random {of} ({rows} each), with the "
        f"same kernel, λ and number of variables.{short}"
    )


def _found(stability: Stability) -> str:
    made = stability.n_resamples
    (first, most), *rest = stability.chosen.items()
    if not rest:
        return f"In {_times(most, made)}, the choice was {first} again."
    last, least = rest[-1]
    if least == most:
        return f"Each of the {len(stability.chosen)} variables was chosen in {_times(most, made)}."
    return (
        f"Most often chosen was {first}, in {_times(most, made)}; least often {last}, "
        f"in {_times(least, made)}."
    )


def _times(count: int, made: int) -> str:
    if count == made:
        return f"all {made} resamples" if made > 1 else "the one resample"
    return f"{count or 'none'} of {made} resamples"
