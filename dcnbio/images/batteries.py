"""Batteries of stimuli: every combination of parameters, drawn and labelled."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images.canvas import Canvas, Stimulus, render
from dcnbio.images.labelled_stimuli import label_stimuli
from dcnbio.images.number_checks import number

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["battery"]

LARGEST = 2**32  # bytes of float32


def battery(
    stimulus: Stimulus, crossed: Mapping[str, Sequence[float] | NDArray[np.floating[Any]]], canvas: Canvas | None = None
) -> xr.Dataset:
    """Draw a stimulus at every combination of some of its parameters.

    Parameters
    ----------
    stimulus : Grating, Spot, Annulus, Plaid, CentreSurround or Blank
        Gives the parameters that are not crossed.
    crossed : mapping of str to sequence of float
        Parameters by name with their values; all combinations are drawn, the last parameter varying fastest. Empty: the
        stimulus alone.
    canvas : Canvas, optional
        Size and luminance of the grey; 32 x 32 at 0.5 if left out.

    Returns
    -------
    xarray.Dataset
        As from `load_images`, for `dcnbio.probe` to take as it is: `image` (stimulus, channel, y, x) float32 in [0, 1],
        `label` (stimulus) all -1, `file` (stimulus) a readable name. Every parameter, crossed or not, is a coordinate
        along `stimulus` with its unit, and so is `flag`: why a stimulus has to be read with care, or an empty string.
        Attributes: as from `load_images`, and `crossed`, JSON of {parameter: how many values} in order.

    Raises
    ------
    InputError
        When the stimulus has no such parameter, a value is not one of those allowed (a spatial frequency above 0.5
        cycles/pixel, a contrast that leaves [0, 1]), values repeat, or the battery would take more than 4 GiB.

    Notes
    -----
    It misleads when stimuli count as samples: they are a grid that was chosen, and n is the number of units or seeds.
    Frequencies below 1/30 cycles/pixel are flagged, for 32 pixels hold less than one cycle, and so is 0.5, where
    contrast depends on phase. What blocks 2 and 3 see after their strides ends at 0.25 and 0.125 cycles/pixel: a peak
    at or above is an alias or censored. Responses are measured against the grey: probe `battery(Blank(), {})` with it.

    Examples
    --------
    >>> from dcnbio.images import Grating
    >>> data = battery(Grating(contrast=0.9), {"orientation": [0, 45, 90, 135], "phase": [0, 90]})
    >>> dict(data.sizes), data.orientation.values[:3], str(data.file.values[1])
    ({'stimulus': 8, 'channel': 3, 'y': 32, 'x': 32}, array([ 0.,  0., 45.]), 'grating orientation=0 phase=90')
    >>> grid = data.set_index(stimulus=["orientation", "phase"]).unstack("stimulus")
    >>> grid.image.sel(orientation=45, phase=90).shape
    (3, 32, 32)
    """
    canvas = canvas or Canvas()
    values = {name: _values(stimulus, name, given) for name, given in crossed.items()}
    n = math.prod(len(column) for column in values.values())
    size = n * 3 * canvas.height * canvas.width * 4
    if size > LARGEST:
        raise InputError(
            f"crossed makes {n:,} stimuli, {size / 2**30:.1f} GiB, more than {LARGEST >> 30}: give fewer values, or "
            "several batteries"
        )
    kind = type(stimulus).__name__
    images = np.empty((n, 3, canvas.height, canvas.width), dtype=np.float32)
    rows, files = [], []
    for i, combination in enumerate(itertools.product(*values.values())):
        chosen = dict(zip(values, combination, strict=True))
        drawn = dataclasses.replace(stimulus, **chosen)
        images[i] = render(drawn, canvas)
        rows.append(_parameters(drawn, canvas))
        files.append(" ".join([kind.lower(), *(f"{name}={value:g}" for name, value in chosen.items())]))
    parameters = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    names = " x ".join(f"{name} ({len(column)})" for name, column in values.items())
    data = label_stimuli(images, parameters, files, f"battery of {kind}: {names or 'one stimulus'}")
    data.attrs["crossed"] = json.dumps({name: len(column) for name, column in values.items()})
    return data


def _values(stimulus: Stimulus, name: str, given: Sequence[float] | NDArray[np.floating[Any]]) -> list[float]:
    """Check the values of one crossed parameter."""
    known = [field.name for field in dataclasses.fields(stimulus)]
    kind = type(stimulus).__name__
    if name not in known:
        raise InputError(f"crossed has {name!r}, which {kind} has not: give some of {', '.join(known) or 'nothing'}")
    column = np.asarray(given)
    if column.ndim != 1 or not len(column):
        raise InputError(f"crossed has {name!r} of shape {column.shape}: give a sequence of at least one value")
    values: list[float] = column.tolist()
    for value in values:
        if value != math.inf:
            number(name, value)
    if len(set(values)) < len(values):
        raise InputError(f"crossed has {name!r} with repeated values, {values}: give each once")
    return [float(value) for value in values]


def _parameters(stimulus: Stimulus, canvas: Canvas) -> dict[str, float]:
    """Every parameter of a stimulus as it was drawn, the grey included."""
    values = {field.name: getattr(stimulus, field.name) for field in dataclasses.fields(stimulus)}
    for name, middle in zip(("centre_y", "centre_x"), canvas.centre, strict=True):
        if name in values and values[name] is None:
            values[name] = middle
    return {name: float(value) for name, value in values.items()} | {"luminance": canvas.luminance}
