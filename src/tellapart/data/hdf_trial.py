"""Damaged HDF5 files, met in a process of their own.

HDF5 is C code that believes a file: a few flipped bits make it loop for ever, or end the process,
while anndata asks for an attribute. Nothing in Python can catch that. So a file is first walked
through by another process, which may be lost.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tellapart.data.hdf_walk import BEGUN

WALK = Path(__file__).with_name("hdf_walk.py")
SECONDS, BYTES_PER_SECOND = 10, 10_000_000
"""How long a walk may compute, and for how many bytes it has a second more."""
PATIENCE = 20
"""How many times as long it may take on a machine that has other things to do."""


def try_hdf(path: Path) -> None:
    """Raise ValueError if HDF5 crashes on a file, or never comes to an end.

    Where no Python can be started, as in programs that have one built in, nothing is tried.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        return
    seconds = SECONDS + path.stat().st_size // BYTES_PER_SECOND
    # -P, or its folder would come first among those that modules are sought in.
    command = [sys.executable, "-P", str(WALK), str(path.absolute()), str(seconds)]
    place = os.pathsep.join(folder for folder in sys.path if folder)
    try:
        end = subprocess.run(
            command,
            env=os.environ | {"PYTHONPATH": place},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE * seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"HDF5 came to no end within {PATIENCE * seconds} s") from None
    except OSError:
        return
    if end.stdout.decode(errors="replace") != BEGUN or end.returncode == 0:
        return
    raise ValueError(
        f"it is damaged: HDF5 crashed, or did not end within {seconds} s of computing "
        f"(a trial in another process, status {end.returncode})"
    )
