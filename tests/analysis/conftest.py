"""Made units, as the comparison with the primate takes them, and its rows by name."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from dcnbio.analysis.primate import analyze_primate


def compare_units(*measures, **options):
    return analyze_primate(*measures, draws=699, **options)


def units(n: int = 64, seed: int = 0, **changed) -> xr.Dataset:
    rng = np.random.default_rng(seed)
    frequency = 2.0 ** rng.normal(-3, 0.8, n).clip(-4.9, -1)
    octaves = rng.normal(1.6, 0.2, n)
    size = 2.0 ** rng.normal(2.5, 1.0, n)
    values = {
        "preferred_spatial_frequency": frequency,
        "spatial_frequency_bandwidth": octaves,
        "bandwidth_index": rng.normal(46, 13, n).clip(1, 99),
        "preferred_orientation": rng.uniform(0, 180, n),
        "suppression_index": rng.beta(1.2, 1.6, n),
        "suppression_index_frozen": np.zeros(n),
        "summation_diameter": size,
        "summation_diameter_low_contrast": size * 2.3,
        "summation_diameter_law": size * 2.3,
        "surround_ratio": 2.0 ** rng.normal(1.4, 1.0, n),
        "surround_diameter": size * 2.6,
        "surround_ratio_frozen": 2.0 ** rng.normal(1.4, 1.0, n),
        "field_sigma_moments": 0.3 / frequency,
        "field_width_nx": 2.0 ** rng.normal(-1.49, 0.6, n),
        "field_width_ny": 2.0 ** rng.normal(-1.27, 0.9, n),
        "peak_time": np.full(n, 1.0),
        "peak_time_low_contrast": np.full(n, 1.5),
    }
    values |= changed
    data = {name: ("unit", array) for name, array in values.items()}
    data.setdefault("responsive", ("unit", np.ones(n, bool)))
    coords = {"block": ("unit", np.ones(n, int)), "channel": ("unit", np.arange(n))}
    return xr.Dataset(data, coords, {"network": "made", "weights": "none"})


def rows_by_name(found) -> dict[str, dict]:
    return {row["name"]: row for row in found.comparisons}


@pytest.fixture
def made_measures():
    return units


@pytest.fixture
def compare():
    return compare_units


@pytest.fixture
def by_name():
    return rows_by_name
