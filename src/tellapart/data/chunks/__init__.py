"""Samples larger than memory, or on more than one machine: sums over blocks of rows."""
