"""Noise with the spectrum of given images: drawn anew, or the images themselves with their phases scrambled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.fft import fft2, ifft2, irfft2, rfft2
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images.canvas import ROUNDING, Canvas, paint
from dcnbio.images.number_checks import count, generator, number

__all__ = ["equal_spectrum_noise", "phase_scrambled"]


def equal_spectrum_noise(
    images: NDArray[np.floating[Any]],
    n: int,
    rng: np.random.Generator,
    *,
    contrast: float = 0.15,
    luminance: float = 0.5,
) -> NDArray[np.float32]:
    """Draw Gaussian noise with the mean power spectrum of given images, and their correlations between channels.

    White noise is filtered with the square root of the images' cross-spectrum S_ij(f) = mean F_i(f) F_j(f)*, a 3 x 3
    matrix at every frequency f but 0, where every channel is set to the grey.

    Parameters
    ----------
    images : floating-point array [m, 3, y, x]
        Images in [0, 1], whose spectrum is taken.
    n : int
        How many images of noise.
    rng : numpy.random.Generator
        Seeded; equal seeds give equal images.
    contrast : float
        RMS contrast over pixels and channels, expected of a draw: standard deviation over mean luminance.
    luminance : float
        L, mean of every channel of every image, exactly.

    Returns
    -------
    array of float32 [n, 3, y, x]
        Values in [0, 1].

    Raises
    ------
    InputError
        When a draw leaves [0, 1]; the message says the largest contrast allowed for this draw. Natural images have
        about 0.5, at which Gaussian noise never fits.

    Notes
    -----
    It misleads as "natural images without structure": the discrete Fourier transform takes images as periodic, so their
    opposite borders put a cross of power on the axes; only second-order statistics are kept; and at the contrast that
    fits, it is weaker than the images. Scrambled in phase, no image keeps its edges, nor its sparse responses.

    Examples
    --------
    >>> from dcnbio.images import Selection, read_images
    >>> natural = read_images(selection=Selection(limit=50)).images
    >>> noise = equal_spectrum_noise(natural, 4, np.random.default_rng(0), contrast=0.1)
    >>> noise.shape, noise.mean(axis=(2, 3)).round(4).min()
    ((4, 3, 32, 32), np.float32(0.5))
    """
    values = _checked(images)
    count("n", n, 1)
    generator(rng)
    number("contrast", contrast, 0)
    canvas = Canvas(values.shape[2], values.shape[3], luminance)
    spectrum = rfft2(values)
    spectrum[:, :, 0, 0] = 0
    cross = np.einsum("niyx,njyx->yxij", spectrum, spectrum.conj()) / len(values)
    variance, vectors = np.linalg.eigh(cross)
    root = np.einsum("yxij,yxj,yxkj->yxik", vectors, np.sqrt(np.maximum(variance, 0)), vectors.conj())
    noise = irfft2(
        np.einsum("yxij,njyx->niyx", root, rfft2(rng.standard_normal((n, *values.shape[1:])))), s=values.shape[2:]
    )
    expected = float(np.sqrt(np.mean((values - values.mean(axis=(2, 3), keepdims=True)) ** 2)))
    if expected == 0:
        raise InputError("images are all uniform, and have no spectrum but their mean: give images with contrast")
    return _painted(noise / expected / np.sqrt(values.shape[2] * values.shape[3]), contrast, canvas)


def phase_scrambled(
    images: NDArray[np.floating[Any]],
    rng: np.random.Generator,
    *,
    contrast: float | None = None,
    luminance: float | None = None,
) -> NDArray[np.float32]:
    """Add random phases to the Fourier components of images, the same in their three channels.

    Parameters
    ----------
    images : floating-point array [m, 3, y, x]
        Images in [0, 1].
    rng : numpy.random.Generator
        Seeded; every image gets phases of its own.
    contrast : float, optional
        RMS contrast that every image gets, over pixels and channels about each channel's mean: standard deviation over
        mean luminance. Left out, the image's own amplitudes.
    luminance : float, optional
        Mean that every channel of every image gets; needed with `contrast`. Left out, their own means.

    Returns
    -------
    array of float32 [m, 3, y, x]
        Values in [0, 1], with the amplitude spectrum of each channel of each image: as it is, or times one number per
        image where `contrast` is given.

    Raises
    ------
    InputError
        When an image leaves [0, 1], as most natural ones do at their own contrast (about 0.5); the message says the
        largest contrast allowed for this draw.

    Notes
    -----
    It misleads as `equal_spectrum_noise` does, and where one image is repeated: its scrambles share their amplitudes
    and are no independent samples of a spectrum. Colours stay correlated, for channels share their phases.

    Examples
    --------
    >>> from dcnbio.images import Selection, read_images
    >>> natural = read_images(selection=Selection(limit=10)).images
    >>> noise = phase_scrambled(natural, np.random.default_rng(0), contrast=0.15, luminance=0.5)
    >>> bool(np.allclose(noise.std(axis=(1, 2, 3)) / 0.5, 0.15, atol=1e-6))
    True
    """
    values = _checked(images)
    generator(rng)
    if contrast is not None:
        number("contrast", contrast, 0)
    if (contrast is None) != (luminance is None):
        raise InputError(
            f"contrast is {contrast!r} and luminance {luminance!r}: give both, or neither to keep the images' own"
        )
    means = values.mean(axis=(2, 3), keepdims=True)
    turn = fft2(
        rng.standard_normal((len(values), 1, *values.shape[2:]))
    )  # of a real image: phases are odd in frequency
    noise = ifft2(fft2(values - means) * turn / np.abs(turn)).real
    if contrast is not None and luminance is not None:
        spread = np.sqrt(np.mean(noise**2, axis=(1, 2, 3), keepdims=True))
        if not spread.all():
            raise InputError(
                f"images {np.flatnonzero(spread == 0)[:10].tolist()} are uniform: they have no contrast to set"
            )
        return _painted(noise / spread, contrast, Canvas(values.shape[2], values.shape[3], luminance))
    share = np.min(np.where(noise < 0, means, 1 - means) / np.maximum(np.abs(noise), 1e-12), axis=(1, 2, 3))
    if (share < 1 - ROUNDING).any():
        raise InputError(
            f"{int((share < 1 - ROUNDING).sum())} of {len(values)} images leave [0, 1] once scrambled at their own "
            f"contrast; the largest allowed is {share.min():.4g} times theirs: give contrast=0.15 and luminance=0.5"
        )
    kept: NDArray[np.float32] = np.clip(means + noise, 0, 1).astype(np.float32)
    return kept


def _checked(images: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Refuse what are no RGB images in [0, 1]."""
    values = np.asarray(images)
    if values.ndim != 4 or values.shape[1] != 3 or not len(values) or not np.issubdtype(values.dtype, np.floating):
        raise InputError(
            f"images is {values.dtype} of shape {values.shape}: give floating-point RGB [m, 3, y, x] in [0, 1] "
            "(divide 8-bit values by 255)"
        )
    if not (np.isfinite(values).all() and values.min() >= 0 and values.max() <= 1):
        raise InputError("images hold values outside [0, 1] or not finite: give RGB / 255, without mean and sd")
    return values.astype(np.float64)


def _painted(unit: NDArray[np.float64], contrast: float, canvas: Canvas) -> NDArray[np.float32]:
    """Paint noise of standard deviation 1, or say the largest contrast at which this draw fits."""
    upwards = 1 / canvas.luminance - 1
    largest = min(upwards / max(float(unit.max()), 1e-12), 1 / max(-float(unit.min()), 1e-12))
    if contrast > largest * (1 + ROUNDING):
        raise InputError(
            f"contrast is {contrast!r}: about a luminance of {canvas.luminance:.4g} this draw leaves [0, 1] beyond an "
            f"RMS contrast of {largest:.4g}, the largest allowed; more images in one draw allow less"
        )
    return paint(contrast * unit, canvas, "noise")
