"""How strongly each column, pair and triple differs, and how much of it they share."""
