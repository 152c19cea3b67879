"""Which few variables tell two samples apart: tune, fit, choose."""

from tellapart.selection.selection import Selection

__all__ = ["Selection"]
