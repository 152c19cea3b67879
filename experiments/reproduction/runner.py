"""Measure what is not on file yet, then draw."""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits

from reproduction.store import Experiment, Row, Scale
from tellapart.errors import InputError
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
        with closing(measure_all(experiment, missing, scale.data, n_jobs)) as results:
            for number, rows in enumerate(results, 1):
                store.add(rows)
                if progress is not None:
                    progress(number, len(missing))
    rows = store.rows()
    if not rows:
        raise InputError(f"{store.path} has no rows to draw: run without --redraw first")
    return [store.path, *experiment.draw(rows, folder)]


def measure_all(
    experiment: Experiment, trials: Sequence[Row], data: Path | None, n_jobs: int
) -> Generator[list[Row], None, None]:
    """Give the rows of each trial as it is done; closing the iterator ends all processes."""
    if n_jobs == 1 or len(trials) < 2:
        for keys in trials:
            yield measure_one(experiment, keys, data)
        return
    # Trials take seconds and each is stored as it comes: none waits for a batch.
    parallel = Parallel(n_jobs, return_as="generator_unordered", batch_size=1)
    with _raising_on_sigterm():
        # Whatever interrupts this ends the processes, which joblib else keeps for later calls: so
        # kept, they would outlive this one if it is killed.
        yield from parallel(delayed(measure_one)(experiment, keys, data) for keys in trials)
        get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)


@contextmanager
def _raising_on_sigterm() -> Iterator[None]:
    """Let SIGTERM unwind the stack, so that the other processes are ended before this one."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what becomes of signals
        return
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def measure_one(experiment: Experiment, keys: Row, data: Path | None) -> list[Row]:
    """Measure one trial with one thread, its warnings unsaid: thousands would repeat them."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return [{**keys, **row} for row in experiment.measure(keys, data)]


def write_text(path: Path, text: str) -> Path:
    """Write a text at once, so that no half of it is ever seen, and return its path."""
    write_atomically(path, f"{text.rstrip()}\n".encode())
    return path
