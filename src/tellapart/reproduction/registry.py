"""Experiments by name."""

from __future__ import annotations

from tellapart.reproduction.experiment import Experiment
from tellapart.reproduction.healthcare import HEALTHCARE
from tellapart.reproduction.mnist import MNIST
from tellapart.reproduction.power import DIMENSION, SAMPLE_SIZE
from tellapart.reproduction.recovery import RECOVERY
from tellapart.reproduction.table1 import TABLE1

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (TABLE1, SAMPLE_SIZE, DIMENSION, RECOVERY, MNIST, HEALTHCARE)
}
