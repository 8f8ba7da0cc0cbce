"""Inputs that nobody should give, and what becomes of them: one line, or something whole. `make fuzz` tries many."""
