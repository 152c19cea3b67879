"""Files that the package writes: checked before the work, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tellapart.errors import InputError


def check_writable(name: str, path: object) -> Path:
    """Return `path` if a file can be written there; nothing is left behind."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InputError(f"{name} must be the path of a file; got {path!r}")
    target = Path(os.fspath(path))
    if target.is_dir():
        raise InputError(f"{name} must be the path of a file; {str(target)!r} is a folder")
    try:
        # The temporary file that `write_atomically` will need is the honest check.
        with tempfile.NamedTemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise InputError(
            f"{name} must be a path that can be written to; {str(target)!r}: {error.strerror}"
        ) from None
    return target


def write_atomically(path: Path, content: bytes) -> None:
    """Write a temporary file beside `path`, then put it in its place in one step."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, _usual_mode())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _usual_mode() -> int:
    """Return the mode of an ordinary new file: temporary files are private to their owner."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
