"""``tree.dcn``: what one does with every block of a recording, and its figures, at the tree itself."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dcnbio.errors import InputError
from dcnbio.recording.nfe_range import nfe_range
from dcnbio.recording.reductions.norm import norm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FigureDrawer", "RecordingAccessor"]


class FigureDrawer:
    """Draws figures of a recording: ``tree.dcn.plot("feature_maps")`` or ``tree.dcn.plot.feature_maps()``.

    Parameters
    ----------
    tree : xarray.DataTree
    """

    def __init__(self, tree: xr.DataTree) -> None:
        self._tree = tree

    def __call__(self, name: str = "trajectories", axes: Axes | None = None) -> Figure:
        """Draw a figure by its name; see `dcnbio.figures.figure_kinds`."""
        # matplotlib is imported here and not before
        from dcnbio.figures.catalogue import plot

        return plot(name, self._tree, axes)

    def __getattr__(self, name: str) -> Callable[..., Figure]:
        """Give the drawing of a figure of that name."""
        if name not in self.__dir__():
            raise AttributeError(f"a recording has no figure {name!r}; it has {', '.join(self.__dir__())}")
        return lambda axes=None: self(name, axes)

    def __dir__(self) -> list[str]:
        """List the figures that can be made of a recording."""
        from dcnbio.figures.catalogue import kinds_of

        return [kind.name for kind in kinds_of("recording")]


@xr.register_datatree_accessor("dcn")  # type: ignore[no-untyped-call, unused-ignore]
class RecordingAccessor:
    """Verbs for a recording, block by block.

    Parameters
    ----------
    tree : xarray.DataTree
        From `dcnbio.probe` or `dcnbio.open`.

    Examples
    --------
    >>> import dcnbio
    >>> tree = dcnbio.probe(dcnbio.load("dcn-ode"), dcnbio.load_images(limit=10), times=3, blocks=[3])
    >>> tree.dcn
    recording of 10 images: block3
    >>> tree.dcn.blocks, tree.dcn.at(1.0)["block3"]["h"].sizes["time"]
    (['block3'], 1)
    >>> tree.dcn.norm()["block3"].dims
    ('stimulus', 'time')
    """

    def __init__(self, tree: xr.DataTree) -> None:
        self._tree = tree

    def __repr__(self) -> str:
        """Say what was recorded, in one line."""
        return f"recording of {self._tree.sizes.get('stimulus', 0)} images: {', '.join(self.blocks) or 'no blocks'}"

    @property
    def blocks(self) -> list[str]:
        """Names of the recorded blocks."""
        return [name for name, node in self._tree.children.items() if "nfe" in node]

    @property
    def provenance(self) -> dict[str, Any]:
        """Where the numbers come from: weights, spec, images, solver, versions, command."""
        return dict(json.loads(self._tree.attrs.get("provenance", "{}")))

    @property
    def plot(self) -> FigureDrawer:
        """Figures of this recording."""
        return FigureDrawer(self._tree)

    def block(self, number: int) -> xr.Dataset:
        """Give one block.

        Raises
        ------
        InputError
            If it was not recorded.
        """
        name = f"block{number}"
        if name not in self.blocks:
            raise InputError(f"block is {number}; this recording has {', '.join(self.blocks) or 'no blocks'}.")
        return self._tree[name].to_dataset()

    def map(self, function: Callable[[xr.Dataset], xr.Dataset]) -> xr.DataTree:
        """Apply a function to every block; the root stays.

        Parameters
        ----------
        function : callable
            From a block's Dataset to a Dataset.
        """
        nodes = {"/": self._tree.to_dataset(inherit=False)}
        for name in self.blocks:
            nodes[f"/{name}"] = function(self._tree.children[name].to_dataset(inherit=False))
        return xr.DataTree.from_dict(nodes)

    def at(self, time: float) -> xr.DataTree:
        """Keep the recorded time nearest to `time` in every block.

        Raises
        ------
        InputError
            If no block was recorded at common times, or `time` lies outside a block's.
        """
        for name in self.blocks:
            data = self._tree[name].to_dataset()
            if "time" not in data.coords:
                raise InputError(f"{name} was recorded at each image's own times; use its recorded_time.")
            first, last = float(data["time"][0]), float(data["time"][-1])
            if not first <= time <= last:
                raise InputError(f"time is {time:g}; {name} was recorded from {first:g} to {last:g} (solver time).")
        return self.map(lambda data: data.sel(time=[time], method="nearest"))

    def images(self, *stimuli: int) -> xr.DataTree:
        """Keep some images, by their index in the source.

        Raises
        ------
        InputError
            If one was not recorded.
        """
        known = self._tree.to_dataset()["stimulus"].values
        positions = [int(np.flatnonzero(known == one)[0]) if one in known else -1 for one in stimuli]
        if not stimuli or min(positions) < 0:
            missing = next((one for one, place in zip(stimuli, positions, strict=True) if place < 0), "none")
            raise InputError(f"stimulus {missing} is not in this recording; its images are {shortened(known)}.")
        return self._tree.isel(stimulus=positions)

    def norm(self) -> xr.Dataset:
        """Give the Euclidean norm of the recorded maps of every image over time, a variable per block.

        Raises
        ------
        InputError
            If no maps were recorded.
        """
        found = {}
        for name in self.blocks:
            data = self._tree[name].to_dataset()
            if "h" not in data:
                continue
            h = data["h"].transpose("stimulus", "time", "channel", "y", "x")
            values = np.stack([norm(h.isel(time=i).values) for i in range(h.sizes["time"])], axis=1)
            # blocks have times of their own, which are one dimension only where they agree
            coordinates = {key: data[key] for key in ("stimulus", "time") if key in data.coords}
            found[name] = xr.DataArray(values, coordinates, ("stimulus", "time"))
            found[name].attrs = {"long_name": "Euclidean norm of h", "units": "1"}
        if not found:
            raise InputError("this recording holds no maps h; record some with dcnbio probe, without --no-maps.")
        return xr.Dataset(found)

    def _repr_html_(self) -> str:
        """Show blocks, network and images in a notebook."""
        about = self.provenance
        rows = [block_row(name, self._tree[name].to_dataset()) for name in self.blocks]
        network = about.get("spec", {}).get("row", "unknown network")
        n = self._tree.sizes.get("stimulus", 0)
        head = f"<b>Recording</b> of {html.escape(str(network))}, {n} images, dcnbio {about.get('dcnbio_version', '')}"
        unit = {self._tree[name].attrs.get("nfe_per", "image") for name in self.blocks}
        nfe = f"NFE per {'/'.join(sorted(unit))}" if unit else "NFE"
        header = table_row("th", ["block", "channels \u00d7 rows \u00d7 columns", "times", "t (solver time)", nfe])
        return f"<div>{head}<table>{header}{''.join(table_row('td', row) for row in rows)}</table></div>"


def table_row(kind: str, texts: list[str]) -> str:
    """Write a row of an HTML table; colours are the page's own."""
    cell = f'<{kind} style="padding: 0.1em 1.2em 0.1em 0; text-align: left">'
    return f"<tr>{''.join(f'{cell}{html.escape(text)}</{kind}>' for text in texts)}</tr>"


def shortened(values: Any) -> str:
    """List a few values."""
    shown = ", ".join(str(value) for value in values[:5])
    return shown if len(values) <= 5 else f"{shown}, ... ({len(values)} in all)"


def block_row(name: str, data: xr.Dataset) -> list[str]:
    """Describe a block: shape of h, times, and evaluations."""
    shape = " \u00d7 ".join(str(data.sizes[dim]) for dim in ("channel", "y", "x")) if "h" in data else "none stored"
    if "time" in data.coords:
        times, span = str(data.sizes["time"]), f"{float(data['time'][0]):g} to {float(data['time'][-1]):g}"
    else:
        times, span = "-", "accepted steps"
    nfe = nfe_range(data)
    return [name, shape, times, span, "-" if nfe is None else f"{nfe[0]} to {nfe[1]}"]
