"""Check batch after batch against one stored reference."""

from tellapart.reference.monitor import ReferenceMonitor, compare_to_reference
from tellapart.reference.result import CheckRecord, CheckResult

__all__ = ["CheckRecord", "CheckResult", "ReferenceMonitor", "compare_to_reference"]
