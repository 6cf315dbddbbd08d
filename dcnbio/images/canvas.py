"""The grey that stimuli are drawn on: its size and luminance, where its pixels lie, and the range they may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images.number_checks import count, number

__all__ = ["Canvas", "Stimulus", "check_reach", "paint", "render"]

ROUNDING = 1e-9  # two contrasts that add to 1 + 2e-16 fit


@dataclass(frozen=True)
class Canvas:
    """A uniform grey image, on which a stimulus of contrast pattern p gives the image L (1 + p).

    Parameters
    ----------
    height, width : int
        Size in pixels.
    luminance : float
        L, the value of the grey in every channel, between 0 and 1, both excluded.

    Raises
    ------
    InputError
        When a size is no whole number of at least 1, or the luminance leaves no room on one side.

    Notes
    -----
    It misleads when `luminance` is read as candela per square metre: it is the pixel value, taken as linear. CIFAR-10
    images hold gamma-coded values, so their contrast in this sense is not the contrast of the scene. And a grey other
    than the training images' mean (about 0.47 for CIFAR-10) is itself a stimulus, with an edge where padding begins.

    Examples
    --------
    >>> Canvas().centre
    (15.5, 15.5)
    >>> round(Canvas(luminance=0.6).largest_contrast, 3)
    0.667
    """

    height: int = 32
    width: int = 32
    luminance: float = 0.5

    def __post_init__(self) -> None:
        count("height", self.height, 1)
        count("width", self.width, 1)
        number("luminance", self.luminance, 0.0, 1.0)
        if self.luminance in (0, 1):
            raise InputError(f"luminance is {self.luminance!r}: no contrast fits about it, so give 0.5 or so")

    @property
    def centre(self) -> tuple[float, float]:
        """Middle of the image (y, x) in pixels; the centre of the upper left pixel is (0, 0)."""
        return (self.height - 1) / 2, (self.width - 1) / 2

    @property
    def largest_contrast(self) -> float:
        """The largest contrast of a pattern that goes as far up as down: min(1, 1 / L - 1)."""
        return min(1.0, 1 / self.luminance - 1)


class Stimulus(Protocol):
    """What can be drawn: a dataclass that knows its contrast at every pixel and how far that reaches."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def reach(self) -> tuple[float, float]:
        """Least and largest contrast that the stimulus means to take, at any phase and position."""
        ...

    def pattern(self, canvas: Canvas) -> NDArray[np.float64]:
        """Contrast p at every pixel [y, x]; the image is L (1 + p)."""
        ...


def render(stimulus: Stimulus, canvas: Canvas | None = None) -> NDArray[np.float32]:
    """Draw one stimulus in grey: the image L (1 + p), alike in the three channels.

    Parameters
    ----------
    stimulus : Grating, Spot, Annulus, Plaid, CentreSurround or Blank
        What to draw.
    canvas : Canvas, optional
        Size and luminance of the grey; 32 x 32 at 0.5 if left out.

    Returns
    -------
    array of float32 [3, y, x]
        Values in [0, 1].

    Raises
    ------
    InputError
        When the contrast does not fit about this luminance; the message says the largest that does.

    Notes
    -----
    It misleads when a 32 x 32 image is taken for a visual field: everything beyond is zero padding (black to the first
    layer, not grey), and group norm divides by the standard deviation of the whole map, which makes all of the image,
    grey included, a surround of every unit.

    Examples
    --------
    >>> from dcnbio.images import Grating
    >>> image = render(Grating(contrast=1.0))
    >>> image.shape, image.dtype, float(image.max() - image.min()) > 0.9
    ((3, 32, 32), dtype('float32'), True)
    """
    canvas = canvas or Canvas()
    name = type(stimulus).__name__
    check_reach(stimulus.reach, canvas, name)
    grey = paint(stimulus.pattern(canvas), canvas, name)
    return np.repeat(grey[None], 3, axis=0)


def paint(pattern: NDArray[np.floating[Any]], canvas: Canvas, name: str = "pattern") -> NDArray[np.float32]:
    """Turn contrasts into pixel values: L (1 + p).

    Parameters
    ----------
    pattern : array [..., y, x]
        Contrast p at every pixel.
    canvas : Canvas
        Whose luminance is L; its size has to be the pattern's.
    name : str
        What the pattern is, for messages.

    Returns
    -------
    array of float32 [..., y, x]
        Values in [0, 1]; nothing is clipped but rounding.

    Raises
    ------
    InputError
        When the size is another or a value leaves [0, 1]; the message says the largest contrast allowed.

    Examples
    --------
    >>> paint(np.array([[-1.0, 0.5]]), Canvas(1, 2, luminance=0.4))
    array([[0. , 0.6]], dtype=float32)
    """
    if pattern.shape[-2:] != (canvas.height, canvas.width):
        raise InputError(
            f"{name} is {pattern.shape[-2:]} pixels on a canvas of {canvas.height} x {canvas.width}: give both one size"
        )
    check_reach((float(pattern.min(initial=0)), float(pattern.max(initial=0))), canvas, name)
    image: NDArray[np.float32] = np.clip(canvas.luminance * (1 + pattern), 0, 1).astype(np.float32)
    return image


def check_reach(reach: tuple[float, float], canvas: Canvas, name: str) -> None:
    """Refuse contrasts that leave [0, 1], and say how much is allowed."""
    low, high = reach
    upwards = 1 / canvas.luminance - 1
    if low >= -1 - ROUNDING and high <= upwards * (1 + ROUNDING) + ROUNDING:
        return
    allowed = min(1.0, upwards) if low < 0 else upwards
    raise InputError(
        f"contrast of {name} reaches {max(high, -low):.4g} about a luminance of {canvas.luminance:.4g}, which leaves "
        f"[0, 1]: the largest allowed is {allowed:.4g} (of all components together), so lower the contrast"
        + (" or take luminance 0.5" if allowed < 1 else "")
    )
