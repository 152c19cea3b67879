"""Shuffled labels and what follows from them: null distributions, p-values, adjustments."""
