"""Spatial-frequency response of filters: the discrete Fourier transform of each, by its separable parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcnbio.analysis.filters.energy import square_of
from dcnbio.analysis.shapes import Floats

__all__ = ["FrequencyResponse", "frequency_response"]

CHUNK = 1024  # filters transformed at a time


@dataclass(frozen=True)
class FrequencyResponse:
    """How filters respond to gratings of all spatial frequencies up to the pixel grid's limit.

    Attributes
    ----------
    peak : array, shape (input, output)
        Spatial frequency of the largest response, cycles per pixel; 0 for low-pass filters, NaN for filters of zeros.
    direction : array, shape (input, output)
        Direction of that grating's wave vector, degrees from x towards y (down), 0 to 180; NaN at frequency 0.
    centroid : array, shape (input, output)
        Mean spatial frequency, weighted with the squared response, cycles per pixel.
    at_zero : array, shape (input, output)
        Response to a uniform image over the largest response.
    frequency : array, shape (bin,)
        Radial spatial frequency, cycles per pixel.
    spectrum : array, shape (bin,)
        Squared response, averaged over directions and filters.
    """

    peak: Floats
    direction: Floats
    centroid: Floats
    at_zero: Floats
    frequency: Floats
    spectrum: Floats


def tap_spectra(taps: Floats, points: int) -> tuple[Floats, Floats]:
    """Transform centred taps, shape (..., N + 1, k): all frequencies, and those from 0 to 1/2, last axis."""
    half = (taps.shape[-1] - 1) // 2
    phase = np.exp(-2j * np.pi * np.outer(np.arange(-half, half + 1), np.fft.fftfreq(points)))
    spectrum = taps @ phase
    return spectrum, spectrum[..., : points // 2 + 1]


def frequency_response(alpha: Floats, taps: Floats, points: int = 64) -> FrequencyResponse:
    """Give peak, direction, centroid and mean spectrum of every filter's response |F(u, v)|.

    F(u, v) = sum over pixels of f(x, y) exp(-2 pi i (u x + v y)), on a grid of `points` x `points` frequencies; exact
    at each of them, since filters end at their window.

    Parameters
    ----------
    alpha : array, shape (F, input, output)
    taps : array, shape (N + 1, k) or (input, output, N + 1, k)
    points : int
        Even; the frequency step is 1 / points cycles per pixel.

    Returns
    -------
    FrequencyResponse

    Notes
    -----
    Frequencies above 1/2 along an axis do not exist on the grid: a filter whose peak lies there is cut off, as are
    small scales. One of 32 pixels cannot show frequencies under 1/32.

    Examples
    --------
    >>> from dcnbio.analysis.filters.sampled_gaussian import sampled_taps
    >>> edge = np.eye(6)[1].reshape(6, 1, 1)
    >>> found = frequency_response(edge, sampled_taps(2.0, 2, 8))
    >>> float(found.peak[0, 0]), float(found.direction[0, 0])  # 1 / (2 pi sigma) = 0.0796, on a grid of 1 / 64
    (0.078125, 0.0)
    """
    inputs, outputs = alpha.shape[1:]
    square = np.moveaxis(square_of(alpha), (0, 1), (-2, -1)).reshape(inputs * outputs, *square_of(alpha[:, 0, 0]).shape)
    v, u = np.fft.fftfreq(points)[:, None], np.arange(points // 2 + 1) / points
    radius = np.hypot(v, u).ravel()
    angle = np.degrees(np.arctan2(v, np.broadcast_to(u, (points, points // 2 + 1)))).ravel() % 180
    doubled = np.broadcast_to(np.where((u > 0) & (u < 0.5), 2.0, 1.0), (points, points // 2 + 1)).ravel()
    total = np.zeros(radius.size)
    found = []
    for start in range(0, len(square), CHUNK):
        some = taps if taps.ndim == 2 else taps.reshape(len(square), *taps.shape[2:])[start : start + CHUNK]
        every, right = tap_spectra(some, points)
        response = np.swapaxes(every, -1, -2) @ square[start : start + CHUNK] @ right
        power = (response.real**2 + response.imag**2).reshape(len(response), -1)
        total += power.sum(0)
        found.append(summary(power, radius, angle, doubled))
    peak, direction, centroid, at_zero = (part.reshape(inputs, outputs) for part in np.concatenate(found, axis=1))
    bins = np.rint(radius * points).astype(np.int64)
    spectrum = np.bincount(bins, weights=total * doubled) / np.maximum(np.bincount(bins, weights=doubled), 1e-300)
    frequency = np.arange(spectrum.size) / points
    return FrequencyResponse(peak, direction, centroid, at_zero, frequency, spectrum / (inputs * outputs))


def summary(power: Floats, radius: Floats, angle: Floats, doubled: Floats) -> Floats:
    """Give peak, direction, centroid and response at zero of filters' squared responses (filter, frequency)."""
    top = power.argmax(1)
    highest = power.max(1)
    some = highest > 0
    weight = power @ doubled
    centroid = np.divide(power @ (doubled * radius), weight, out=np.full(len(power), np.nan), where=some)
    at_zero = np.sqrt(np.divide(power[:, 0], highest, out=np.full(len(power), np.nan), where=some))
    peak = np.where(some, radius[top], np.nan)
    return np.stack([peak, np.where(some & (radius[top] > 0), angle[top], np.nan), centroid, at_zero])
