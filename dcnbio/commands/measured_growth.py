"""Measures how the local receptive fields of a network grow with solver time in every block."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.model.network import Network

__all__ = ["growth_of", "record_fields_in_time"]

TIMES = (0.0, 0.5, 1.0)  # over T


def record_fields_in_time(
    net: Network, seed: int = 0, *, channels: int = 5, progress: bool = False
) -> dict[int, xr.Dataset]:
    """Record local fields of a few units of every block at the beginning, the middle and the end.

    Parameters
    ----------
    net : Network
    seed : int
        Of the noise image about which gradients are taken.
    channels : int
        Units of each block, spread evenly over its channels.
    progress : bool

    Returns
    -------
    dict of int to xarray.Dataset
        See `dcnbio.probe.responses.record_fields`; by block.
    """
    import numpy as np

    from dcnbio.images import white_noise
    from dcnbio.probe.responses.fields import FieldSettings, record_fields

    image = white_noise(1, np.random.default_rng(seed))
    fields = {}
    for block in range(1, len(net.blocks) + 1):
        width = net.spec.widths[block - 1]
        chosen = tuple(int(i) for i in np.unique(np.linspace(0, width - 1, channels).round()))
        bar = f"fields of block {block}" if progress else ""
        settings = FieldSettings(block, TIMES, chosen, whole=False, progress=bar)
        fields[block] = record_fields(net, image, settings)
    return fields


def growth_of(net: Network, fields: dict[int, xr.Dataset]) -> xr.Dataset | None:
    """Measure the growth of recorded fields; None for a network without scales.

    Parameters
    ----------
    net : Network
    fields : dict of int to xarray.Dataset
        From `record_fields_in_time`.
    """
    from dcnbio.analysis.responses.field_growth import field_growth
    from dcnbio.model.scales import layer_scales
    from dcnbio.probe.responses.unit_position import unit_position

    found = {scale.layer: float((scale.effective**2).mean().sqrt()) for scale in layer_scales(net)}
    scales = {b: [sigma for layer, sigma in found.items() if layer.startswith(f"blocks.{b - 1}.")] for b in fields}
    if not all(scales.values()):
        return None
    return field_growth(fields, scales, {block: unit_position(net, block).spacing for block in fields})
