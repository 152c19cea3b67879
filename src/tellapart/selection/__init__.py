"""The few most discriminating variables of two samples: tune, fit, choose."""

from tellapart.selection.selection import Selection

__all__ = ["Selection"]
