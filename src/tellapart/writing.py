"""Files that the package writes: checked before the work, written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

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


def strict_json(value: Any) -> str:
    """Return plain nested values as JSON that every reader takes: no NaN, no infinities.

    Examples
    --------
    >>> strict_json([1.5, float("inf")]).split()
    ['[', '1.5,', 'null', ']']
    """
    return json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    """Return nested plain values with every NaN and infinity replaced by None."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _usual_mode() -> int:
    """Return the mode of an ordinary new file: temporary files are private to their owner."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
