"""Shape of a receptive field: a Gabor function fitted to it, and its widths in cycles, nx and ny."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from dcnbio.analysis.shapes import Floats
from dcnbio.errors import InputError

__all__ = ["GaborFit", "fit_gabor"]

HALF_WINDOW = 8  # pixels around the centre that are fitted
LEAST_EXPLAINED = 0.8
LEAST_CYCLES = 0.05  # nx below which the fit has degenerated to f = 0
SIGMAS = (0.3, 16.0)


@dataclass(frozen=True)
class GaborFit:
    """A Gabor function fitted to a field.

    Attributes
    ----------
    nx, ny : float
        sigma_x f and sigma_y f in cycles: across and along the bars; NaN where nothing is fitted.
    frequency : float
        Cycles/pixel.
    r_squared : float
        Share of the field's energy that is explained.
    reason : str
        Why there is no fit; an empty string where there is.
    """

    nx: float
    ny: float
    frequency: float
    r_squared: float
    reason: str = ""

    @property
    def fitted(self) -> bool:
        """Whether the shape is a Gabor function's."""
        return not self.reason


def window(field: Floats) -> Floats:
    """Cut out what lies around the largest energy."""
    top = np.unravel_index(int(np.abs(field).argmax()), field.shape)
    cut = tuple(slice(max(0, i - HALF_WINDOW), i + HALF_WINDOW + 1) for i in top)
    return field[cut]


def fit_gabor(field: Floats) -> GaborFit:
    """Fit A exp(-x'^2 / 2 sigma_x^2 - y'^2 / 2 sigma_y^2) cos(2 pi f x' + phi), x' across the bars, by least squares.

    Amplitude and phase enter linearly and are solved for at each trial (variable projection).

    Parameters
    ----------
    field : array [y, x]

    Returns
    -------
    GaborFit
        With a `reason` where under 80 % is explained, the fit degenerates to f = 0, or it ends at a bound.

    Raises
    ------
    InputError
        If the field is no finite map, or zero everywhere.

    Notes
    -----
    For the first derivative of a Gaussian the limit f = 0 is exact: nx is then 0 and no measure, which is counted, not
    left out.

    References
    ----------
    Ringach, J Neurophysiol 2002, 88, 455, doi:10.1152/jn.2002.88.1.455.

    Examples
    --------
    >>> y, x = np.mgrid[-10:11, -10:11]
    >>> found = fit_gabor(np.exp(-(x**2) / 8 - y**2 / 18) * np.cos(2 * np.pi * 0.2 * x + 0.3))
    >>> round(found.nx, 3), round(found.ny, 3), found.fitted
    (0.4, 0.6, True)
    """
    values = np.asarray(field, dtype=np.float64)
    if values.ndim != 2 or not np.isfinite(values).all() or not values.any():
        raise InputError(f"field has shape {values.shape}; give a finite map [y, x] that is not zero everywhere.")
    w = window(values)
    w = w / np.abs(w).max()
    y, x = np.mgrid[: w.shape[0], : w.shape[1]].astype(np.float64)

    def residual(p: Floats) -> Floats:
        turn, dy, dx = p[4], y - p[0], x - p[1]
        across, along = dx * np.cos(turn) + dy * np.sin(turn), dy * np.cos(turn) - dx * np.sin(turn)
        envelope = np.exp(-(across**2) / (2 * p[2] ** 2) - along**2 / (2 * p[3] ** 2))
        phase = 2 * np.pi * p[5] * across
        basis = np.stack([(envelope * np.cos(phase)).ravel(), (envelope * np.sin(phase)).ravel()], 1)
        weights = np.linalg.lstsq(basis, w.ravel(), rcond=1e-8)[0]
        left: Floats = basis @ weights - w.ravel()
        return left

    energy = w**2 / (w**2).sum()
    start = [float((y * energy).sum()), float((x * energy).sum())]
    spectrum = np.abs(np.fft.rfft2(w, s=(64, 64)))
    fy, fx = np.fft.fftfreq(64)[:, None], np.fft.rfftfreq(64)[None, :]
    top = np.unravel_index(int(spectrum.argmax()), spectrum.shape)
    turn, peak = float(np.arctan2(fy[top[0], 0], fx[0, top[1]])), float(np.hypot(fy[top[0], 0], fx[0, top[1]]))
    low = [-2.0, -2.0, SIGMAS[0], SIGMAS[0], -4 * np.pi, 0.0]
    high = [w.shape[0] + 1.0, w.shape[1] + 1.0, SIGMAS[1], SIGMAS[1], 4 * np.pi, 0.5]
    fits = [
        least_squares(residual, [*start, s, s, turn, min(max(f, 0.02), 0.45)], bounds=(low, high), max_nfev=60)
        for s, f in ((1.0, peak), (2.0, peak), (1.5, 0.15))
    ]
    best = min(fits, key=lambda fit: float(fit.cost))
    explained = float(1 - 2 * best.cost / (w**2).sum())
    sigma_x, sigma_y, f = best.x[2], best.x[3], best.x[5]
    reason = ""
    if explained < LEAST_EXPLAINED:
        reason = f"a Gabor function explains {100 * explained:.0f} % of the field, under {100 * LEAST_EXPLAINED:.0f} %"
    elif sigma_x * f < LEAST_CYCLES:
        reason = "the fit degenerates to frequency 0"
    elif max(sigma_x, sigma_y) > 0.99 * SIGMAS[1] or f > 0.495:
        reason = "the fit ends at a bound"
    none = float("nan")
    return GaborFit(
        none if reason else float(sigma_x * f), none if reason else float(sigma_y * f), float(f), explained, reason
    )
