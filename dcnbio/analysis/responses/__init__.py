"""Electrophysiology of a network: tuning, size, contrast, timing and receptive fields of its units."""
