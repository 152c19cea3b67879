"""Experiments by name."""

from __future__ import annotations

from tellapart.experiments.experiment import Experiment
from tellapart.experiments.healthcare import HEALTHCARE
from tellapart.experiments.mnist import MNIST
from tellapart.experiments.power import DIMENSION, SAMPLE_SIZE
from tellapart.experiments.recovery import RECOVERY
from tellapart.experiments.table1 import TABLE1

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (TABLE1, SAMPLE_SIZE, DIMENSION, RECOVERY, MNIST, HEALTHCARE)
}
