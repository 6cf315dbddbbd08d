"""The measures of a unit: their names, units, and when they do not exist."""

from __future__ import annotations

__all__ = ["CENSORED", "MEASURES"]

SILENT = "the unit never responds above the blank"
NO_SURROUND = "the largest grating suppresses by 10 % or less, or the unit is silent"
NO_RESPONSE = "the unit responds to its own grating of that size with under a tenth of the block's median"
NO_NORM = "the network's first block has no group norm that takes its statistics from the image"
NO_FIT = "the unit is silent, or its response does not vary with contrast"
NOT_DESCRIBED = "the unit is silent, or Naka-Rushton does not describe it: R2 of 0.9 or less, exponent at a bound"
NOT_SATURATED = f"{NOT_DESCRIBED}; or c50 lies outside the contrasts shown"

# name: (long name, units, when it is not defined)
MEASURES: dict[str, tuple[str, str, str]] = {
    "maximum_response": ("largest modulation (F1 or F0) over all gratings", "1", ""),
    "preferred_orientation": (
        "preferred orientation of the bars, counter-clockwise from horizontal",
        "degrees",
        SILENT,
    ),
    "circular_variance": ("circular variance of orientation", "1", SILENT),
    "orientation_selectivity_index": ("orientation selectivity index", "1", SILENT),
    "orientation_half_width": ("half-width of orientation tuning at half height", "degrees", SILENT),
    "preferred_spatial_frequency": ("preferred spatial frequency", "cycles/pixel", SILENT),
    "spatial_frequency_bandwidth": ("full bandwidth of spatial frequency at half height", "octaves", SILENT),
    "bandwidth_index": ("100 f_low / f_high at 0.707 of the peak", "percent", SILENT),
    "best_orientation": ("orientation of the best grating shown", "degrees", SILENT),
    "best_spatial_frequency": ("spatial frequency of the best grating shown", "cycles/pixel", SILENT),
    "best_phase": ("best phase of that grating at the middle of the image", "degrees", SILENT),
    "f1_f0": ("F1 / F0 at the preferred grating", "1", SILENT),
    "eps_share_low_contrast": ("eps in the first norm's variance, lowest contrast", "1", NO_NORM),
    "eps_share_small_grating": ("eps in the first norm's variance, smallest grating at low contrast", "1", NO_NORM),
    "blank_error": ("change of the blank's z at T, solved more exactly", "1", ""),
    "zero_frequency_leakage": ("response to a uniform step of luminance over that to the best grating", "1", SILENT),
    "summation_diameter": ("summation field: diameter of 95 % of the peak", "pixels", SILENT),
    "surround_diameter": (
        "surround diameter: response within 5 % of that to the largest grating",
        "pixels",
        NO_SURROUND,
    ),
    "surround_ratio": ("surround over summation diameter", "1", NO_SURROUND),
    "suppression_index": ("(peak - largest grating) / peak", "1", SILENT),
    "summation_diameter_low_contrast": ("summation field at low contrast", "pixels", SILENT),
    "cross_orientation_suppression": ("1 - response to a plaid over that to its grating", "1", NO_RESPONSE),
    "iso_surround_suppression": ("1 - response with a surround along the grating over that without", "1", NO_RESPONSE),
    "cross_surround_suppression": (
        "1 - response with a surround across the grating over that without",
        "1",
        NO_RESPONSE,
    ),
    "surround_orientation_difference": ("suppression by surrounds along minus across", "1", NO_RESPONSE),
    "r_max": ("Rmax of Naka-Rushton", "1", NOT_SATURATED),
    "c50": ("c50 of Naka-Rushton", "1", NOT_DESCRIBED),
    "exponent": ("exponent of Naka-Rushton", "1", NOT_SATURATED),
    "baseline": ("baseline of Naka-Rushton", "1", NOT_SATURATED),
    "r_squared": ("share of variance that Naka-Rushton explains", "1", NO_FIT),
    "peak_time": ("time of the largest response", "solver time", SILENT),
    "half_rise_time": ("time of half the largest response", "solver time", SILENT),
    "peak_time_low_contrast": ("time of the largest response at low contrast", "solver time", SILENT),
    "half_rise_time_low_contrast": ("time of half the largest response at low contrast", "solver time", SILENT),
    "sign_reversals": ("changes of sign of the signal minus the blank's", "1", SILENT),
    "field_sigma_gradient": ("sigma of the local receptive field, Gaussian fit, by gradient", "pixels", "it is zero"),
    "field_sigma_moments": ("sigma of the local receptive field, second moments, by gradient", "pixels", "it is zero"),
    "field_sigma_noise": ("sigma of the receptive field, Gaussian fit, by noise correlation", "pixels", "it is noise"),
    "field_fit_r_squared": ("share of the local field's squared energy that a Gaussian explains", "1", "it is zero"),
    "field_centre_y": ("row of the centroid of the local receptive field's energy", "pixels", "it is zero"),
    "field_centre_x": ("column of the centroid of the local receptive field's energy", "pixels", "it is zero"),
    "field_global_share": ("share of the field's energy that is the norms' global part", "1", "the field is zero"),
    "field_agreement": ("correlation of the fields by gradient and by noise", "1", "one of them is zero"),
    "field_signal_share": ("share of the energy of the field by noise correlation that is signal", "1", "it is zero"),
    "field_width_nx": ("nx = sigma_x f of a Gabor fit to the local field", "cycles", "no Gabor function fits"),
    "field_width_ny": ("ny = sigma_y f of a Gabor fit to the local field", "cycles", "no Gabor function fits"),
}
SIZES = ("summation_diameter", "surround_diameter", "surround_ratio", "suppression_index")
FITS = ("r_max", "c50", "exponent", "r_squared")
TIMES = ("peak_time", "half_rise_time", "sign_reversals")
LOW = ("summation_diameter_low_contrast", "peak_time_low_contrast", "half_rise_time_low_contrast")
INTERACTIONS = (
    "cross_orientation_suppression",
    "iso_surround_suppression",
    "cross_surround_suppression",
    "surround_orientation_difference",
)
# what a measure is called where something else than the network as it is gives it: (suffix, of which, words)
PREDICTED = (
    ("law", (*SIZES, *FITS, *TIMES), "that the contrast-time law gives from a lower contrast"),
    ("frozen", (*SIZES, *FITS, *TIMES, *LOW), "norm statistics frozen"),
    ("held", INTERACTIONS, "norm statistics held at those of the grating alone"),
)
MEASURES |= {
    f"{name}_{suffix}": (f"{MEASURES[name][0]}, {words}", MEASURES[name][1], f"{MEASURES[name][2]}, {words}")
    for suffix, names, words in PREDICTED
    for name in names
}

# what is known as a limit alone, and when
CENSORED: dict[str, str] = {
    "orientation_half_width": "the response stays above half its peak at all orientations",
    "preferred_spatial_frequency": "the peak is at an end of the usable range",
    "spatial_frequency_bandwidth": "a cut at half height lies outside the usable range",
    "bandwidth_index": "a cut at 0.707 lies outside the usable range",
    "summation_diameter": "the largest or the smallest diameter has the largest response",
    "surround_diameter": "suppression has not ended at the last diameter but one",
    "surround_ratio": "surround or summation diameter is censored",
    "summation_diameter_low_contrast": "the largest or the smallest diameter has the largest response",
    "c50": "it lies outside the contrasts shown, of which it is the end",
    "peak_time": "the response is largest at T",
    "peak_time_low_contrast": "the response is largest at T",
    "half_rise_time": "the response begins above half its peak",
    "half_rise_time_low_contrast": "the response begins above half its peak",
    "field_sigma_gradient": "two sigma around the centre leave the image",
    "field_sigma_moments": "two sigma around the centre leave the image",
    "field_sigma_noise": "two sigma around the centre leave the image",
}
CENSORED |= {f"{name}_{suffix}": CENSORED[name] for suffix, names, _ in PREDICTED for name in names if name in CENSORED}
