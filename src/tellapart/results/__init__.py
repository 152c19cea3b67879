"""What a test answers: its result, in words, as tables, and as data for figures."""
