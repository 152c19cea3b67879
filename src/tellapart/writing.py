"""Files that the package writes: checked before the work, written whole or not at all."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import secrets
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from tellapart.errors import InputError
from tellapart.text import escaped_json

AnyPath = str | os.PathLike[str]

LOCK_SECONDS = 0.05
"""Seconds between two attempts to get a lock that another program holds."""


def check_writable(name: str, path: object) -> Path:
    """Return `path` if a file can be written there; nothing is left behind."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InputError(f"{name} must be the path of a file; got {path!r}")
    target = Path(os.fspath(path))
    if target.is_dir():
        raise InputError(f"{name} must be the path of a file; {str(target)!r} is a folder")
    try:
        reason = _obstacle(target)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason is not None:
        raise InputError(f"{name} must be a path that can be written to; {str(target)!r}: {reason}")
    return target


def check_targets(
    targets: Mapping[str, AnyPath | None], inputs: Iterable[AnyPath | int] = ()
) -> None:
    """Raise where an output would overwrite a file that is read, or another output.

    Hard and symbolic links count as the file they lead to. Devices and pipes may be named more
    than once: nothing in them is lost.

    Parameters
    ----------
    targets : mapping
        The option that names each output, and its path; None where nothing is written. Leave out
        "-" and other names of open streams.
    inputs : iterable of paths, or of the descriptor of standard input
        The files that are read.

    Examples
    --------
    >>> check_targets({"--json": "a.json", "--report": "sub/../a.json", "--plot": None})
    Traceback (most recent call last):
    ...
    tellapart.errors.InputError: --json and --report must be different files; got 'a.json' and
    'sub/../a.json'
    """
    files = [(name, path) for name, path in targets.items() if path is not None]
    sources = list(inputs)
    for name, path in files:
        for source in sources:
            if _same_file(path, source):
                raise InputError(
                    f"{name} must not be a file that is read; {os.fspath(path)!r} is "
                    f"{_role(source, path)} and would be lost"
                )
    for (one, first), (other, second) in combinations(files, 2):
        if _same_file(first, second):
            raise InputError(
                f"{one} and {other} must be different files; "
                f"got {os.fspath(first)!r} and {os.fspath(second)!r}"
            )


def write_atomically(path: Path, content: bytes) -> None:
    """Write a temporary file beside `path`, then rename it to `path` in one step.

    A symbolic link stays, and the file it leads to is replaced. A file that is replaced passes on
    its mode, and its owner where the system allows that. Pipes and devices are written to directly.

    Raises
    ------
    OSError
        Such as on a full disk; it names `path`, whose content stays as it was.
    """
    try:
        _write(path, content)
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"{reason}; it was not written", str(path)) from error


def text_writer(path: AnyPath | None, end: str = "") -> Callable[[str], str]:
    """Return a function that writes text to `path`, if there is one, and returns the text.

    A path that cannot be written to is refused now, before the text is made. `end` ends the file.
    Lone surrogates, which no file can hold, become "?".

    Examples
    --------
    >>> text_writer(None)("a,b")
    'a,b'
    """
    target = None if path is None else check_writable("path", path)

    def write(text: str) -> str:
        if target is not None:
            write_atomically(target, f"{text}{end}".encode("utf-8", errors="replace"))
        return text

    return write


@contextmanager
def locked(name: str, path: AnyPath, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Exclude other programs that lock the same path while the code inside runs.

    The lock is a file beside it, "….lock", which is removed afterwards: `path` itself may be
    replaced meanwhile. The system frees the lock of a process that ends, however it ends.

    Parameters
    ----------
    name : str
        The name of the path in messages.
    path : str or path-like
        A file, which need not exist.
    waiting : callable or None
        Called once if another program holds the lock, before waiting for it.
    """
    target = _followed(path)
    beside = target.with_name(f"{target.name}.lock")
    try:
        file = _locked_file(beside, waiting)
    except OSError as error:
        raise InputError(
            f"{name} must be a path that can be locked; {str(beside)!r}: {error.strerror or error}"
        ) from None
    try:
        yield
    finally:
        if sys.platform != "win32":  # which removes no file that is open
            beside.unlink(missing_ok=True)
        os.close(file)


def _locked_file(path: Path, waiting: Callable[[], None] | None) -> int:
    """Return the descriptor of a locked file that is still the one at its path."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if not _try_lock(file):
                if waiting is not None:
                    waiting()
                    waiting = None
                while not _try_lock(file):
                    time.sleep(LOCK_SECONDS)
            there = _status(path)
            # Its last holder has removed the file: another one may be the lock by now.
            if there is not None and os.path.samestat(there, os.fstat(file)):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _try_lock(file: int) -> bool:
    """Lock an open file, and return whether that succeeded."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


def write_picture(path: Path, figure: Any, **settings: Any) -> None:
    """Write a Matplotlib figure in the format of the ending of `path`, whole or not at all."""
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix[1:].lower(), **settings)
    write_atomically(path, content.getvalue())


def strict_json(value: Any) -> str:
    """Return plain nested values as strict JSON: NaN and infinities become null.

    Control characters are escaped. Lone surrogates, which names of pandas columns and of files may
    hold but no file can, become "?".

    Examples
    --------
    >>> strict_json([1.5, float("inf")]).split()
    ['[', '1.5,', 'null', ']']
    """
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)
    return escaped_json(text.encode("utf-8", errors="replace").decode())


def _write(path: Path, content: bytes) -> None:
    there = _status(path)
    if there is not None and not stat.S_ISREG(there.st_mode):
        with os.fdopen(os.open(path, os.O_WRONLY), "wb") as file:
            file.write(content)
        return
    target = _followed(path)
    temporary = target.with_name(f".tellapart-{secrets.token_hex(8)}")
    # What replaces a private file is never open to others, not even while it is written.
    mode = 0o666 if there is None else 0o600
    try:
        with open(temporary, "xb", opener=partial(os.open, mode=mode)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # some disks report only now that they are full
        if there is not None:
            _pass_on(there, temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _finite(value: Any) -> Any:
    """Return nested plain values with every NaN and infinity replaced by None."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _role(source: AnyPath | int, path: AnyPath) -> str:
    """Describe a file that is read, whose path may differ from that of the output."""
    if isinstance(source, int):
        return "standard input"
    same = os.fspath(path) == os.fspath(source)
    return "the input" if same else f"the input, {os.fspath(source)!r},"


def _status(path: AnyPath | int) -> os.stat_result | None:
    """Return the status of the file that a path and its links lead to, or None."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _obstacle(target: Path) -> str | None:
    """Return why a path cannot be written to, where the system raises no error."""
    there = _status(target)
    if there is None or stat.S_ISREG(there.st_mode):
        # `write_atomically` will need a temporary file there.
        with tempfile.NamedTemporaryFile(dir=_followed(target).parent):
            return None
    if stat.S_ISSOCK(there.st_mode):
        return "it is a socket"
    # Not by opening it: a pipe would wait for its reader.
    return None if os.access(target, os.W_OK) else "permission denied"


def _followed(path: AnyPath) -> Path:
    """Return the path of the file that a path and its links lead to, which need not exist."""
    return Path(os.path.realpath(path))


def _same_file(one: AnyPath, other: AnyPath | int) -> bool:
    """Return whether writing to one of two paths would change the other."""
    try:
        here, there = _status(one), _status(other)
    except (OSError, ValueError):
        return False  # what cannot be reached cannot be written either, and is refused elsewhere
    if here is not None and there is not None:
        return os.path.samestat(here, there) and stat.S_ISREG(here.st_mode)
    return here is there and not isinstance(other, int) and _followed(one) == _followed(other)


def _pass_on(there: os.stat_result, temporary: Path) -> None:
    """Give a new file the owner and the mode of the one it will replace."""
    if hasattr(os, "chown"):
        with suppress(OSError):  # only the superuser may give files away
            os.chown(temporary, there.st_uid, there.st_gid)
    os.chmod(temporary, stat.S_IMODE(there.st_mode) & 0o777)
