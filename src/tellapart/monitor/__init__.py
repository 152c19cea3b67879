"""Batch after batch against a reference, with one promise for the whole sequence."""
