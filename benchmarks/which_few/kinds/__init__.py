"""The kinds of difference by name, and the tasks they draw."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from which_few.kinds import dependence, discrete, margins, mixtures, shifts
from which_few.kinds.kind import KINDS, Group, Kind, Task

__all__ = ["FIRST_SEED", "KINDS", "Group", "Kind", "Task", "draw_task"]

FIRST_SEED = 10_000
"""The seeds below are free for development."""
ROOMS = (shifts, margins, dependence, discrete, mixtures)
"""The files of kinds: that they are imported is what enters their kinds."""


def draw_task(name: str, seed: int) -> Task:
    """Return the task of a seed: the same for every method and on every machine."""
    # Python's own hash of a string changes from run to run.
    return KINDS[name].draw(np.random.default_rng([crc32(name.encode()), seed]))
