"""From the bytes of an image file to RGB values in [0, 1]: every rule about pixels, in one place.

=====================  ==========================================================================  ======
what the file holds    what becomes of it                                                          notice
=====================  ==========================================================================  ======
8-bit RGB              value / 255                                                                 no
8-bit grey, 1 bit      three equal channels, value / 255 (1 bit: 0 or 1)                           no
16-bit grey            three equal channels, value / 65535                                         no
other greys of TIFF    whole numbers of 12 or 32 bits or with a sign, and more than 8 bits whose   refused
                       zero is white: Pillow gives them as they are stored
16-bit colour          Pillow keeps the upper 8 bits; value / 255                                  yes
float grey (TIFF)      three equal channels; values must be finite and within [0, 1]               no
palette                its RGB colours / 255                                                       no
transparency           RGBA, LA, palette or key colour: alpha x colour + (1 - alpha) x 0.5         yes
CMYK                   Pillow's conversion to RGB, which knows no colour profile                   yes
other colour spaces    YCbCr, HSV, Lab: Pillow's conversion to RGB                                 yes
JPEG                   as decoded; the compression was lossy                                       yes
colour profile, gamma  not applied: values as they are stored                                              no
EXIF orientation       applied                                                                     yes
animation, pages       the first frame                                                             yes
32 x 32 pixels         as they are                                                                 no
any other size         refused, or with `resize` cut to the central square, then resized           yes
                       by Pillow's bilinear filter, which averages over what it shrinks, in
                       32-bit floating point
=====================  ==========================================================================  ======

Formats: PNG, JPEG, GIF, BMP, TIFF, WebP, PPM; no others are tried, for some of Pillow's readers start other programs.
"""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcnbio.images.image_set import unit_range
from dcnbio.images.stand_in import stand_in

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["BadImage", "Pixels", "decode_image", "resample"]

SIDE = 32
BACKGROUND = 0.5
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
ORIENTATION = 0x0112
PHOTOMETRIC = 0x0106

ALPHA = f"transparency composited on mid-grey ({BACKGROUND})"
ANIMATED = "more than one frame: the first was taken"
COLOUR_16 = "16 bits per colour channel: Pillow keeps the upper 8"
JPEG = "JPEG compression, which is lossy: pixels are close to, not equal to, the original's"
RESIZED = f"cut to the central square and resized to {SIDE} x {SIDE} (antialiased bilinear)"
ROTATED = "EXIF orientation applied"
FIX_SIZE = "resize them with resize=True (--resize)"
FIX_READ = "replace or remove the files"
FIX_WHOLE = "store them as grey of 8 or 16 bits whose zero is black"
FIX_RANGE = "store RGB / 255, between 0 and 1"


class Pixels(NamedTuple):
    """One usable image [3, 32, 32], uint8 or float32 in [0, 1], and what was done to it."""

    values: NDArray[np.uint8] | NDArray[np.float32]
    notices: tuple[str, ...] = ()


class BadImage(NamedTuple):
    """One image that cannot be used: why, and what usually helps."""

    reason: str
    fix: str = FIX_READ


def decode_image(data: bytes, *, resize: bool = False) -> Pixels | BadImage:
    """Decode one image file after the rules of this module.

    Parameters
    ----------
    data : bytes
        The whole file.
    resize : bool
        Whether another size than 32 x 32 is cut and resized, where it would be refused.

    Returns
    -------
    Pixels or BadImage
        The image and what was done to it, or why it cannot be used.

    Notes
    -----
    It misleads for wide or tall images: `resize` cuts their ends off.

    Examples
    --------
    >>> decode_image(b"no image")
    BadImage(reason='not a readable image', fix='replace or remove the files')
    """
    from PIL import Image, UnidentifiedImageError

    if not data:
        return BadImage("empty file")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                result = _decode(image, resize)
    except UnidentifiedImageError:
        return BadImage(stand_in(data) or "not a readable image")
    except Exception as error:  # Pillow's readers raise a dozen kinds on damaged files; none is a bug of the caller
        return BadImage(f"damaged or unsupported ({str(error) or type(error).__name__})")
    if isinstance(result, BadImage) or not caught:
        return result
    return Pixels(result.values, result.notices + tuple(f"Pillow: {warning.message}" for warning in caught))


def resample(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Resize a square [channel, y, x] to 32 x 32 with an antialiased bilinear filter, channel by channel.

    Examples
    --------
    >>> resample(np.full((3, 64, 64), 0.25, dtype=np.float32)).shape
    (3, 32, 32)
    """
    from PIL import Image

    planes = [
        Image.fromarray(np.ascontiguousarray(plane)).resize((SIDE, SIDE), Image.Resampling.BILINEAR) for plane in values
    ]
    return np.stack([np.asarray(plane, dtype=np.float32) for plane in planes]).clip(0, 1)


def out_of_range(low: float, high: float) -> str:
    """Say what values outside [0, 1] look like."""
    found = f"values from {low:.3g} to {high:.3g}"
    if low < 0:
        return f"{found}: looks mean/sd normalised, and DCNs take RGB / 255"
    if 1 < high <= 255:
        return f"{found}: looks like 0 to 255, and DCNs take RGB / 255"
    return f"{found}, which is outside 0 to 1"


def _decode(image: Image.Image, resize: bool) -> Pixels | BadImage:
    from PIL import ImageOps

    notices = []
    if image.format in ("JPEG", "MPO"):  # MPO: a JPEG with further pictures, opened by the same reader
        notices.append(JPEG)
    if getattr(image, "n_frames", 1) > 1:
        notices.append(ANIMATED)
    fits = image.size == (SIDE, SIDE)
    if not fits and not resize:
        return BadImage(f"{image.width} x {image.height} pixels, not {SIDE} x {SIDE}", FIX_SIZE)
    unclear = _unclear_white(image)
    if unclear:
        return BadImage(unclear, FIX_WHOLE)
    if _is_16_bit_colour(image):
        notices.append(COLOUR_16)
    if image.getexif().get(ORIENTATION, 1) != 1:
        image = ImageOps.exif_transpose(image)
        notices.append(ROTATED)
    if not fits:
        image = _central_square(image)
        notices.append(RESIZED)
    found = _rgb(image)
    if isinstance(found, BadImage):
        return found
    values = found.values
    if not fits:
        values = resample(unit_range(values))
    return Pixels(values, (*found.notices, *notices))


def _rgb(image: Image.Image) -> Pixels | BadImage:
    """Return [3, y, x]: uint8 where 8 bits hold the values exactly, else float32 in [0, 1]."""
    if image.mode.startswith("I"):
        if "transparency" in image.info:
            return BadImage("16-bit grey with a transparent colour", "save them without transparency")
        return _grey(np.asarray(image).astype(np.float64) / 65535)
    if image.mode == "F":
        return _grey(np.asarray(image, dtype=np.float64))
    if image.has_transparency_data:
        return Pixels(_composite(np.asarray(image.convert("RGBA"))), (ALPHA,))
    plain = image.mode in ("1", "L", "P", "RGB")
    notices = () if plain else (f"{image.mode} converted to RGB by Pillow, without a colour profile",)
    return Pixels(np.asarray(image.convert("RGB")).transpose(2, 0, 1), notices)


def _grey(values: NDArray[np.float64]) -> Pixels | BadImage:
    if not np.isfinite(values).all():
        return BadImage("non-finite pixel values", FIX_RANGE)
    low, high = float(values.min()), float(values.max())
    if low < 0 or high > 1:
        return BadImage(out_of_range(low, high), FIX_RANGE)
    return Pixels(np.repeat(values.astype(np.float32)[None], 3, axis=0))


def _composite(rgba: NDArray[np.uint8]) -> NDArray[np.float32]:
    values = rgba.transpose(2, 0, 1) / np.float32(255)
    alpha = values[3]
    result: NDArray[np.float32] = (alpha * values[:3] + (1 - alpha) * BACKGROUND).astype(np.float32)
    return result


def _central_square(image: Image.Image) -> Image.Image:
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    return image.crop((left, top, left + side, top + side))


def _unclear_white(image: Image.Image) -> str:
    """Say why the greys of a TIFF, as Pillow gives them, are not those that its values stand for; empty where they are.

    A black image that passes for one of 16 bits would be the outcome.
    """
    tags = getattr(image, "tag_v2", {})
    if image.mode == "I" and tags:
        return "whole numbers of 32 bits or with a sign, of which nothing says what is white"
    if any("I;12" in str(tile[3]) for tile in getattr(image, "tile", [])):
        return "grey of 12 bits, which is given as if it were of 16"
    if image.mode.startswith(("I", "F")) and tags.get(PHOTOMETRIC) == 0:
        return "grey of more than 8 bits whose zero is white"
    return ""


def _is_16_bit_colour(image: Image.Image) -> bool:
    """Whether Pillow will cut 16-bit colour to 8: seen only in what its decoder is told to unpack."""
    tiles: list[Any] = getattr(image, "tile", [])
    return not image.mode.startswith("I") and any(";16" in str(tile[3]) for tile in tiles)
