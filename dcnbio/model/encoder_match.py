"""Which network a decoder was trained on, told by the hash of its weights, and the refusal of any other."""

from __future__ import annotations

import torch

from dcnbio.errors import InputError
from dcnbio.model.checkpoint_kind import ENCODER_WEIGHTS
from dcnbio.model.decoder import Decoder
from dcnbio.model.network import Network
from dcnbio.model.weights import weights_id

__all__ = ["ENCODER_WEIGHTS", "refuse_other_encoder"]


def refuse_other_encoder(decoder: Decoder, net: Network) -> None:
    """Refuse a network that a decoder was not trained on: its maps mean something else, and so would the image.

    Parameters
    ----------
    decoder : Decoder
        One whose source does not tell its encoder (built here, or of the public code) is not judged.
    net : Network
        The same values in float64 are the same network.

    Raises
    ------
    InputError
        If the network's weights are others.

    Examples
    --------
    >>> from dcnbio.model.decoder import build_decoder
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(4, 8, 16), norm_groups=4)
    >>> decoder = build_decoder(net.spec)
    >>> decoder.source["encoder_weights"] = weights_id(net.state_dict())
    >>> refuse_other_encoder(decoder, net)
    """
    wanted = decoder.source.get(ENCODER_WEIGHTS)
    if wanted is None:
        return
    found = weights_id(net.state_dict())
    if wanted in (found, single_precision_id(net)):
        return
    name = decoder.source.get("encoder")
    raise InputError(
        f"decoder was trained on the network{f' {name}' if name else ''} with weights {wanted}, but net has weights "
        f"{found}; load the network it was trained on, or train a decoder on this one (dcnbio train --recipe "
        "budget_reconstruction --set encoder=FILE), or, where the change is the experiment, "
        "delete decoder.source['encoder_weights']."
    )


def single_precision_id(net: Network) -> str | None:
    """Give the identity that a float64 network had in float32; None if it holds values that float32 cannot."""
    state = net.state_dict()
    single = {name: value.float() if value.dtype == torch.float64 else value for name, value in state.items()}
    if all(torch.equal(single[name].to(value.dtype), value) for name, value in state.items()):
        return weights_id(single)
    return None
