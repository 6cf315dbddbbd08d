"""The shipped tables of published figures: whole, consistent with themselves and with each other."""

import csv
import math
from collections import defaultdict

import numpy as np
import pytest

from dcnbio.images import shipped

ROWS = {
    "v1_histograms": 129,
    "v1_shape_nx_ny": 25,
    "v1_scale_invariance": 42,
    "rf_diameter_by_area": 9,
    "stated_values": 30,
    "similarity_ceilings": 50,
    "histogram_moments": 15,
    "njet_theory": 18,
}


def table(name):
    with shipped(f"primate/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def histograms():
    """Edges and counts by (dataset, subset, quantity)."""
    found = defaultdict(list)
    for row in table("v1_histograms"):
        found[row["dataset"], row["subset"], row["quantity"]].append(row)
    return found


@pytest.mark.parametrize(("name", "rows"), ROWS.items())
def test_a_table_is_whole_and_the_page_says_its_rows(name, rows):
    found = table(name)
    assert len(found) == rows
    assert all(None not in row and None not in row.values() for row in found)  # as many cells as the header has
    page = shipped("primate/README.md").read_text(encoding="utf-8")
    assert f"| `{name}.csv` | {rows} |" in page


@pytest.mark.parametrize(
    "name", ["v1_histograms", "v1_scale_invariance", "v1_shape_nx_ny", "rf_diameter_by_area", "similarity_ceilings"]
)
def test_every_row_names_its_source(name):
    assert all(row["source"] for row in table(name))


def test_histograms_add_up_and_their_bins_join():
    for rows in histograms().values():
        counts = [int(row["count"]) for row in rows]
        assert {int(row["n_total"]) for row in rows} == {sum(counts)}
        np.testing.assert_allclose([float(row["probability"]) for row in rows], np.divide(counts, sum(counts)))
        assert [float(row["bin_lo"]) for row in rows[1:]] == pytest.approx([float(row["bin_hi"]) for row in rows[:-1]])


def test_pooled_histograms_are_the_sums_of_their_parts():
    for quantity, pooled, n in [
        ("peak_spatial_frequency", "pooled (all four)", 363),
        ("spatial_frequency_bandwidth", "pooled", 73),
    ]:
        parts = {
            key[1]: [int(row["count"]) for row in rows] for key, rows in histograms().items() if key[2] == quantity
        }
        whole = parts.pop(pooled)
        np.testing.assert_array_equal(np.sum(list(parts.values()), axis=0), whole)
        assert sum(whole) == n


def test_the_shape_histogram_adds_up():
    rows = table("v1_shape_nx_ny")
    assert sum(int(row["count"]) for row in rows) == 79
    edges = 10 ** np.linspace(-1, 0.2, 6)
    for axis in ("nx", "ny"):
        np.testing.assert_allclose(sorted({float(row[f"{axis}_lo"]) for row in rows}), edges[:-1])


def test_moments_follow_from_the_histograms():
    """Mean, sd and skewness of a density that is uniform inside each bin, by the moments of a uniform."""
    checked = 0
    for row in table("histogram_moments"):
        bins = histograms().get((row["dataset"], row["subset"], row["quantity"]))
        if bins is None:  # the two of VOneNet, whose histograms are elsewhere or joint
            continue
        edges = np.array([[float(b["bin_lo"]), float(b["bin_hi"])] for b in bins])
        low, high = (np.log2(edges) if row["axis"].startswith("log2") else edges).T
        share = np.array([float(b["probability"]) for b in bins])
        mean, square, cube = (share @ sum(low**i * high ** (k - i) for i in range(k + 1)) / (k + 1) for k in (1, 2, 3))
        sd = math.sqrt(square - mean**2)
        skewness = (cube - 3 * mean * sd**2 - mean**3) / sd**3
        assert [float(row[name]) for name in ("mean", "sd", "skewness")] == pytest.approx(
            [mean, sd, skewness], rel=2e-2, abs=2e-2
        )
        assert int(row["n"]) == int(bins[0]["n_total"])
        checked += 1
    assert checked == 12


def test_njet_theory_follows_from_its_formula():
    """A Gaussian derivative of order m passes u^m exp(-u^2 / 2), u = 2 pi sigma f: solved here on a grid."""
    theory = {
        (row["derivative_order"], row["quantity"], row["criterion"]): float(row["value"])
        for row in table("njet_theory")
    }
    u = np.linspace(1e-4, 8, 400_001)
    for order in (1, 2):
        gain = u**order * np.exp(-(u**2) / 2)
        gain /= gain.max()
        assert theory[str(order), "sigma*f_peak", ""] == pytest.approx(u[gain.argmax()] / (2 * math.pi), rel=1e-3)
        for criterion in (0.5, 0.707):
            passed = u[gain >= criterion]
            index = 100 * passed[0] / passed[-1]
            half_width = math.degrees(math.acos(criterion ** (1 / order)))
            assert theory[str(order), "100*f_low/f_high", f"{criterion:g}"] == pytest.approx(index, rel=1e-3)
            assert theory[str(order), "SF full bandwidth", f"{criterion:g}"] == pytest.approx(
                math.log2(100 / index), rel=1e-3
            )
            width = theory[str(order), "orientation half-width (amplitude, at peak SF)", f"{criterion:g}"]
            assert width == pytest.approx(half_width, abs=0.05)
