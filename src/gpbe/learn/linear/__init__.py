"""Linear prediction: where transitions come from, the compiled loops, and what is measured while learning."""
