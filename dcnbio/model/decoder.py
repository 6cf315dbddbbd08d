"""The reconstruction decoder: from the maps after block 3 back to an image."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from dcnbio.errors import CheckpointError, InputError
from dcnbio.images.number_checks import count
from dcnbio.model.full_precision import full_precision
from dcnbio.model.initial import initialise
from dcnbio.model.layers import ACTIVATIONS, group_norm, ode_block
from dcnbio.model.network import Network
from dcnbio.model.ode_block import ODEBlock
from dcnbio.model.pickled_weights import read_pickled_weights
from dcnbio.model.pixel_conv import pixel_conv
from dcnbio.model.public_names import decoder_names
from dcnbio.model.solution import Solution
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.spec import NetworkSpec
from dcnbio.model.uncompiled import uncompiled
from dcnbio.model.unsolved import refuse_unsolved
from dcnbio.model.weights import refuse_non_finite

__all__ = ["Decoder", "build_decoder", "encode", "load_decoder", "rescaled"]

CROP = 28  # pixels a side of the reconstructed centre


class Decoder(nn.Module):
    """Bilinear x 2, ODE block, bilinear x 2, 1 x 1 convolution, ODE block, norm, activation, 1 x 1 convolution.

    Parameters
    ----------
    spec : NetworkSpec
        Of the encoder: kernels, activation and norm groups of the two blocks follow it.

    Attributes
    ----------
    source : dict
        Where it comes from; `encoder_weights` is the hash of the weights of the network that it was trained on.

    Raises
    ------
    InputError
        If the encoder has one block; on a call, if the maps are not those after its last block.
    SolverError
        On a call, if a block could not be solved.

    Notes
    -----
    The output is RGB without a sigmoid; nothing in it depends on the batch. The public code rescales it by the batch's
    smallest and largest value, see `rescaled`.
    """

    def __init__(self, spec: NetworkSpec) -> None:
        super().__init__()
        self.spec = spec
        self.source: dict[str, Any] = {}
        self.solver = SolverSettings()
        self.activation = ACTIVATIONS[spec.activation]
        if len(spec.widths) < 2:
            raise InputError(
                f"the encoder {spec.row} has {len(spec.widths)} block; a decoder goes back over the last two, so take "
                "an encoder of two blocks or more."
            )
        narrow, wide = spec.widths[-2], spec.widths[-1]
        time = spec.integration_time
        self.blocks = nn.ModuleList([ode_block(spec, wide, time[-1]), ode_block(spec, narrow, time[-2])])
        self.narrow = pixel_conv(wide, narrow, 1)
        self.norm = group_norm(spec, narrow)
        self.colour = pixel_conv(narrow, 3, 1)

    @uncompiled
    def run(self, maps: Tensor) -> tuple[Tensor, tuple[Solution, Solution]]:
        """Give the image, shape (n, 3, 28, 28), and what both blocks did."""
        wanted = self.spec.widths[-1]
        if maps.ndim != 4 or maps.shape[1] != wanted:
            raise InputError(
                f"maps have shape {tuple(maps.shape)}; this decoder takes those after the last block of its encoder, "
                f"(n, {wanted}, y, x), from dcnbio.model.decoder.encode for instance."
            )
        first, second = (cast("ODEBlock", block) for block in self.blocks)
        with full_precision(maps):
            wide = first.run(enlarged(maps), self.solver)
            narrow = second.run(self.narrow(enlarged(wide.final)), self.solver)
            image: Tensor = self.colour(self.activation(self.norm(narrow.final)))
        return image, (wide, narrow)

    @uncompiled
    def forward(self, maps: Tensor) -> Tensor:
        """Give the reconstruction, shape (n, 3, 28, 28), of maps after block 3, shape (n, 128, 7, 7).

        Raises
        ------
        SolverError
            If a block could not be solved; the message names block, time and cause.
        """
        image, solutions = self.run(maps)
        for number, solution in enumerate(solutions, 1):
            refuse_unsolved(solution, f"the decoder's block {number}", maps)
        return image


def enlarged(maps: Tensor) -> Tensor:
    """Double the size of maps, bilinearly."""
    return nn.functional.interpolate(maps, scale_factor=2, mode="bilinear", align_corners=False)


def rescaled(image: Tensor) -> Tensor:
    """Rescale to [0, 1] by the smallest and largest value of the whole batch, as the public code does.

    An image's result then depends on its batch mates.

    Parameters
    ----------
    image : Tensor, shape (n, 3, y, x)
        What a decoder gives.

    Returns
    -------
    Tensor, shape (n, 3, y, x)
        NaN where all values are equal.

    Examples
    --------
    >>> rescaled(torch.tensor([1.0, 2.0, 3.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    least, most = image.min(), image.max()
    return (image - least) / (most - least)


def centre(images: Tensor, size: int = CROP) -> Tensor:
    """Cut out the central square that is reconstructed."""
    top, left = (images.shape[-2] - size) // 2, (images.shape[-1] - size) // 2
    return images[..., top : top + size, left : left + size]


def encode(net: Network, images: Tensor) -> Tensor:
    """Give the maps after the last block, shape (n, 128, 7, 7).

    Parameters
    ----------
    net : Network
        The encoder.
    images : Tensor, shape (n, 3, 32, 32)
        RGB in [0, 1].

    Returns
    -------
    Tensor, shape (n, c, y, x)
        h(T) of the last block: (n, 128, 7, 7) in a network of standard widths.
    """
    return net.run(images).blocks[-1].final


def build_decoder(spec: NetworkSpec, seed: int = 0) -> Decoder:
    """Build an untrained decoder for an encoder of this spec.

    Parameters
    ----------
    spec : NetworkSpec
        Of the encoder.
    seed : int
        Of the generator that draws the initial values.

    Returns
    -------
    Decoder

    Raises
    ------
    InputError
        If the seed is below 0.

    Examples
    --------
    >>> from dcnbio.model.rows import row_spec
    >>> decoder = build_decoder(row_spec("dcn-ode", widths=(4, 8, 16), norm_groups=4, integration_time=0.1))
    >>> tuple(decoder(torch.zeros(1, 16, 7, 7)).shape)
    (1, 3, 28, 28)
    """
    count("seed", seed, 0)
    decoder = Decoder(spec)
    initialise(decoder, torch.Generator().manual_seed(seed))
    return decoder


def load_decoder(path: str | Path, spec: NetworkSpec) -> Decoder:
    """Load a decoder saved by the public code.

    Parameters
    ----------
    path : str or Path
        A .pth; no code in it is run.
    spec : NetworkSpec
        Of the encoder.

    Returns
    -------
    Decoder

    Raises
    ------
    CheckpointError
        If the file cannot be read, holds other names or shapes, or non-finite weights.
    """
    weights = read_pickled_weights(Path(path))
    names = decoder_names(spec)
    if set(names) != set(weights.state):
        odd = sorted(set(names) ^ set(weights.state))[0]
        raise CheckpointError(f"{path} is no decoder for {spec.row}: {odd} is missing or unexpected.")
    refuse_non_finite(weights.state, path)
    decoder = Decoder(spec)
    decoder.load_state_dict({names[name]: value for name, value in weights.state.items()})
    return decoder
