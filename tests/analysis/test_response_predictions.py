"""What remains beyond a prediction is told from what the law and the norms make, and from an untrained network."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from dcnbio.analysis.responses.beyond import beyond_predictions
from dcnbio.analysis.responses.field_growth import field_growth
from dcnbio.analysis.responses.level_ratios import level_claims
from dcnbio.analysis.responses.measure_names import CENSORED, MEASURES
from dcnbio.analysis.responses.medians import difference_of_medians
from dcnbio.analysis.responses.predictions import PREDICTIONS
from dcnbio.analysis.responses.result import ResponsesResult, analyze_responses

N = 16


def units(block=1, **columns):
    coordinates = {"block": ("unit", np.full(N, block)), "channel": ("unit", np.arange(N))}
    coordinates["highest_frequency"] = ("unit", np.full(N, 0.5 / 2 ** (block - 1)))
    spread = np.linspace(0.99, 1.01, N)
    plain = {"responsive": np.ones(N, bool), "simple": np.ones(N, bool)}
    data = {name: ("unit", value * spread) for name, value in columns.items()}
    return xr.Dataset({**{name: ("unit", v) for name, v in plain.items()}, **data}, coordinates)


def test_what_is_left_is_beyond_the_law_or_with_statistics_frozen():
    timed = {"peak_time_low_contrast": 0.5, "peak_time_low_contrast_frozen": 2.0}
    trained = units(peak_time=1.0, peak_time_law=2.0, peak_time_frozen=2.0, **timed)
    trained = trained.assign(units(cross_orientation_suppression=0.5, cross_orientation_suppression_held=0.2).data_vars)
    untrained = units(peak_time=2.0, peak_time_law=2.0, peak_time_frozen=2.0, **timed)
    untrained = untrained.assign(
        units(cross_orientation_suppression=0.4, cross_orientation_suppression_held=0.05).data_vars
    )
    found = {one.name: one for one in beyond_predictions(trained, untrained)}
    assert set(found) == {
        "peak time (solver time)",
        "change of peak time at a quarter contrast (octaves)",
        "cross-orientation suppression of a plaid",
    }
    peak = found["peak time (solver time)"].to_dict()
    assert peak["left"] == pytest.approx(-1)  # octaves
    assert (peak["untrained_left"], peak["frozen"]) == pytest.approx((0, 2), abs=0.03)
    assert peak["trained_minus_untrained"] == pytest.approx(-1)
    change = found["change of peak time at a quarter contrast (octaves)"].to_dict()
    assert change["measured"] == pytest.approx(-1)
    assert change["predicted"] == -2  # the law: a quarter of the contrast, a quarter of the time
    assert change["frozen"] == pytest.approx(0)
    plaid = found["cross-orientation suppression of a plaid"].to_dict()
    assert plaid["predicted_by"] == "made by the norms"
    assert (plaid["predicted"], plaid["left"]) == pytest.approx((0.3, 0.2), rel=0.02)
    assert plaid["trained_minus_untrained"] == pytest.approx(0.15, rel=0.02)
    low, high = plaid["trained_minus_untrained_interval"]
    assert 0.14 < low <= high < 0.16
    assert "trained minus untrained 0.15" in found["cross-orientation suppression of a plaid"].claim().conclusion
    alone = beyond_predictions(trained, None)[0].to_dict()
    assert alone["untrained"] is alone["trained_minus_untrained"] is alone["trained_minus_untrained_interval"] is None


def test_limits_are_not_divided():
    trained = units(summation_diameter=4.0, summation_diameter_law=2.0)
    flags = np.arange(N) < 4
    trained["censored_summation_diameter"] = ("unit", flags)
    trained["summation_diameter"] = ("unit", np.where(flags, 30.0, trained["summation_diameter"].values))
    (one,) = beyond_predictions(trained, None)
    assert (one.measured.n, one.measured.censored, one.left.n) == (N, 4, N - 4)
    assert one.left.value == pytest.approx(1, abs=0.01)


def test_every_prediction_is_of_measures_with_names():
    assert all(name in MEASURES for one in PREDICTIONS for name in one.needs)
    assert len({one.name for one in PREDICTIONS}) == len({one.short for one in PREDICTIONS}) == len(PREDICTIONS)
    assert max(len(one.short) for one in PREDICTIONS) <= 20
    assert {"c50_law", "peak_time_frozen", "summation_diameter_low_contrast_frozen"} <= set(CENSORED)


def test_a_difference_from_no_unit_has_no_interval():
    rng = np.random.default_rng(0)
    none, interval = difference_of_medians(np.full(3, np.nan), np.ones(3), rng)
    assert np.isnan(none)
    assert interval.to_list() is None
    assert "no unit" in interval.reason


def test_blocks_are_described_apart_and_levels_without_verdict():
    both = xr.concat(
        [
            units(1, preferred_spatial_frequency=0.2, field_sigma_moments=1.0),
            units(2, preferred_spatial_frequency=0.05, field_sigma_moments=3.0),
        ],
        "unit",
    )
    y, x = np.mgrid[:32, :32]

    def local(sigma):
        maps = np.exp(-((y - 15) ** 2 + (x - 15) ** 2) / (2 * sigma**2))[None, None]
        return xr.Dataset({"local": (("time", "unit", "y", "x"), maps)}, {"time": [1.0]})

    growth = field_growth({1: local(1.5), 2: local(3.0)}, {1: [1.0], 2: [1.0]}, {1: 1.0, 2: 2.0})
    claims = {claim.name: claim for claim in level_claims(both, growth)}
    field = claims["block 2 over 1: sigma of the local field at T, ratio"]
    assert (field.estimate, field.control.estimate) == pytest.approx((2, 2), rel=0.01)
    frequency = claims["block 2 over 1: preferred spatial frequency, ratio of medians"]
    assert (frequency.estimate, frequency.control.estimate) == pytest.approx((0.25, 0.5), rel=0.02)
    assert all(
        claim.interval.to_list() is None and "without a verdict" in claim.conclusion for claim in claims.values()
    )
    both.attrs = {"network": "built"}
    found = analyze_responses(ResponsesResult(both, both, growth))
    medians = {c.name: c.estimate for c in found.claims if c.name.endswith("(cycles/pixel), median")}
    assert medians == pytest.approx(
        {
            "block 1: preferred spatial frequency (cycles/pixel), median": 0.2,
            "block 2: preferred spatial frequency (cycles/pixel), median": 0.05,
        }
    )
    assert found.conclusion.startswith("Block 1: 16 units of this one network")
    assert "Block 2: 16 units" in found.conclusion


def test_the_conclusion_gives_what_is_left_and_limits_are_told():
    made = units(suppression_index=0.6, suppression_index_frozen=0.1)
    made.attrs = {"network": "built"}
    y, x = np.mgrid[:32, :32]

    def local(sigma):
        maps = np.exp(-((y - 15) ** 2 + (x - 15) ** 2) / (2 * sigma**2))[None, None]
        return xr.Dataset({"local": (("time", "unit", "y", "x"), maps)}, {"time": [1.0]})

    growth = field_growth({1: local(2.0), 2: local(9.0)}, {1: [1.0, 1.0], 2: [1.0, 2.0]}, {1: 1.0, 2: 2.0})
    assert growth["clipped"].values.tolist() == [[0], [1]]
    assert growth["kernel_sigma"].values == pytest.approx([1, 2 * np.sqrt(2.5)])
    found = analyze_responses(ResponsesResult(made, None, growth))
    assert "are suppressed by large gratings by 0.6 (0.1 with frozen norm statistics)" in found.conclusion
    said = {claim.name: claim.conclusion for claim in found.claims}
    assert "At T 1 of 1 fields leave the image" in said["block 2: sigma of the local field at T (pixels), median"]
    assert "leave the image" not in said["block 1: sigma of the local field at T (pixels), median"]
    ratio = said["block 2 over 1: sigma of the local field at T, ratio"]
    assert "0 of 1 and 1 of 1 are limits, since they leave the image" in ratio
