"""Central masks on images: the square that pattern completion has to fill in."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import InputError

__all__ = ["Box", "central_boxes", "central_mask", "mask_images"]

Floating = TypeVar("Floating", bound=np.floating[Any])


class Box(NamedTuple):
    """A rectangle of pixels: its first row and column, and how many of each.

    Attributes
    ----------
    top, left : int
        First row and column, pixels.
    height, width : int
        Pixels.

    Examples
    --------
    >>> Box(9, 9, 14, 14).rows  # the public script's mask: pixels 9 to 22
    slice(9, 23, None)
    """

    top: int
    left: int
    height: int
    width: int

    @property
    def rows(self) -> slice:
        """The rows of the box, as a slice."""
        return slice(self.top, self.top + self.height)

    @property
    def columns(self) -> slice:
        """The columns of the box, as a slice."""
        return slice(self.left, self.left + self.width)


def central_boxes(size: int, image_size: int = 32) -> tuple[Box, ...]:
    """Return the central squares of `size` x `size` pixels: one, or four where none is exactly central.

    On 32 pixels an odd square has no centre: the four placements half a pixel off are given, upper left first, and a
    measure is best averaged over them.

    Parameters
    ----------
    size : int
        Side of the square in pixels, 0 (nothing masked) to `image_size`.
    image_size : int
        Side of the image in pixels.

    Returns
    -------
    tuple of Box
        One box when `image_size - size` is even, else four.

    Raises
    ------
    InputError
        When the square does not fit.

    Examples
    --------
    >>> central_boxes(14)
    (Box(top=9, left=9, height=14, width=14),)
    >>> [(box.top, box.left) for box in central_boxes(7)]
    [(12, 12), (12, 13), (13, 12), (13, 13)]
    """
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 0 <= size <= image_size:
        raise InputError(f"size is {size!r}: a mask on {image_size} pixels is a whole number from 0 to {image_size}")
    low, odd = divmod(image_size - int(size), 2)
    starts = range(low, low + odd + 1)
    return tuple(Box(top, left, int(size), int(size)) for top in starts for left in starts)


def central_mask(size: int, image_size: int = 32, placement: int = 0) -> NDArray[np.bool_]:
    """Return True on the central `size` x `size` pixels of an image.

    Parameters
    ----------
    size : int
        Side of the square in pixels, 0 to `image_size`.
    image_size : int
        Side of the image in pixels.
    placement : int
        Which of `central_boxes(size, image_size)`: 0, or 0 to 3 where the square has no exact centre.

    Returns
    -------
    array of bool [y, x]
        True where the mask is.

    Raises
    ------
    InputError
        When the square does not fit, or the placement does not exist.

    Notes
    -----
    It misleads for an odd `size` on an even image: placement 0 lies half a pixel up and left of the centre.

    Examples
    --------
    >>> int(central_mask(6).sum())
    36
    >>> np.flatnonzero(central_mask(6).any(axis=0))
    array([13, 14, 15, 16, 17, 18])
    """
    boxes = central_boxes(size, image_size)
    if placement not in range(len(boxes)):
        raise InputError(
            f"placement is {placement!r}: a {size} x {size} mask on {image_size} pixels has {len(boxes)}, "
            f"so give 0 to {len(boxes) - 1}"
        )
    mask = np.zeros((image_size, image_size), dtype=np.bool_)
    mask[boxes[placement].rows, boxes[placement].columns] = True
    return mask


def mask_images(
    images: NDArray[Floating],
    region: int | Box | NDArray[np.bool_],
    fill: float | Literal["grey", "mean"] = 0.0,
) -> NDArray[Floating]:
    """Return a copy of the images with a region filled in.

    Parameters
    ----------
    images : floating-point array [n, channel, y, x]
        Images in [0, 1].
    region : int, Box or array of bool [y, x]
        A central square by its side in pixels (only where it is exactly central), a box, or a mask.
    fill : float, "grey" or "mean"
        The value put there: a number (the public script: 0), "grey" for 0.5, or "mean" for the mean of each whole
        image and channel.

    Returns
    -------
    array [n, channel, y, x]
        The masked copy, in the images' own dtype.

    Raises
    ------
    InputError
        For integer images, a region outside the image, an odd square on an even image, or a fill that is no number.

    Notes
    -----
    It misleads when a fill of 0 is called "missing": black is a stimulus too, with edges of its own.

    References
    ----------
    Tomen, Pintea & van Gemert, Deep Continuous Networks, ICML 2021, figures 3c and 4.

    Examples
    --------
    >>> images = np.ones((1, 3, 32, 32), dtype=np.float32)
    >>> float(mask_images(images, 14).sum()) == 3 * (32 * 32 - 14 * 14)
    True
    """
    values = np.asarray(images)
    if values.ndim != 4 or not np.issubdtype(values.dtype, np.floating):
        raise InputError(
            f"images is {values.dtype} of shape {values.shape}: give floating point [n, channel, y, x] in [0, 1] "
            "(divide 8-bit values by 255)"
        )
    mask = _as_mask(region, (values.shape[2], values.shape[3]))
    masked = values.copy()
    if isinstance(fill, str):
        if fill not in ("grey", "mean"):
            raise InputError(f'fill is {fill!r}: give a number, "grey" (0.5) or "mean" (of each image and channel)')
        masked[:, :, mask] = 0.5 if fill == "grey" else values.mean(axis=(2, 3))[:, :, None]
        return masked
    if not np.isfinite(fill):
        raise InputError(f'fill is {fill!r}: give a finite number, "grey" or "mean"')
    masked[:, :, mask] = fill
    return masked


def _as_mask(region: int | Box | NDArray[np.bool_], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Turn any description of a region into True on its pixels."""
    if isinstance(region, np.ndarray) and region.ndim:
        if region.dtype != np.bool_ or region.shape != shape:
            raise InputError(
                f"region is a {region.dtype} array of shape {region.shape}: give booleans of the images' shape {shape}"
            )
        return region
    if not isinstance(region, Box):
        if shape[0] != shape[1]:
            raise InputError(f"region is {region!r} on images of {shape[0]} x {shape[1]} pixels: give a Box")
        boxes = central_boxes(region, shape[0])  # type: ignore[arg-type]
        if len(boxes) > 1:
            raise InputError(
                f"region is {region}, which has no exact centre on {shape[0]} pixels: "
                f"give an even number, or one of central_boxes({region})"
            )
        region = boxes[0]
    if not all(isinstance(value, int | np.integer) for value in region):
        raise InputError(f"region is {region}: give whole numbers of pixels")
    inside = region.top >= 0 and region.left >= 0 and region.height >= 0 and region.width >= 0
    if not inside or region.top + region.height > shape[0] or region.left + region.width > shape[1]:
        raise InputError(f"region is {region}, which does not lie within the images' {shape[0]} x {shape[1]} pixels")
    mask = np.zeros(shape, dtype=np.bool_)
    mask[region.rows, region.columns] = True
    return mask
