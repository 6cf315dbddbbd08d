"""Draws a figure for the page."""

from __future__ import annotations

import io
from typing import Any

from dcnbio.figures.catalogue import figure_kind
from dcnbio.figures.page import on_page
from dcnbio.report.chapter import Picture

__all__ = ["picture_of"]

SHOWN = 96  # CSS pixels per inch
DENSITY = 2


def picture_of(name: str, result: Any) -> Picture:
    """Draw a result as a figure of the screen's size.

    Parameters
    ----------
    name : str
        One of `dcnbio.figures.figure_kinds`.
    result : xarray.DataTree or other
        What that figure takes.

    Returns
    -------
    Picture

    Raises
    ------
    InputError
        If the result does not hold what the figure shows.

    Examples
    --------
    >>> spec = {"widths": [8], "outer_kernels": "pixel", "depth": "ode", "kernels": "pixel", "classes": 10}
    >>> sketch = {"row": "own", **spec, "integration_time": [2.0], "activation": "celu", "norm_groups": 4}
    >>> picture_of("architecture", sketch).png[1:4]
    b'PNG'
    """
    kind = figure_kind(name)
    file = io.BytesIO()
    with on_page("screen"):
        figure = kind.draw(kind.table(result))
        # no version and no date in the file, so that the same result gives the same page
        figure.savefig(file, format="png", dpi=DENSITY * SHOWN, metadata={"Software": None})
        width = round(SHOWN * float(figure.get_size_inches()[0]))
    return Picture(name, file.getvalue(), width, kind.caption(result))
