"""Data on which the scan's families, statistics and weights were chosen: none of it is shown."""
