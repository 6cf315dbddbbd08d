"""White noise: every pixel drawn by itself."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images.canvas import Canvas, paint
from dcnbio.images.number_checks import count, generator, number

__all__ = ["Distribution", "white_noise"]

Distribution = Literal["gaussian", "uniform", "binary"]
CUT = 3.0  # sd at which the Gaussian ends, so that the largest contrast does not depend on the draw
INSIDE = math.erf(CUT / math.sqrt(2))
CUT_SD = math.sqrt(1 - 2 * CUT * math.exp(-(CUT**2) / 2) / math.sqrt(2 * math.pi) / INSIDE)
REACH = {"gaussian": CUT / CUT_SD, "uniform": math.sqrt(3), "binary": 1.0}


def white_noise(
    n: int,
    rng: np.random.Generator,
    *,
    contrast: float = 0.25,
    distribution: Distribution = "gaussian",
    chromatic: bool = False,
    canvas: Canvas | None = None,
) -> NDArray[np.float32]:
    """Draw images L (1 + c z) of independent pixels z with mean 0 and variance 1.

    Parameters
    ----------
    n : int
        How many images.
    rng : numpy.random.Generator
        Seeded; equal seeds give equal images.
    contrast : float
        c, the RMS contrast: standard deviation of the luminance over its mean, of the distribution and not of one draw.
    distribution : "gaussian", "uniform" or "binary"
        Of z. The Gaussian is cut at 3 of its standard deviations and widened to variance 1 again. On grey of 0.5 the
        largest contrasts are 0.328, 0.577 and 1.
    chromatic : bool
        Whether the three channels are drawn one by one; if not, the noise is grey.
    canvas : Canvas, optional
        Size and luminance; 32 x 32 at 0.5 if left out.

    Returns
    -------
    array of float32 [n, 3, y, x]
        Values in [0, 1].

    Raises
    ------
    InputError
        When the contrast does not fit (the message says the largest that does), or an argument is not allowed.

    Notes
    -----
    It misleads as a probe of low-pass filters: its power lies mostly at high frequencies, so that its effective
    contrast for a filter of scale sigma falls as 1 / sigma. Reverse correlation with it assumes a linear response with
    noise; group norm makes every unit depend, if weakly, on all pixels. Mean and contrast of one image scatter about
    those stated.

    Examples
    --------
    >>> images = white_noise(100, np.random.default_rng(0), contrast=0.2)
    >>> images.shape, round(float(images.mean()), 3), round(float(images.std() / images.mean()), 3)
    ((100, 3, 32, 32), 0.5, 0.2)
    """
    canvas = canvas or Canvas()
    count("n", n, 1)
    generator(rng)
    number("contrast", contrast, 0)
    if distribution not in get_args(Distribution):
        raise InputError(f'distribution is {distribution!r}: give "gaussian", "uniform" or "binary"')
    largest = canvas.largest_contrast / REACH[distribution]
    if contrast > largest * (1 + 1e-9):
        raise InputError(
            f"contrast is {contrast!r}: {distribution} noise leaves [0, 1] about a luminance of {canvas.luminance:.4g} "
            f"beyond an RMS contrast of {largest:.4g}, so give at most that"
        )
    shape = (n, 3 if chromatic else 1, canvas.height, canvas.width)
    grey = paint(contrast * _drawn(shape, rng, distribution), canvas, "white noise")
    return np.repeat(grey, 3 // shape[1], axis=1)


def _drawn(shape: tuple[int, ...], rng: np.random.Generator, distribution: Distribution) -> NDArray[np.float64]:
    """Independent values of mean 0 and variance 1."""
    values: NDArray[Any]
    if distribution == "binary":
        values = 2.0 * rng.integers(0, 2, shape) - 1
    elif distribution == "uniform":
        values = rng.uniform(-math.sqrt(3), math.sqrt(3), shape)
    else:
        values = rng.standard_normal(shape)
        while (beyond := np.abs(values) > CUT).any():
            values[beyond] = rng.standard_normal(int(beyond.sum()))
        values = values / CUT_SD
    return values.astype(np.float64, copy=False)
