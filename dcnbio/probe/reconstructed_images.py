"""Reconstructs images from the maps after the last block, with a trained decoder (figure A4, table 3)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
import xarray as xr
from tqdm.std import tqdm

from dcnbio.errors import InputError, SolverError
from dcnbio.model.decoder import Decoder, centre, encode
from dcnbio.model.encoder_match import refuse_other_encoder
from dcnbio.model.network import Network
from dcnbio.model.weights import weights_id
from dcnbio.probe.stimuli import Stimuli, as_stimuli
from dcnbio.recording.provenance import gather_provenance, provenance_json

__all__ = ["reconstruct"]

DIMS = ("stimulus", "channel", "y", "x")


def refuse_other_widths(net: Network, decoder: Decoder) -> None:
    """Refuse a decoder whose maps are not the network's."""
    if decoder.spec.widths != net.spec.widths:
        raise InputError(
            f"decoder is of a network with widths {decoder.spec.widths}, but net has {net.spec.widths}; give the "
            "decoder that was trained on this network."
        )


@torch.no_grad()
def there_and_back(
    net: Network, decoder: Decoder, stimuli: Stimuli, batch_size: int, progress: bool
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Give the central square of every image, and what the decoder makes of it; an image without numbers is refused."""
    weight = next(net.parameters())
    images, backs = [], []
    with tqdm(total=len(stimuli), unit=" images", desc="reconstruct", disable=not progress, leave=False) as bar:
        for start in range(0, len(stimuli), batch_size):
            batch = torch.from_numpy(stimuli.images[start : start + batch_size]).to(weight)
            images.append(centre(batch).cpu().numpy())
            backs.append(decoder.run(encode(net, batch))[0].cpu().numpy())
            bar.update(len(batch))
    back = np.concatenate(backs)
    if not np.isfinite(back).all():
        bad = int(stimuli.stimulus[~np.isfinite(back).all((1, 2, 3))][0])
        raise SolverError(f"image {bad} could not be reconstructed: a block was not solved; check images and weights.")
    return np.concatenate(images), back


def reconstruct(
    net: Network, decoder: Decoder, data: xr.Dataset, *, batch_size: int = 50, progress: bool = False
) -> xr.DataTree:
    """Pass images through a network and back through a decoder.

    Parameters
    ----------
    net : Network
        The encoder, which the decoder was trained on.
    decoder : Decoder
    data : xarray.Dataset
        From `dcnbio.load_images`.
    batch_size : int
        Images that step together.
    progress : bool
        Show a progress bar.

    Returns
    -------
    xarray.DataTree
        ``image`` and ``reconstruction`` (stimulus, channel, y, x), the central 28 x 28 pixels, and ``mse`` (stimulus),
        the mean square error over channels and pixels.

    Raises
    ------
    InputError
        If the decoder was trained on another network.
    SolverError
        If an image could not be solved.

    Notes
    -----
    The decoder's output is RGB as it is, neither cut nor rescaled, so that an image's result does not depend on its
    batch mates beyond the tolerance of shared steps.

    Examples
    --------
    >>> import dcnbio
    >>> from dcnbio.model.decoder import build_decoder
    >>> net = dcnbio.build("dcn-ode", widths=(4, 8, 16), norm_groups=4, integration_time=0.1)
    >>> found = reconstruct(net, build_decoder(net.spec), dcnbio.load_images(limit=10))
    >>> found["reconstruction"].shape, found["mse"].dims
    ((10, 3, 28, 28), ('stimulus',))
    """
    refuse_other_encoder(decoder, net)
    refuse_other_widths(net, decoder)
    stimuli = as_stimuli(data)
    image, back = there_and_back(net, decoder, stimuli, batch_size, progress)
    mse = ((back.astype(np.float64) - image) ** 2).mean((1, 2, 3))
    weights = {"weights": weights_id(net.state_dict()), "decoder": weights_id(decoder.state_dict())}
    about = {**weights, "spec": net.spec.to_dict(), "images": stimuli.identity}
    dataset = xr.Dataset(
        {
            "image": (DIMS, image, {"long_name": "RGB of the central square", "units": "1"}),
            "reconstruction": (DIMS, back, {"long_name": "RGB given by the decoder", "units": "1"}),
            "mse": ("stimulus", mse, {"long_name": "mean square error", "units": "1"}),
        },
        {"stimulus": stimuli.stimulus, "label": ("stimulus", stimuli.labels)},
        {"provenance": provenance_json(gather_provenance(about)), "row": net.spec.row},
    )
    return xr.DataTree(dataset)
