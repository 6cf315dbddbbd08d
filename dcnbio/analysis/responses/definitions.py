"""How the measures of a unit are defined, in the field's terms, with who defined them so."""

from __future__ import annotations

__all__ = ["DEFINITIONS", "definition_of"]

DEFINITIONS: dict[str, str] = {
    "maximum_response": "largest r, which for tuning is F1 over phase at T, or F0 where that is larger at the best",
    "preferred_orientation": "peak of a periodic cubic spline over orientation at the best frequency",
    "circular_variance": "1 - |sum r exp(2 i theta)| / sum r at the best frequency (Ringach, Shapley & Hawken 2002)",
    "orientation_selectivity_index": "(r_preferred - r_orthogonal) / (r_preferred + r_orthogonal), best frequency",
    "orientation_half_width": "half the width of the curve at half its height (De Valois, Yund & Hepler 1982)",
    "preferred_spatial_frequency": "peak of a cubic spline over log frequency at the best orientation",
    "spatial_frequency_bandwidth": "log2(f_high / f_low) at half height (De Valois, Albrecht & Thorell 1982)",
    "bandwidth_index": "100 f_low / f_high at 0.707 of the peak; small is broad (Schiller, Finlay & Volman 1976)",
    "f1_f0": (
        "first harmonic over mean of r, over the phases of a grating that stands still; simple above 1 (Skottun et al. "
        "1991), pi / 2 for a half-rectified sinusoid"
    ),
    "summation_diameter": "smallest grating with 95 % of the largest response (Cavanaugh, Bair & Movshon 2002)",
    "surround_diameter": (
        "smallest grating, beyond the best, whose response is within 5 % of that to the largest, of units suppressed "
        "by over 10 % (Cavanaugh, Bair & Movshon 2002, as Marques et al. 2021 apply it)"
    ),
    "suppression_index": "(r_peak - r_largest) / r_peak, of gratings up to 30 pixels (Cavanaugh, Bair & Movshon 2002)",
    "cross_orientation_suppression": "1 - r(grating and mask across it) / r(grating)",
    "iso_surround_suppression": "1 - r(grating within a surround along it) / r(grating)",
    "cross_surround_suppression": "1 - r(grating within a surround across it) / r(grating)",
    "r_max": "Rmax of b + Rmax c^n / (c^n + c50^n), gratings over the image (Albrecht & Hamilton 1982)",
    "c50": (
        "contrast of half Rmax in b + Rmax c^n / (c^n + c50^n) (Albrecht & Hamilton 1982), where R2 is above 0.9 and n "
        "off its bounds of 0.1 and 10; a limit outside the contrasts shown, where Rmax, n and b are not read"
    ),
    "exponent": "n of b + Rmax c^n / (c^n + c50^n) (Albrecht & Hamilton 1982)",
    "peak_time": "solver time of the largest r, from the initial state, which is the stimulus",
    "half_rise_time": "first solver time at which r is half its largest",
    "zero_frequency_leakage": "largest r to a uniform step of luminance over the largest to a grating",
    "blank_error": "change of z_blank(T) when it is solved three to ten times as exactly; r is known no better",
    "eps_share_low_contrast": "eps / (variance + eps), median over groups, of its grating; laws need it near 0",
    "field_sigma_moments": (
        "root of twice the variance, the mean of both axes, of the squared gradient dh(T) / dluminance with the norms' "
        "statistics held: sigma of a Gaussian field, more of its derivatives"
    ),
    "field_sigma_gradient": (
        "sigma of exp(-r^2 / sigma^2), fitted to that squared gradient; of odd fields it may be that of one lobe"
    ),
    "field_sigma_noise": "the same of the correlation of h(T) with white noise",
    "field_global_share": "energy of the gradient that goes when the norms' statistics are held",
    "field_width_nx": "sigma_x f across the bars of a Gabor function fitted to the local field (Ringach 2002)",
    "field_width_ny": "sigma_y f along the bars of a Gabor function fitted to the local field (Ringach 2002)",
}
SUFFIXES = ("_law", "_frozen", "_held", "_low_contrast")


def definition_of(name: str) -> str:
    """Give how a measure is defined; an empty string where its name says it.

    Examples
    --------
    >>> definition_of("summation_diameter_frozen")
    'smallest grating with 95 % of the largest response (Cavanaugh, Bair & Movshon 2002)'
    >>> definition_of("r_squared")
    ''
    """
    plain = name
    while plain not in DEFINITIONS and plain.endswith(SUFFIXES):
        plain = next(plain.removesuffix(suffix) for suffix in SUFFIXES if plain.endswith(suffix))
    return DEFINITIONS.get(plain, "")
