"""Changes of equal norm that a mask's change is compared with: noise, noise of its spectrum, another image's patch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dcnbio.images import Box
from dcnbio.images.masks import mask_images

__all__ = ["mask_at_random", "other_patch", "same_spectrum", "scrambled", "white"]

Images = NDArray[np.float32]


def placed(images: Images, box: Box, change: NDArray[np.float64]) -> Images:
    """Add a change within a box, scaled for each image to the norm of the change that zeros there make."""
    part = images[:, :, box.rows, box.columns].astype(np.float64)
    wanted = np.sqrt(np.square(part).sum((1, 2, 3)))
    norm = np.sqrt(np.square(change).sum((1, 2, 3)))
    scale = np.divide(wanted, norm, out=np.zeros_like(norm), where=norm > 0)
    changed = images.copy()
    changed[:, :, box.rows, box.columns] = (part + scale[:, None, None, None] * change).astype(np.float32)
    return changed


def white(images: Images, box: Box, rng: np.random.Generator) -> Images:
    """Add white noise within a box, of the norm of the mask's change; pixels may leave [0, 1].

    Examples
    --------
    >>> x = np.random.default_rng(0).random((2, 3, 8, 8), dtype=np.float32)
    >>> y = white(x, Box(2, 2, 4, 4), np.random.default_rng(1))
    >>> bool(np.allclose(((y - x) ** 2).sum((1, 2, 3)), (x[:, :, 2:6, 2:6] ** 2).sum((1, 2, 3)), rtol=1e-5))
    True
    """
    return placed(images, box, rng.standard_normal((len(images), 3, box.height, box.width)))


def same_spectrum(images: Images, box: Box, rng: np.random.Generator) -> Images:
    """Add noise within a box that has the amplitude spectrum of the mask's change in each channel, and other phases.

    The three channels share their phases, so that colours stay correlated; the mean keeps its size with a random sign.
    """
    spectrum = np.fft.rfft2(images[:, :, box.rows, box.columns].astype(np.float64))
    other = np.fft.rfft2(rng.standard_normal((len(images), 1, box.height, box.width)))
    turned = spectrum * other / np.maximum(np.abs(other), 1e-12)
    return placed(images, box, np.fft.irfft2(turned, s=(box.height, box.width)))


def other_patch(images: Images, box: Box) -> Images:
    """Move the box's pixels towards those of the next image, by the norm of the mask's change."""
    part = images[:, :, box.rows, box.columns].astype(np.float64)
    return placed(images, box, np.roll(part, -1, axis=0) - part)


def mask_at_random(images: Images, side: int, rng: np.random.Generator) -> Images:
    """Put a square of zeros at a random place of each image."""
    size = images.shape[-1]
    corners = rng.integers(0, size - side + 1, size=(len(images), 2))
    parts = [
        mask_images(one[None], Box(int(top), int(left), side, side))
        for one, (top, left) in zip(images, corners, strict=True)
    ]
    return np.concatenate(parts)


def scrambled(images: Images, rng: np.random.Generator) -> Images:
    """Give images random phases and keep their amplitudes; values are not cut, so some leave [0, 1]."""
    spectrum = np.fft.rfft2(images.astype(np.float64))
    other = np.fft.rfft2(rng.standard_normal((len(images), 1, *images.shape[2:])))
    phases = other / np.maximum(np.abs(other), 1e-12)
    phases[:, :, 0, 0] = 1  # the mean stays
    return np.fft.irfft2(spectrum * phases, s=images.shape[2:]).astype(np.float32)
