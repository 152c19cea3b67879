"""What an experiment is: a plan of trials, how one is measured, and how rows are drawn."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tellapart.reproduction.store import Row, Store

ALPHA = 0.05


@dataclass(frozen=True)
class Scale:
    """How much to measure.

    Attributes
    ----------
    quick : bool
        Tiny samples: to see that everything runs, not to learn anything.
    trials : int or None
        The most trials of any setting; None leaves it to the experiment.
    data : Path or None
        Folder of the real data; None takes what scikit-learn bundles.
    methods : tuple of str
        Only these methods; empty for all.
    """

    quick: bool = False
    trials: int | None = None
    data: Path | None = None
    methods: tuple[str, ...] = ()

    def count(self, full: int, quick: int = 2) -> int:
        """Return the number of trials: that of a full or of a quick run, at most `trials`."""
        wanted = quick if self.quick else full
        return wanted if self.trials is None else min(wanted, self.trials)

    def chosen(self, names: Iterable[str]) -> list[str]:
        """Return the names that were asked for, in their own order."""
        return [name for name in names if not self.methods or name in self.methods]


@dataclass(frozen=True)
class Experiment:
    """One table or figure.

    Attributes
    ----------
    name : str
        On the command line, and of the files.
    file : str
        Name of the file of rows, which two experiments may share.
    title : str
        What it shows, in a few words.
    keys, values : tuple of str
        Columns of the rows: which trial, and what was measured.
    plan : callable
        From a `Scale` to the keys of all trials, in the order to measure them.
    measure : callable
        From the keys of one trial and the folder of data to its rows. Runs in a process of its
        own, so it is a function of a module. A trial may give several rows, all with its keys.
    draw : callable
        From all rows and a folder to the files drawn there: figures, tables.
    """

    name: str
    file: str
    title: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    plan: Callable[[Scale], Iterable[Row]]
    measure: Callable[[Row, Path | None], list[Row]]
    draw: Callable[[Sequence[Row], Path], list[Path]]

    def store(self, folder: Path) -> Store:
        """Return the rows of this experiment in a folder of results."""
        return Store(folder / f"{self.file}.csv", self.keys, self.values)


def seed_of(*names: object) -> int:
    """Return the seed of a trial by what it is called: the same for every method.

    >>> seed_of("power", "laplace", 50, 0) == seed_of("power", "laplace", "50", "0")
    True
    """
    return zlib.crc32("/".join(map(str, names)).encode("utf-8"))
