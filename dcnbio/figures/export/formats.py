"""A figure as the bytes of a file: the same bytes for the same figure, whenever they are made."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from dcnbio.errors import InputError

__all__ = ["FORMATS", "check_formats", "file_names", "rendered"]

FORMATS = ("pdf", "svg", "eps", "tiff", "png")
PIXELS = ("tiff", "png")


def check_formats(names: Sequence[str]) -> tuple[str, ...]:
    """Refuse a format that is unknown or named twice.

    Examples
    --------
    >>> check_formats(["pdf", "jpg"])
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: formats (--formats) names 'jpg'; known are pdf, svg, eps, tiff, png.
    """
    for name in names:
        if name not in FORMATS:
            raise InputError(f"formats (--formats) names {name!r}; known are {', '.join(FORMATS)}.")
    if not names or len(set(names)) < len(names):
        raise InputError(f"formats (--formats) is {', '.join(names)!r}; name at least one format, each once.")
    return tuple(names)


def file_names(name: str, formats: Sequence[str], dpi: Sequence[int]) -> dict[str, tuple[str, int]]:
    """Name a figure's files: one per format, and per resolution where it is made of pixels.

    Examples
    --------
    >>> file_names("filters", ["pdf", "png"], [300, 600])
    {'filters.pdf': ('pdf', 0), 'filters_300dpi.png': ('png', 300), 'filters_600dpi.png': ('png', 600)}
    """
    found: dict[str, tuple[str, int]] = {}
    for form in formats:
        if form in PIXELS:
            found |= {f"{name}_{value}dpi.{form}": (form, value) for value in dpi}
        else:
            found[f"{name}.{form}"] = (form, 0)
    return found


def rendered(figure: Figure, form: str, dpi: int, title: str) -> bytes:
    """Render a figure, on the page it was drawn for.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    form : str
        One of `FORMATS`.
    dpi : int
        Pixels per inch, where the file is made of pixels.
    title : str
        Kept in files that can hold one.

    Returns
    -------
    bytes

    Notes
    -----
    No file holds a date. TIFF is RGB without transparency, LZW-compressed.
    """
    if form == "pdf":
        return saved(figure, "pdf", metadata={"Title": title, "CreationDate": None})
    if form == "svg":
        return saved(figure, "svg", metadata={"Title": title, "Date": None})
    if form == "eps":
        # its date cannot be left out otherwise
        return re.sub(rb"%%CreationDate:[^\n]*\n", b"", saved(figure, "eps", metadata={"Title": title}))
    picture = saved(figure, "png", dpi=dpi, metadata={"Software": None})
    if form == "png":
        return picture
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        image.convert("RGB").save(buffer, format="TIFF", compression="tiff_lzw", dpi=(dpi, dpi))
    return buffer.getvalue()


def saved(figure: Figure, form: str, **options: Any) -> bytes:
    """Save a figure into memory."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, **options)
    return buffer.getvalue()
