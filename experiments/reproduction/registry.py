"""Experiments by name."""

from __future__ import annotations

from reproduction.healthcare import HEALTHCARE
from reproduction.mnist import MNIST
from reproduction.power import DIMENSION, SAMPLE_SIZE
from reproduction.recovery import RECOVERY
from reproduction.store import Experiment
from reproduction.table1 import TABLE1

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (TABLE1, SAMPLE_SIZE, DIMENSION, RECOVERY, MNIST, HEALTHCARE)
}
