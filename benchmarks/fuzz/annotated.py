"""Damaged AnnData files, read in a process of their own: HDF5 is C code that damage may crash."""

from __future__ import annotations

import io
import multiprocessing
import resource
import tempfile
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from fuzz.command_lines import QUICK, run_quietly
from fuzz.outcome import FaultError

SECONDS = 120
"""After which a case counts as one that hangs."""
MEMORY = 8 << 30
"""What a process may ask for: a damaged size must not take the machine with it."""
SPOILS = ("none", "flip", "flip", "flip", "bytes", "cut", "hole", "repeat", "swap")


def fuzz_annotated(count: int, seed: int = 0, seconds: float = SECONDS) -> Counter[str]:
    """Return how many damaged files were answered and refused, and how many ended the process.

    Some hang: HDF5 itself, asked for an attribute of a damaged file, may never return, and nothing
    in Python can end it. They are counted apart.
    """
    rng = np.random.default_rng(seed)
    tally: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        whole = [_written(folder, number) for number in range(4)]
        (folder / "whole.h5ad").write_bytes(whole[0])
        reader = _Reader(folder, seconds)
        for _ in range(count):
            content = _spoiled(whole[int(rng.integers(4))], rng)
            (folder / "spoiled.h5ad").write_bytes(content)
            outcome = reader.ask()
            tally[outcome] += 1
            if outcome not in ("result", "refused"):
                kept = Path(tempfile.mkdtemp(prefix="fuzz-")) / "spoiled.h5ad"
                kept.write_bytes(content)
                print(f"{outcome}: {kept}", flush=True)
        reader.close()
    return tally


class _Reader:
    """A process that compares the spoiled file with the whole one, started again if it ends."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, self.folder), daemon=True)
        self.process.start()
        other.close()

    def ask(self) -> str:
        """Return what became of the spoiled file."""
        self.line.send("compare")
        try:
            if self.line.poll(self.seconds):
                return str(self.line.recv())
            outcome = "hung"
        except EOFError:
            self.process.join()
            outcome = f"ended the process ({self.process.exitcode})"
        self.close()
        self._start()
        return outcome

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def _serve(line: Connection, folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    names = [str(folder / f"{name}.h5ad") for name in ("spoiled", "whole")]
    while True:
        line.recv()
        try:
            with warnings.catch_warnings(action="ignore"):
                outcome = run_quietly(["compare", *names, *QUICK])
        except FaultError as fault:
            outcome = f"fault: {fault}"
        except BaseException as error:
            outcome = f"raised {type(error).__name__}: {error}"
        line.send(outcome)


def _written(folder: Path, seed: int) -> bytes:
    """Return the bytes of a small file: dense or sparse, with labels, layers and raw."""
    import anndata

    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.5, size=(24, 4)).astype(np.float32)
    held = anndata.AnnData(
        sparse.csr_matrix(counts) if seed % 2 else counts,
        obs=pd.DataFrame(
            {"kind": pd.Categorical(rng.choice(["T", "B"], 24)), "depth": counts.sum(axis=1)},
            index=[f"cell{row}" for row in range(24)],
        ),
        var=pd.DataFrame(index=["CD3E", "MS4A1", "NKG7", "LYZ"]),
    )
    if seed >= 2:
        held.layers["counts"] = held.X.copy()
        held.raw = held
    path = folder / "made.h5ad"
    with warnings.catch_warnings(action="ignore"):
        held.write_h5ad(path)
    return path.read_bytes()


def _spoiled(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content with one kind of damage."""
    held = io.BytesIO(content)
    raw = np.frombuffer(held.getbuffer(), dtype=np.uint8)
    spoil = SPOILS[int(rng.integers(len(SPOILS)))]
    place = int(rng.integers(raw.size))
    # Most of a small file is room for more: damage where something is written.
    written = np.flatnonzero(np.frombuffer(content, dtype=np.uint8))
    if spoil == "flip":
        for at in rng.choice(written, size=int(rng.integers(1, 6))):
            raw[at] ^= 1 << int(rng.integers(8))
    elif spoil == "bytes":
        at = int(rng.choice(written))
        raw[at : at + 8] = rng.choice([0, 255, 127, 128, 1], size=raw[at : at + 8].size)
    elif spoil == "cut":
        return content[:place]
    elif spoil == "hole":
        raw[place : place + int(rng.integers(1, 2_000))] = 0
    elif spoil == "repeat":
        return content + content[place:]
    elif spoil == "swap":
        one, other = (int(at) for at in rng.integers(raw.size - 64, size=2))
        first, second = raw[one : one + 64].copy(), raw[other : other + 64].copy()
        raw[one : one + 64], raw[other : other + 64] = second, first
    return held.getvalue()
