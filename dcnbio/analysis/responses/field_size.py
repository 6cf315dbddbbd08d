"""Size and place of a receptive field: a Gaussian fitted to its energy, and the energy's second moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["FieldSize", "field_size"]

REACH = 2.0  # sigma around the centre that must lie within the image


@dataclass(frozen=True)
class FieldSize:
    """Size of one field.

    Attributes
    ----------
    sigma_fit : float
        Pixels: of the Gaussian exp(-r^2 / 2 sigma^2) whose square, and a constant, fit the field's square best.
    sigma_moments : float
        Pixels: the same from the second moments of the field's square; a constant background counts in it.
    centre : tuple of float
        (y, x) in pixels, of the fit.
    centroid : tuple of float
        (y, x) in pixels, of the field's square.
    r_squared : float
        Of the fit to the square.
    clipped, moments_clipped : bool
        Whether two sigma around the centre, or the centroid, leave the image (the size is censored).
    """

    sigma_fit: float
    sigma_moments: float
    centre: tuple[float, float]
    centroid: tuple[float, float]
    r_squared: float
    clipped: bool
    moments_clipped: bool


def leaves(place: tuple[float, float], sigma: float, shape: tuple[int, ...]) -> bool:
    """Say whether two sigma around a place leave the image."""
    return any(c - REACH * sigma < -0.5 or c + REACH * sigma > n - 0.5 for c, n in zip(place, shape, strict=True))


def moments(energy: Floats) -> tuple[float, float, float]:
    """Give centre (y, x) and sigma from an energy that adds up to 1."""
    y, x = (np.arange(length, dtype=np.float64) for length in energy.shape)
    along_y, along_x = energy.sum(1), energy.sum(0)
    centre = float(y @ along_y), float(x @ along_x)
    variance = ((y - centre[0]) ** 2 @ along_y + (x - centre[1]) ** 2 @ along_x) / 2
    # the square of a Gaussian has half its variance
    return *centre, float(np.sqrt(2 * variance))


def field_size(field: Floats) -> FieldSize:
    """Measure a field by its energy, so that odd and even, on and off fields count alike.

    Parameters
    ----------
    field : array [y, x]
        Signed.

    Returns
    -------
    FieldSize

    Raises
    ------
    InputError
        If it is no finite map, or zero everywhere.

    Notes
    -----
    For a derivative of a Gaussian the energy is wider than that of the Gaussian itself: sigma_moments is sqrt 2 times
    larger for the first order, at every sigma. The fit misleads there: one blob for two lobes sits upon both of them
    where they are wide, and upon one of them, beside the field's centre, where they are a pixel or two apart, so that
    fitted sizes jump by a factor of 3 from one scale to the next, and r_squared says so. Where several fields are
    compared, or a stimulus is centred, take the moments and the centroid.

    Examples
    --------
    >>> y, x = np.mgrid[:32, :32]
    >>> found = field_size(np.exp(-((y - 15) ** 2 + (x - 16) ** 2) / (2 * 2.5**2)))
    >>> round(found.sigma_fit, 3), round(found.sigma_moments, 3), found.clipped
    (2.5, 2.5, False)
    """
    values = np.asarray(field, dtype=np.float64)
    if values.ndim != 2 or not np.isfinite(values).all() or not values.any():
        raise InputError(f"field has shape {values.shape}; give a finite map [y, x] that is not zero everywhere.")
    energy = values**2
    energy = energy / energy.sum()
    y, x = (np.arange(length, dtype=np.float64) for length in energy.shape)
    centre_y, centre_x, spread = moments(energy)
    top = np.unravel_index(int(energy.argmax()), energy.shape)

    def misfit(p: Floats) -> Floats:
        across = np.exp(-((x - p[1]) ** 2) / p[2] ** 2)
        down = np.exp(-((y - p[0]) ** 2) / p[2] ** 2)
        fitted: Floats = p[3] * down[:, None] * across + p[4] - energy
        return fitted.ravel()

    largest = float(max(energy.shape))
    starts = [(float(top[0]), float(top[1]), 1.0, float(energy.max()), 0.0)]
    starts.append((centre_y, centre_x, min(max(spread, 0.4), largest), float(energy.max()), 0.0))
    low, high = [-0.5, -0.5, 0.2, 0.0, 0.0], [*(length - 0.5 for length in energy.shape), largest, np.inf, 1.0]
    scale = [1, 1, 1, max(float(energy.max()), 1e-6), 1e-3]
    fits = [least_squares(misfit, start, bounds=(low, high), x_scale=scale) for start in starts]
    best = min(fits, key=lambda fit: float(fit.cost))
    sigma, place = float(best.x[2]), (float(best.x[0]), float(best.x[1]))
    centroid = centre_y, centre_x
    clipped = leaves(place, sigma, energy.shape), leaves(centroid, spread, energy.shape)
    explained = 1 - 2 * best.cost / ((energy - energy.mean()) ** 2).sum()
    return FieldSize(sigma, spread, place, centroid, float(explained), *clipped)
