"""Measuring speed on this machine: `gpbe bench`."""
