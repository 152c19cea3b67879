"""How much memory a process took at most, since it was last asked to forget."""

from __future__ import annotations

from pathlib import Path

STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_PEAK, _NOW = "VmHWM", "VmRSS"


def forget_peak() -> int:
    """Make the present memory the peak so far, and return it in bytes. Linux only."""
    FORGET.write_text("5", encoding="ascii")
    return _read(_NOW)


def peak() -> int:
    """Return the most memory in bytes that was in use since the peak was forgotten."""
    return _read(_PEAK)


def _read(name: str) -> int:
    for line in STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(name + ":"):
            return 1024 * int(line.split()[1])
    raise OSError(f"{STATUS} has no line {name}")
