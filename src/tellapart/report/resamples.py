"""Selection frequencies in words: of the selected variables and of those selected instead."""

from __future__ import annotations

from dataclasses import dataclass

from tellapart.selection.stability import Stability

MOST_OTHERS = 8


@dataclass(frozen=True)
class Count:
    """One variable, how often it was selected in words, and as a proportion."""

    name: str
    text: str
    share: float


@dataclass(frozen=True)
class Resamples:
    """The counts of the selected variables and of others, and how they were made."""

    method: str
    found: str
    chosen: dict[str, Count]
    others: list[Count]
    left_out: int


def describe_stability(stability: Stability, rows: str = "the training rows") -> Resamples:
    """Put counts into words; `rows` are those the choice was made on."""
    made = stability.n_resamples
    counts = {
        name: Count(name, f"{count} of {made}", count / made)
        for name, count in (stability.chosen | stability.others).items()
    }
    others = [counts[name] for name in stability.others]
    return Resamples(
        method=_method(stability, rows),
        found=_found(stability),
        chosen={name: counts[name] for name in stability.chosen},
        others=others[:MOST_OTHERS],
        left_out=max(len(others) - MOST_OTHERS, 0),
    )


def _method(stability: Stability, rows: str) -> str:
    x, y = stability.n_rows
    of = f"halves of {rows}" if stability.halves else f"draws from {rows}"
    return (
        f"The selection was repeated on {stability.n_resamples} random {of} ({x:,} and {y:,} rows "
        "each), with all settings and the number of variables unchanged."
    )


def _found(stability: Stability) -> str:
    made = stability.n_resamples
    (first, most), *rest = stability.chosen.items()
    if not rest:
        return f"{first} was selected in {_times(most, made)}."
    last, least = rest[-1]
    if least == most:
        return (
            f"Each of the {len(stability.chosen)} variables was selected in {_times(most, made)}."
        )
    return (
        f"Most often selected was {first}, in {_times(most, made)}; least often {last}, "
        f"in {_times(least, made)}."
    )


def _times(count: int, made: int) -> str:
    if count == made:
        return f"all {made} resamples" if made > 1 else "the one resample"
    return f"{count or 'none'} of {made} resamples"
