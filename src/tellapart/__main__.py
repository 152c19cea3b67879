"""Run the command line with `python -m tellapart`, or as `tellapart`.

Exit status 1 is an alarm (`tellapart monitor --fail-on-alarm`) and nothing else: errors while the
command line is imported, or in compiled code that ends the process, have another status.
"""

from __future__ import annotations

import ctypes
import sys

FAILED, INTERRUPTED = 3, 130


def main() -> None:
    """Run the command line and leave with its exit status."""
    leave_with(FAILED)
    status: object = FAILED
    try:
        from tellapart.cli import run

        status = run(sys.argv[1:])
    except SystemExit as end:  # of completion
        status = end.code
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BaseException as error:
        sys.stderr.write(
            f"tellapart: error: it cannot be loaded: {type(error).__name__}: {error}\n"
        )
    leave_with(status if isinstance(status, int) else 0 if status is None else FAILED)
    sys.exit(status)  # type: ignore[arg-type]


def leave_with(status: int) -> None:
    """Make the process exit with this status, whatever status compiled code exits with.

    OpenBLAS, for one, calls C's exit(1) where memory runs out. Exit handlers run in reverse order
    and _exit ends the process, so the status given last counts. Windows has no such handlers.
    """
    if sys.platform != "win32":
        c_library = ctypes.CDLL(None)
        leave = ctypes.cast(c_library._exit, ctypes.c_void_p)
        c_library.__cxa_atexit(leave, ctypes.c_void_p(status), None)


if __name__ == "__main__":
    main()
