"""Touches whatever can be read of an HDF5 file; run by `hdf_trial` in a process of its own.

    python -P hdf_walk.py FILE SECONDS

It imports nothing of the package, so that it starts at once. Errors that Python can catch are
ignored: they occur again when the file is read. SECONDS is how long it may compute.
"""

import contextlib
import sys
from importlib import import_module
from typing import Any

BEGUN = "begun"
"""What is printed before the file is opened."""
WHOLE_BYTES = 1 << 26
"""Numbers up to this size are read whole; of more, the index of their parts and both ends."""
MEMORY = 8 << 30
"""Bytes that it may ask for."""


def walk(path: str) -> None:
    """Touch the attributes, names and values of everything in a file."""
    with import_module("h5py").File(path, "r") as file:
        _touch("/", file)
        file.visititems(_touch)


def _touch(_: str, held: Any) -> None:
    with contextlib.suppress(Exception):
        for name in list(held.attrs):
            with contextlib.suppress(Exception):
                held.attrs[name]
    with contextlib.suppress(Exception):
        if not hasattr(held, "dtype"):
            for name in list(held):
                held.get(name)
        elif held.dtype.hasobject or held.nbytes <= WHOLE_BYTES:
            held[()]
        else:
            held[:1], held[-1:]
            if held.chunks is not None:
                held.id.get_num_chunks()


def _limit(seconds: int) -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limits
        resource: Any = import_module("resource")
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # A damaged file may ask for any amount: here it fails, and the machine does not.
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    _limit(int(sys.argv[2]))
    sys.stdout.write(BEGUN)
    sys.stdout.flush()
    with contextlib.suppress(Exception):
        walk(sys.argv[1])
