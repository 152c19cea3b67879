"""The report of a test result: one self-contained HTML page."""

from tellapart.report.page import render_page

__all__ = ["render_page"]
