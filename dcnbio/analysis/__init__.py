"""From recordings to results: statistics, filters, scales. Needs NumPy, SciPy and xarray, and no PyTorch."""
