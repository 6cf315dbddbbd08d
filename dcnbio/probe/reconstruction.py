"""Table 3's loss: how well a decoder gives back images from a network's maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
import xarray as xr

from dcnbio.errors import InputError
from dcnbio.model.decoder import Decoder, centre, encode, rescaled
from dcnbio.model.device import double
from dcnbio.model.encoder_match import refuse_other_encoder
from dcnbio.model.network import Network
from dcnbio.probe.precision import held_still
from dcnbio.probe.stimuli import Stimuli, as_stimuli

__all__ = ["reconstruction_loss"]

ABOUT = {
    "mse": ("mean square error of the reconstruction, RGB in [0, 1]", "1"),
    "variance": ("mean square difference from the image's own mean colour: the error of knowing that alone", "1"),
    "rescaled_mse": ("mean square error of the reconstruction rescaled by its batch's extremes", "1"),
}


def refuse_other_maps(net: Network, decoder: Decoder) -> None:
    """Refuse a decoder that takes maps of other widths than the network gives."""
    if decoder.spec.widths[-2:] != net.spec.widths[-2:]:
        raise InputError(
            f"the decoder takes maps of widths {decoder.spec.widths[-2:]}, the network gives {net.spec.widths[-2:]}; "
            "give the encoder it was trained on."
        )


def refuse_problems(stimuli: Stimuli) -> None:
    """Refuse images of which one is no numbers."""
    if any(stimuli.problems):
        where = next(i for i, why in enumerate(stimuli.problems) if why)
        raise InputError(f"image {where} of the images has {stimuli.problems[where]}; leave it out.")


def errors_of(
    net: Network, decoder: Decoder, batches: Sequence[torch.Tensor]
) -> dict[str, tuple[str, npt.NDArray[np.float64]]]:
    """Give the errors of every image, and of every batch, with their dimension."""
    errors, variances, whole = [], [], []
    with held_still(net), torch.no_grad():
        for batch in batches:
            made, wanted = decoder(encode(net, batch)), centre(batch)
            errors.append((made - wanted).square().flatten(1).mean(1))
            variances.append((wanted - wanted.mean((2, 3), keepdim=True)).square().flatten(1).mean(1))
            whole.append((rescaled(made) - wanted).square().mean())
    return {
        "mse": ("stimulus", double(torch.cat(errors)).cpu().numpy()),
        "variance": ("stimulus", double(torch.cat(variances)).cpu().numpy()),
        "rescaled_mse": ("batch", double(torch.stack(whole)).cpu().numpy()),
    }


def described(found: Mapping[str, tuple[str, npt.NDArray[np.float64]]], stimulus: npt.NDArray[np.int64]) -> xr.Dataset:
    """Give every number its long name and unit."""
    named = {
        name: (dim, values, dict(zip(("long_name", "units"), ABOUT[name], strict=True)))
        for name, (dim, values) in found.items()
    }
    return xr.Dataset(named, {"stimulus": stimulus})


def reconstruction_loss(net: Network, decoder: Decoder, data: xr.Dataset, batch_size: int = 100) -> xr.Dataset:
    """Give the mean square error of reconstructed images on their central 28 x 28 pixels.

    Table 3 prints a percentage that cannot be 100 x MSE (the pixel variance of CIFAR-10 is about 6 on that scale). The
    public script sums the loss of ten batches of the output rescaled by its batch's extremes, so 17.1 is probably
    1000 x `rescaled_mse`; `mse` is that of the output itself.

    Parameters
    ----------
    net : Network
        The encoder.
    decoder : Decoder
        Trained on its maps.
    data : xarray.Dataset
        From `load_images`.
    batch_size : int
        Images that share their steps, and, in `rescaled_mse`, their extremes.

    Returns
    -------
    xarray.Dataset
        ``mse`` and ``variance`` (stimulus), ``rescaled_mse`` (batch).

    Raises
    ------
    InputError
        If the decoder was trained on another encoder, or an image is no numbers.

    Notes
    -----
    `rescaled_mse` depends on which images share a batch, so its n is batches.

    Examples
    --------
    >>> import dcnbio
    >>> from dcnbio.model.decoder import build_decoder
    >>> net = dcnbio.build("dcn-ode", widths=(4, 4, 8), norm_groups=4, integration_time=0.1)
    >>> found = reconstruction_loss(net, build_decoder(net.spec), dcnbio.load_images(limit=3), batch_size=2)
    >>> found.sizes["stimulus"], found.sizes["batch"]
    (3, 2)
    """
    refuse_other_encoder(decoder, net)
    refuse_other_maps(net, decoder)
    if batch_size < 1:
        raise InputError(f"batch_size is {batch_size}; it must be at least 1 (100 is usual).")
    stimuli = as_stimuli(data)
    refuse_problems(stimuli)
    images = torch.from_numpy(stimuli.images).to(next(net.parameters()))
    found = errors_of(net, decoder, torch.split(images, batch_size))
    if not np.isfinite(found["mse"][1]).all():
        raise InputError("a reconstruction is no number: the network or the decoder could not be solved on an image.")
    return described(found, stimuli.stimulus)
