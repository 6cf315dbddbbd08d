"""Measures how the local receptive fields of a network grow with solver time in every block."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.model.network import Network

__all__ = ["record_growth"]


def record_growth(net: Network, seed: int = 0, *, channels: int = 5, progress: bool = False) -> xr.Dataset | None:
    """Measure local fields of a few units against solver time in every block; None for a network without scales.

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
    xarray.Dataset or None
        See `dcnbio.analysis.responses.field_growth.field_growth`.
    """
    import numpy as np

    from dcnbio.analysis.responses.field_growth import field_growth
    from dcnbio.images import white_noise
    from dcnbio.model.scales import layer_scales
    from dcnbio.probe.responses.fields import FieldSettings, record_fields
    from dcnbio.probe.responses.unit_position import unit_position

    found = {scale.layer: float((scale.effective**2).mean().sqrt()) for scale in layer_scales(net)}
    blocks = range(1, len(net.blocks) + 1)
    scales = {b: [sigma for layer, sigma in found.items() if layer.startswith(f"blocks.{b - 1}.")] for b in blocks}
    if not all(scales.values()):
        return None
    image = white_noise(1, np.random.default_rng(seed))
    fields = {}
    for block in blocks:
        width = net.spec.widths[block - 1]
        chosen = tuple(int(i) for i in np.unique(np.linspace(0, width - 1, channels).round()))
        bar = f"fields of block {block}" if progress else ""
        settings = FieldSettings(block, (0.0, 0.5, 1.0), chosen, whole=False, progress=bar)
        fields[block] = record_fields(net, image, settings)
    return field_growth(fields, scales, {block: unit_position(net, block).spacing for block in blocks})
