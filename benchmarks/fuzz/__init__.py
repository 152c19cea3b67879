"""Fuzzing: tables, files and command lines as nobody should write them, and what they end in."""
