"""Checks of batches against a reference, with one promise for the whole sequence."""
