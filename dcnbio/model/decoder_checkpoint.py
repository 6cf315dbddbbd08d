"""A decoder in one .safetensors file, in the format of networks' checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcnbio.errors import CheckpointError
from dcnbio.model.checkpoint import Header, open_tensors, write_tensors
from dcnbio.model.checkpoint_kind import DECODER
from dcnbio.model.decoder import Decoder
from dcnbio.model.same_again import in_one_float, plain_tensors, refuse_unlike
from dcnbio.model.spec import NetworkSpec
from dcnbio.model.weights import refuse_non_finite, weights_id

__all__ = ["load_decoder_checkpoint", "save_decoder"]


def save_decoder(decoder: Decoder, path: str | Path, *, overwrite: bool = False, **parts: Any) -> Path:
    """Save a decoder; written beside and moved into place.

    Parameters
    ----------
    decoder : Decoder
    path : str or Path
        Ends in .safetensors.
    overwrite : bool
        Whether a file that is there may be replaced.
    **parts
        `recipe`, `metrics` and `source` of the `Header`; the decoder's own source, with the hash of its encoder's
        weights, if left out.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If the name does not end in .safetensors, a file is in the way, the folder cannot be written, or the decoder is
        not what its spec and its weights make.
    CheckpointError
        If a weight is not finite.

    Examples
    --------
    >>> import tempfile
    >>> from dcnbio.model.decoder import build_decoder
    >>> from dcnbio.model.rows import row_spec
    >>> decoder = build_decoder(row_spec("dcn-ode", widths=(4, 8, 16), norm_groups=4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load_decoder_checkpoint(save_decoder(decoder, f"{folder}/decoder.safetensors"))
    >>> again.spec == decoder.spec
    True
    """
    refuse_unlike(decoder, Decoder(decoder.spec), "this decoder")
    state = plain_tensors(decoder)
    source = {**parts.pop("source", decoder.source), "kind": DECODER}
    header = Header(spec=decoder.spec.to_dict(), source=source, **parts)
    return write_tensors(Path(path), state, header, overwrite=overwrite, what="the decoder to be saved")


def load_decoder_checkpoint(path: str | Path) -> Decoder:
    """Load a decoder that `save_decoder` saved.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Decoder
        Its `source` tells which network it was trained on.

    Raises
    ------
    CheckpointError
        If the file is damaged, or holds no decoder.
    """
    header, state = open_tensors(Path(path))
    if header.source.get("kind") != DECODER:
        raise CheckpointError(f"{path} holds a network and no decoder; load it with dcnbio.load.")
    decoder = Decoder(NetworkSpec.from_dict(header.spec))
    refuse_non_finite(state, path)
    in_one_float(decoder, state)
    try:
        decoder.load_state_dict(state)
    except RuntimeError as error:
        raise CheckpointError(f"{path} does not fit the decoder it says it is ({error}).") from error
    decoder.source = {**header.source, "file": Path(path).name, "weights": weights_id(state)}
    return decoder
