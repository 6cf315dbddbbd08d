"""Measures of tuning, size, contrast, timing and fields recover what was put in."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from dcnbio.analysis.responses.change_beside_twin import change_in_accuracy
from dcnbio.analysis.responses.contrast_measures import contrast_measures
from dcnbio.analysis.responses.definitions import DEFINITIONS
from dcnbio.analysis.responses.field_measures import field_measures
from dcnbio.analysis.responses.field_size import field_size
from dcnbio.analysis.responses.frequency_tuning import frequency_tuning
from dcnbio.analysis.responses.gabor import fit_gabor
from dcnbio.analysis.responses.generators import Beside
from dcnbio.analysis.responses.in_time import contrast_in_time, size_in_time
from dcnbio.analysis.responses.intervention_change import (
    Changed,
    accuracy_of,
    changes_beside_twin,
    intervention_claims,
)
from dcnbio.analysis.responses.limits import limit_sides
from dcnbio.analysis.responses.measure_names import CENSORED, MEASURES
from dcnbio.analysis.responses.medians import unit_median
from dcnbio.analysis.responses.naka_rushton import fit_naka_rushton, naka_rushton
from dcnbio.analysis.responses.orientation_tuning import orientation_tuning
from dcnbio.analysis.responses.phase_modulation import phase_modulation
from dcnbio.analysis.responses.size_tuning import size_tuning
from dcnbio.analysis.responses.unit_table import labelled
from dcnbio.errors import InputError


@pytest.mark.parametrize(("c50", "exponent"), [(0.1, 1.5), (0.2, 2.5), (0.35, 4.0)])
def test_naka_rushton_is_recovered_with_noise(c50, exponent):
    rng = np.random.default_rng(0)
    contrast = np.geomspace(0.02, 1, 12)
    found = [
        fit_naka_rushton(contrast, naka_rushton(contrast, 10.0, c50, exponent, 1.0) + rng.normal(0, 0.2, 12))
        for _ in range(30)
    ]
    assert np.median([fit.c50 for fit in found]) == pytest.approx(c50, rel=0.05)
    assert np.median([fit.exponent for fit in found]) == pytest.approx(exponent, rel=0.1)
    assert np.median([fit.r_max for fit in found]) == pytest.approx(10, rel=0.05)
    assert np.median([fit.baseline for fit in found]) == pytest.approx(1, abs=0.3)
    assert min(fit.r_squared for fit in found) > 0.97
    assert not any(fit.extrapolated for fit in found)


@pytest.mark.parametrize(("c50", "outside"), [(0.05, False), (0.7, False), (2.0, True)])
def test_a_half_contrast_outside_the_contrasts_shown_is_said_to_be_extrapolated(c50, outside):
    contrast = np.geomspace(0.02, 1, 9)
    found = fit_naka_rushton(contrast, naka_rushton(contrast, 10.0, c50, 1.0, 1.0))
    assert found.c50 == pytest.approx(c50, rel=0.01)
    assert (found.extrapolated, found.at_bound) == (outside, False)


def test_naka_rushton_says_where_it_fails():
    contrast = np.geomspace(0.02, 1, 8)
    assert fit_naka_rushton(contrast, np.ones(8)).failed == "the response does not vary with contrast"
    line = fit_naka_rushton(contrast, contrast)
    assert line.extrapolated or line.at_bound
    falling = fit_naka_rushton(contrast, 1 - contrast)
    assert falling.r_squared < 0.2
    with pytest.raises(InputError, match="give at least 5 above 0"):
        fit_naka_rushton(contrast[:4], contrast[:4])


@pytest.mark.parametrize("phases", [4, 6, 8])
def test_first_harmonic_of_a_rectified_sinusoid_is_exact(phases):
    at = np.arange(phases) * 2 * np.pi / phases
    shifts = np.linspace(0.1, 6, 25)[:, None]
    found = phase_modulation(np.maximum(0, np.cos(at - shifts)))
    np.testing.assert_allclose(found.f1, 0.5, atol=1e-12)
    np.testing.assert_allclose(np.radians(found.best_phase), shifts[:, 0] % (2 * np.pi), atol=1e-9)
    with pytest.raises(InputError, match="an even number, 4 or more"):
        phase_modulation(np.ones(5))


def test_orientation_is_periodic_and_broad_tuning_is_flagged():
    theta = np.arange(12) * 15.0
    found = orientation_tuning(theta, np.exp(2 * np.cos(np.radians(2 * (theta - 176)))))
    assert found.preferred == pytest.approx(176, abs=0.5)
    flat = orientation_tuning(theta, 1 + 0.1 * np.cos(np.radians(2 * theta)))
    assert flat.broad
    assert flat.half_width == 90
    assert flat.circular_variance == pytest.approx(0.95, abs=1e-9)
    with pytest.raises(InputError, match="equally spaced over 180 degrees"):
        orientation_tuning(theta * 2, theta + 1)


def test_frequency_at_an_edge_is_censored():
    f = np.geomspace(1 / 30, 0.5, 12)
    low_pass = frequency_tuning(f, np.exp(-f * 20))
    assert low_pass.at_edge
    assert low_pass.cut_missing
    band = np.exp(-(np.log2(f / 0.2) ** 2))
    assert not frequency_tuning(f, band).at_edge
    assert frequency_tuning(f, band, highest=0.125).at_edge
    with pytest.raises(InputError, match="tuning needs at least 4"):
        frequency_tuning(f, band, highest=0.05)


def test_size_tuning_of_ratio_like_curves():
    d = np.array([1, 2, 4, 6, 8, 12, 16, 24, 32.0])
    growing = size_tuning(d, 1 - np.exp(-d / 20))
    assert growing.still_growing
    assert growing.suppression_index == pytest.approx(0)
    assert np.isnan(growing.surround)
    falling = size_tuning(d, 1 / d)
    assert falling.falling_at_start
    assert falling.summation_censored
    assert falling.suppression_index == pytest.approx(31 / 32)
    # as published: the first diameter whose response is within 5 % of that to the largest; r = 1 + 9 exp(-(d - 4) / 2)
    fine = np.linspace(1, 32, 200)
    suppressed = size_tuning(fine, np.where(fine < 4, 10 * fine / 4, 1 + 9 * np.exp(-(fine - 4) / 2)))
    assert suppressed.surround == pytest.approx(4 + 2 * np.log(9 / 0.05), rel=0.01)
    assert suppressed.summation == pytest.approx(3.8, rel=0.01)
    # to silence: where it is reached, whatever the interpolation's rounding
    silenced = size_tuning(d, np.array([0.1, 0.9, 0.7, 0.3, 0, 0, 0, 0, 0]))
    assert (silenced.suppression_index, silenced.still_falling) == (1, False)
    assert silenced.surround == pytest.approx(8, abs=0.1)
    # cells that are suppressed by a tenth or less have no published surround
    assert np.isnan(size_tuning(d, np.where(d <= 6, d / 6, 0.91)).surround)
    assert np.isfinite(size_tuning(d, np.where(d <= 6, d / 6, 0.89)).surround)


def test_fields_that_leave_the_image_are_flagged_and_noise_does_not_widen_the_fit():
    y, x = np.mgrid[:32, :32]
    blob = np.exp(-((y - 15) ** 2 + (x - 28) ** 2) / (2 * 2.5**2))
    assert field_size(blob).clipped
    centred = np.exp(-((y - 15) ** 2 + (x - 15) ** 2) / (2 * 2.5**2))
    noisy = field_size(centred + 0.05 * np.random.default_rng(0).standard_normal((32, 32)))
    assert noisy.sigma_fit == pytest.approx(2.5, rel=0.03)
    assert noisy.sigma_moments > 3
    with pytest.raises(InputError, match="not zero everywhere"):
        field_size(np.zeros((3, 3)))


@pytest.mark.parametrize("order", [1, 2])
def test_moments_follow_the_scale_of_a_derivative_where_a_fitted_blob_does_not(order):
    """The energy of x g has twice the variance across, that of (x^2 - 1) g 7/3 of it; along it is the Gaussian's."""
    sigmas = np.geomspace(0.9, 3.2, 7)
    y, x = np.mgrid[:32, :32] - np.array([15.5, 16.2])[:, None, None]
    fields = []
    for sigma in sigmas:
        blob = np.exp(-(x**2 + y**2) / (2 * sigma**2))
        fields.append((x / sigma if order == 1 else x**2 / sigma**2 - 1) * blob)
    recorded = xr.Dataset({"local": (("time", "unit", "y", "x"), np.array(fields)[None])})
    found = field_measures(recorded, shape=False)
    wider = {1: (3 + 1) / 2, 2: (7 / 3 + 1) / 2}[order]
    assert found["field_sigma_moments"] == pytest.approx(np.sqrt(wider) * sigmas, rel=0.03)
    assert np.polyfit(np.log2(sigmas), np.log2(found["field_sigma_moments"]), 1)[0] == pytest.approx(1, abs=0.02)
    assert found["field_centre_x"] == pytest.approx(16.2, abs=0.1)  # a grating is centred on the field, not a lobe
    fitted = np.array([field_size(one).sigma_fit for one in fields]) / sigmas
    assert fitted.max() / fitted.min() > (2 if order == 1 else 1.2)  # upon one lobe or upon both


def test_gabor_fits_count_what_does_not_fit():
    y, x = np.mgrid[-10:11, -10:11]
    envelope = np.exp(-(x**2 + y**2) / 8)
    assert fit_gabor(x * envelope).reason == "the fit degenerates to frequency 0"
    second = fit_gabor((x**2 / 4 - 1) * envelope)
    assert second.nx == pytest.approx(0.3658, rel=0.02)  # the closed form in data/primate/njet_theory.csv
    assert "explains" in fit_gabor(np.random.default_rng(0).standard_normal((21, 21))).reason


def test_units_that_do_not_respond_count_and_widen_the_bounds():
    data = xr.Dataset({"f1_f0": ("unit", np.arange(9.0)), "responsive": ("unit", np.arange(9) != 4)})
    data["f1_f0"][8] = np.nan
    found = unit_median(data, "f1_f0", np.random.default_rng(0))
    assert (found.n, found.missing, found.unresponsive, found.value) == (8, 1, 1, 3.5)
    # the two that are unknown both lowest, or both highest, among 0, 1, 2, 3, 5, 6, 7
    assert found.bounds == (2.0, 5.0)
    assert "of 9 units 1 without it, 1 unresponsive, with which the median lies from 2 to 5" in found.caveat


def test_medians_of_measures_take_limits_as_limits():
    """Against Kaplan and Meier's estimate by scipy, of fields a third of which leave the image."""
    rng = np.random.default_rng(5)
    truth, limit = rng.normal(4, 1, 61), rng.normal(4.6, 1, 61)
    values, clipped = np.minimum(truth, limit), truth > limit
    data = xr.Dataset({"field_sigma_gradient": ("unit", values)})
    data["censored_field_sigma_gradient"] = ("unit", clipped)
    found = unit_median(data, "field_sigma_gradient", np.random.default_rng(0))
    alive = stats.ecdf(stats.CensoredData.right_censored(values, clipped)).sf
    assert found.value == pytest.approx(alive.quantiles[alive.probabilities <= 0.5][0])
    assert found.value > np.median(values) + 0.1
    assert found.interval.low < 4 < found.interval.high
    assert (found.n, found.censored, found.beyond) == (61, int(clipped.sum()), 0)
    # whatever the limits hide, the median is at least that of the limits as they stand
    assert found.bounds[0] == np.median(values)
    assert found.bounds[1] >= np.median(np.where(clipped, np.inf, values))


def test_a_median_beyond_what_is_known_is_written_as_a_limit():
    data = xr.Dataset({"peak_time": ("unit", [1.0, 2.0, 2.0, 2.0])})
    data["censored_peak_time"] = ("unit", [False, True, True, True])
    found = unit_median(data, "peak_time", np.random.default_rng(0))
    assert str(found) == ">2"
    assert found.bounds == (2.0, np.inf)
    assert "3 with a limit alone, with which the median lies from 2 to anything" in found.caveat


def test_definitions_are_of_measures_and_stand_in_the_table():
    assert set(DEFINITIONS) <= set(MEASURES)
    table = labelled({"summation_diameter_law": np.ones(2), "r_squared": np.ones(2)}, {})
    assert "95 %" in table["summation_diameter_law"].attrs["definition"]
    assert "definition" not in table["r_squared"].attrs


def test_every_limit_has_a_side():
    size = {"settings": '{"diameters": [2, 8, 30], "lowest_contrast": 0.12}'}
    ends = {"summation_diameter": (2.0, 5.0), "preferred_spatial_frequency": (1 / 30, 0.125), "c50": (0.01, 3.0)}
    for name in CENSORED:
        values = ends.get(next((key for key in ends if name.startswith(key)), ""), (1.0, 2.0))
        data = xr.Dataset({name: ("unit", list(values))}, attrs=size)
        data[f"censored_{name}"] = ("unit", [True, True])
        sides = limit_sides(data, name).tolist()
        side = -1 if name.startswith("bandwidth_index") else 0 if name.startswith("half_rise_time") else 1
        both = name.startswith(tuple(ends))
        assert sides == ([-1, 1] if both else [side, side]), name  # no time lies before 0, so a half-rise of 0 is known
        data[f"censored_{name}"] = ("unit", [False, False])
        assert limit_sides(data, name).tolist() == [0, 0]


def test_changes_of_limits_are_limits():
    block = {"block": ("unit", np.ones(8, int))}
    flags = np.array([True, True, True, False, False, False, False, False])
    before = xr.Dataset({"peak_time": ("unit", np.full(8, 2.0)), "censored_peak_time": ("unit", flags)}, block)
    later = flags.copy()
    later[:2] = False
    after = xr.Dataset({"peak_time": ("unit", np.full(8, 1.5)), "censored_peak_time": ("unit", later)}, block)
    changes = changes_beside_twin(Changed(before, {"time=0": after}), None)
    (one,) = (change for change in changes if change.measure == "peak_time")
    assert one.change.n == 7  # of the unit that peaks at T before and after nothing is known
    assert one.change.value == -0.5
    assert "2 with a limit alone" in one.change.caveat


def test_the_law_is_told_from_a_unit_that_breaks_it():
    contrast, share = np.geomspace(0.03, 0.96, 6), np.linspace(0, 1, 41)
    ends = 2.0

    def course(t):
        return 0.2 + np.sin(np.minimum(t * 2, np.pi))

    lawful = np.stack([course(share * ends * 0.48 / c) for c in contrast])
    lawless = np.stack([course(share * ends) for c in contrast])
    z = np.stack([lawful, lawless], -1)
    data = xr.Dataset(
        {"z": (("contrast", "time", "unit"), z), "z_blank": (("time", "unit"), np.zeros((41, 2)))},
        {"contrast": contrast, "time": share, "integration_time": ("unit", [ends, ends])},
    )
    found = contrast_measures(data)
    assert found["peak_time"][0] / found["peak_time_low_contrast"][0] == pytest.approx(4, rel=0.02)
    assert found["peak_time_law"][0] == pytest.approx(found["peak_time"][0], rel=0.02)
    assert found["peak_time"][1] == pytest.approx(found["peak_time_low_contrast"][1])
    assert found["censored_peak_time_law"][1]


def test_measures_in_time_are_those_that_were_put_in_at_each_time():
    """c50 falls from 0.4 to 0.2 and summation grows from 4 to 12 pixels with t; the second unit is silent at t = 0."""
    share, contrast = np.linspace(0, 1, 21), np.geomspace(0.12, 0.96, 7)
    z = np.stack([naka_rushton(contrast, 5.0, 0.4 - 0.2 * t, 2.0, 0.0) for t in share], 1)[..., None] * [1.0, 1.0]
    z[..., 1] *= share
    blank = {"z_blank": (("time", "unit"), np.zeros((21, 2)))}
    about = {"time": share, "contrast": contrast}
    contrasts = xr.Dataset({"z": (("contrast", "time", "unit"), z), **blank}, about)
    quarters = xr.DataArray([0.0, 0.25, 0.5, 0.75, 1.0], dims="time")
    found = contrast_in_time(contrasts, "z", quarters)
    assert found["c50_in_time"][:, 0].values == pytest.approx([0.4, 0.35, 0.3, 0.25, 0.2], rel=0.01)
    assert np.isnan(found["c50_in_time"][0, 1])
    assert found["r_max_in_time"][-1].values == pytest.approx([5, 5], rel=0.01)
    diameter = np.linspace(1, 30, 59)
    r = np.stack([np.minimum(diameter / (4 + 8 * t), 1) for t in share], 1)
    r = np.stack([r, r * (1 - 0.02 * np.maximum(diameter - 14, 0))[:, None]], -1)[None]
    sizes = xr.Dataset(
        {"z": (("contrast", "diameter", "time", "unit"), r), **blank},
        {"time": share, "contrast": [0.96], "diameter": diameter},
    )
    found = size_in_time(sizes, "z", quarters)
    expected = 0.95 * np.array([4, 6, 8, 10, 12])
    assert found["summation_diameter_in_time"][:, 1].values == pytest.approx(expected, rel=0.02)
    assert found["suppression_index_in_time"][:, 1].values == pytest.approx([0.32] * 5)
    assert found["suppression_index_in_time"][:, 0].values == pytest.approx([0] * 5)
    assert not found["censored_summation_diameter_in_time"][:, 1].any()
    assert "never responds" in found["summation_diameter_in_time"].attrs["undefined_when"]


def test_interventions_are_compared_unit_by_unit():
    block = {"block": ("unit", np.ones(8, int))}
    before = xr.Dataset({"f1_f0": ("unit", np.arange(8.0)), "c50": ("unit", np.full(8, 0.1))}, block)
    after = xr.Dataset({"f1_f0": ("unit", np.arange(8.0) + 1), "c50": ("unit", np.full(8, 0.2))}, block)
    images = np.arange(100)
    right = {"none": images < 80, "sigma=2": (images >= 30) & (images < 80)}
    wrong = {"none": images < 10, "sigma=2": images >= 90}  # as many others, so that accuracy stays
    network, twin = Changed(before, {"sigma=2": after}, right), Changed(before, {"sigma=2": before}, wrong)
    changes = changes_beside_twin(network, twin)
    found = {claim.name: claim for claim in intervention_claims(changes, accuracy_of(right), accuracy_of(wrong))}
    assert found["sigma=2: change of accuracy"].estimate == pytest.approx(-0.3)
    assert "from 80.0 to 50.0 %" in found["sigma=2: change of accuracy"].conclusion
    assert "the untrained one's from 10.0 to 10.0 %" in found["sigma=2: change of accuracy"].conclusion
    assert found["sigma=2: change of f1_f0 (1), median"].estimate == pytest.approx(1)
    c50 = found["sigma=2: change of c50 (octaves), median"]
    assert c50.estimate == pytest.approx(1)
    assert (c50.control.name, c50.control.estimate) == ("the same in the untrained network", 0)
    assert "trained minus untrained +1 [1, 1]" in c50.conclusion
    alone = intervention_claims(changes_beside_twin(network, None), accuracy_of(right), {})
    assert all("not measured" in claim.control.name for claim in alone)


def test_accuracy_differs_image_by_image():
    """The interval is that of the mean of d_i = (after - before) - (the twin's), whose standard error is known."""
    rng = np.random.default_rng(1)
    before, after, theirs_before, theirs_after = rng.random((4, 400)) < np.array([[0.8], [0.5], [0.1], [0.12]])
    draws = Beside(*np.random.default_rng(0).spawn(3))
    found = change_in_accuracy((before, after), (theirs_before, theirs_after), draws)
    each = (after * 1.0 - before) - (theirs_after * 1.0 - theirs_before)
    assert found.more == pytest.approx(found.change.value - found.untrained.value)
    assert found.more == pytest.approx(each.mean())
    error = each.std(ddof=1) / np.sqrt(400)
    limits = (each.mean() - 1.96 * error, each.mean() + 1.96 * error)
    assert (found.more_interval.low, found.more_interval.high) == pytest.approx(limits, abs=0.2 * error)
    assert found.differs
    alike = change_in_accuracy((before, before), (theirs_before, theirs_before), draws)
    assert not alike.more_interval.exists
    assert "alike" in alike.to_dict()["interval_method"]
    few = change_in_accuracy((before[:5], after[:5]), None, draws)
    assert not few.change.interval.exists
    assert few.to_dict()["trained_minus_untrained"] is None


def test_every_censored_measure_is_a_measure_with_a_unit():
    assert set(CENSORED) <= set(MEASURES)
    assert all(long_name and units for long_name, units, _ in MEASURES.values())
