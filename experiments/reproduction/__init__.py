"""The paper's evaluation, redone: each experiment stores rows, and draws from rows on file."""
