"""The rows of all experiments in a folder, and what they say about one claim."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tellapart.datasets import CASES
from tellapart.errors import InputError
from tellapart.reproduction import power
from tellapart.reproduction.curves import Powers, powers
from tellapart.reproduction.experiment import Experiment
from tellapart.reproduction.store import Row

NUMERALS = dict(zip(CASES, ("I", "II", "III", "IV"), strict=True))


@dataclass(frozen=True)
class Finding:
    """What the rows say about a claim: the numbers, and whether it holds."""

    measured: str
    holds: str


@dataclass(frozen=True)
class Results:
    """The rows of all experiments in a folder."""

    folder: Path

    def rows(self, experiment: Experiment) -> list[Row]:
        """Return the rows of one experiment."""
        rows = experiment.store(self.folder).rows()
        if not rows:
            raise InputError(f"{self.folder} has no rows of {experiment.name}: measure it first")
        return rows

    def by_n(self) -> Powers:
        """Return power by case, n and method."""
        return powers(power.of_samples(self.rows(power.SAMPLE_SIZE)), "n")

    def by_dimension(self) -> Powers:
        """Return power by case, D and method."""
        return powers(power.of_dimension(self.rows(power.DIMENSION)), "D")
