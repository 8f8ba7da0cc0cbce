"""What the figures show, as tables: one module a family of experiments."""
