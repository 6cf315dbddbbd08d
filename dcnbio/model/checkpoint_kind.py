"""Tells a decoder's file from a network's, and says what to do with it where a network is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcnbio.errors import CheckpointError

__all__ = ["DECODER", "ENCODER_WEIGHTS", "about_encoder", "refuse_decoder"]

DECODER = "decoder"  # the `kind` in a decoder's source
ENCODER_WEIGHTS = "encoder_weights"  # in a decoder's source


def about_encoder(source: Mapping[str, Any]) -> str:
    """Say which network a decoder was trained on, as far as its source tells.

    Examples
    --------
    >>> about_encoder({"encoder": "dcn-ode", "encoder_weights": "sha256:ab"})
    'trained on the network dcn-ode with weights sha256:ab'
    >>> about_encoder({})
    'of which network is not recorded'
    """
    name, weights = source.get("encoder"), source.get(ENCODER_WEIGHTS)
    if not (name or weights):
        return "of which network is not recorded"
    return f"trained on the network {name or 'without a name'}" + (f" with weights {weights}" if weights else "")


def refuse_decoder(source: Mapping[str, Any], path: object) -> None:
    """Refuse a decoder where a network is wanted: say for which network it is, and which call loads it.

    Parameters
    ----------
    source : mapping
        Of the checkpoint's `Header`.
    path : path or str

    Raises
    ------
    CheckpointError
        If the file holds a decoder.

    Examples
    --------
    >>> refuse_decoder({"seed": 0}, "net.safetensors")
    >>> refuse_decoder({"kind": "decoder", "encoder": "dcn-ode", "encoder_weights": "sha256:ab"}, "back.safetensors")
    Traceback (most recent call last):
    ...
    dcnbio.errors.CheckpointError: back.safetensors holds a decoder and no network (trained on the network dcn-ode \
with weights sha256:ab); give that network here, and load the decoder with \
dcnbio.model.decoder_checkpoint.load_decoder_checkpoint('back.safetensors').
    """
    if source.get("kind") != DECODER:
        return
    raise CheckpointError(
        f"{path} holds a decoder and no network ({about_encoder(source)}); give that network here, and load the "
        f"decoder with dcnbio.model.decoder_checkpoint.load_decoder_checkpoint({str(path)!r})."
    )
