"""Measure what is not on file yet, then draw."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path

from threadpoolctl import threadpool_limits

from tellapart.errors import InputError
from tellapart.reproduction.experiment import Experiment, Scale
from tellapart.reproduction.store import Row
from tellapart.writing import write_atomically

Progress = Callable[[int, int], None]
"""Told how many of how many missing trials are done."""


def reproduce(
    experiment: Experiment,
    folder: Path,
    scale: Scale,
    *,
    n_jobs: int = 1,
    redraw: bool = False,
    progress: Progress | None = None,
) -> list[Path]:
    """Measure the trials that are missing in a folder of results, and draw all rows there.

    Parameters
    ----------
    experiment : Experiment
        What to do.
    folder : Path
        Where rows are kept and figures are drawn.
    scale : Scale
        How much to measure.
    n_jobs : int
        Processes, each with one thread for matrix routines.
    redraw : bool
        Measure nothing.
    progress : callable or None
        Called after every trial.

    Returns
    -------
    list of Path
        The files drawn, after the file of rows.
    """
    store = experiment.store(folder)
    if not redraw:
        done = store.done()
        missing = [keys for keys in experiment.plan(scale) if store.key(keys) not in done]
        if missing:
            store.prepare()
        results = measure_all(experiment, missing, scale.data, n_jobs)
        for number, rows in enumerate(results, 1):
            store.add(rows)
            if progress is not None:
                progress(number, len(missing))
    rows = store.rows()
    if not rows:
        raise InputError(f"{store.path} has no rows to draw: run without --redraw first")
    return [store.path, *experiment.draw(rows, folder)]


def measure_all(
    experiment: Experiment, trials: list[Row], data: Path | None, n_jobs: int
) -> Iterator[list[Row]]:
    """Give the rows of each trial as it is done, in this process or in several."""
    if n_jobs == 1 or len(trials) < 2:
        for keys in trials:
            yield measure_one(experiment, keys, data)
        return
    # A fork would inherit the locks of running threads; a fresh process starts in two seconds.
    context = multiprocessing.get_context("spawn")
    waiting = iter(trials)
    with ProcessPoolExecutor(n_jobs, mp_context=context) as pool:
        # A few ahead only: after an interruption there is little left to wait for.
        running: set[Future[list[Row]]] = {
            pool.submit(measure_one, experiment, keys, data) for keys in islice(waiting, 2 * n_jobs)
        }
        try:
            while running:
                ready, running = wait(running, return_when=FIRST_COMPLETED)
                for keys in islice(waiting, len(ready)):
                    running.add(pool.submit(measure_one, experiment, keys, data))
                for future in ready:
                    yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def measure_one(experiment: Experiment, keys: Row, data: Path | None) -> list[Row]:
    """Measure one trial with one thread, its warnings unsaid: thousands would repeat them."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return [{**keys, **row} for row in experiment.measure(keys, data)]


def write_text(path: Path, text: str) -> Path:
    """Write a text at once, so that no half of it is ever seen, and return its path."""
    write_atomically(path, f"{text.rstrip()}\n".encode())
    return path
