"""A network in one .safetensors file: weights, and in the header everything needed to build and to judge it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from dcnbio.errors import CheckpointError, InputError
from dcnbio.images.stand_in import stand_in_at
from dcnbio.model.checkpoint_kind import refuse_decoder
from dcnbio.model.given_network import check_network
from dcnbio.model.html_summary import header_html
from dcnbio.model.network import Network, build
from dcnbio.model.own_fields import FieldMaker
from dcnbio.model.same_again import in_one_float, plain_tensors, refuse_unlike
from dcnbio.model.spec import NetworkSpec
from dcnbio.model.weights import refuse_non_finite, weights_id

__all__ = ["Header", "load_checkpoint", "read_header", "refuse_unlike_spec", "save_checkpoint"]

FORMAT = "dcnbio-checkpoint-1"


@dataclass(frozen=True)
class Header:
    """What a checkpoint says of itself beside its weights.

    Attributes
    ----------
    spec : dict
        `NetworkSpec` as plain values.
    recipe : dict
        How it was trained.
    metrics : dict
        Accuracies as fractions with their n, NFE, minutes.
    initial_log2_sigma : dict of str to list of float
        log2 sigma of each SRF layer before training, flattened.
    source : dict
        Where it came from: a seed, or the file it was imported from and its hash.
    """

    spec: dict[str, Any]
    recipe: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)
    initial_log2_sigma: dict[str, Any] = field(default_factory=dict)
    source: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Write as one JSON string."""
        return json.dumps(vars(self), sort_keys=True, allow_nan=False)

    def _repr_html_(self) -> str:
        """Show a small table in a notebook."""
        return header_html(self.spec, self.metrics, self.source)

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, str] | None, path: object) -> Header:
        """Read from a safetensors header."""
        if not metadata or metadata.get("format") != FORMAT:
            raise CheckpointError(
                f"{path} is a safetensors file that dcnbio did not write (its header has no format {FORMAT}); import "
                "the public code's .pth with dcnbio import, or save with dcnbio.save."
            )
        try:
            values = json.loads(metadata["header"])
            return cls(**{name: dict(values[name]) for name in cls.__dataclass_fields__ if name in values})
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path} has a damaged header ({error}); copy it again or export it anew.") from error


def save_checkpoint(net: Network, path: str | Path, *, overwrite: bool = False, **parts: Any) -> Path:
    """Save a network; written beside and moved into place, so that a reader never sees half a file.

    Parameters
    ----------
    net : Network
    path : str or Path
        Ends in .safetensors.
    overwrite : bool
        Whether a file that is there may be replaced.
    **parts
        `recipe`, `metrics`, `initial_log2_sigma` and `source` of the `Header`.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If the name does not end in .safetensors, a file is in the way, the folder cannot be written, or the network is
        not what its spec and its weights make: after `freeze_norms`, for instance. Nothing is written then.
    CheckpointError
        If a weight is not finite.

    Examples
    --------
    >>> import tempfile
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(8,), norm_groups=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load_checkpoint(save_checkpoint(net, f"{folder}/net.safetensors"))
    >>> again.spec == net.spec
    True
    """
    check_network(net)
    net = getattr(net, "_orig_mod", net)  # of one that torch.compile has wrapped
    refuse_unlike_spec(net)
    state = plain_tensors(net)
    header = Header(spec=net.spec.to_dict(), **{"source": net.source, **parts})
    return write_tensors(Path(path), state, header, overwrite=overwrite, what="the network to be saved")


def refuse_unlike_spec(net: Network) -> None:
    """Refuse a network of which a file would give another back.

    Parameters
    ----------
    net : Network

    Raises
    ------
    InputError
        If a part's type, settings or shapes are not those of the spec, or its floating-point types are mixed.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> refuse_unlike_spec(build("dcn-ode"))
    """
    spec = net.spec
    skeleton = Network(NetworkSpec.from_dict({**spec.to_dict(), "vector_field": ""}))
    refuse_unlike(net, skeleton, f"this {spec.row}", "blocks.*.field" if spec.vector_field else None)


def write_tensors(path: Path, state: dict[str, Tensor], header: Header, *, overwrite: bool, what: str) -> Path:
    """Write header and tensors to a safetensors file: beside, and moved into place."""
    if path.suffix != ".safetensors":
        raise InputError(f"path is {path}; a checkpoint's name ends in .safetensors.")
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists already; choose another name or pass overwrite (--overwrite).")
    refuse_non_finite(state, what)
    try:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        try:
            save_file(state, beside, metadata={"format": FORMAT, "header": header.to_json()})
            os.chmod(beside, 0o644)
            os.replace(beside, path)
        finally:
            Path(beside).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror or error}); choose another folder.") from error
    return path


def open_tensors(path: Path) -> tuple[Header, dict[str, Tensor]]:
    """Read header and tensors of a safetensors file."""
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            header = Header.from_metadata(file.metadata(), path)
            return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    except (SafetensorError, OSError, ValueError) as error:
        if isinstance(error, CheckpointError):
            raise
        instead = stand_in_at(path)
        reason = (
            f"it is {instead}" if instead else f"it is {'cut short or damaged' if path.stat().st_size else 'empty'}"
        )
        raise CheckpointError(f"{path} is not a readable checkpoint: {reason}; copy or download it again.") from error


def read_header(path: Path) -> Header:
    """Read what a checkpoint says of itself.

    Parameters
    ----------
    path : Path
        A .safetensors file.

    Returns
    -------
    Header

    Raises
    ------
    CheckpointError
        If the file is damaged or not ours.

    Examples
    --------
    >>> from dcnbio.model.loading import find_checkpoint
    >>> read_header(find_checkpoint("dcn-ode")).spec["row"]
    'dcn-ode'
    """
    return open_tensors(path)[0]


def load_checkpoint(path: Path, *, vector_field: FieldMaker | None = None, **overrides: Any) -> Network:
    """Load a network from a .safetensors file of ours; keywords override its spec where the weights allow it.

    Parameters
    ----------
    path : Path
        A .safetensors file.
    vector_field : nn.Module, list of nn.Module or callable, optional
        The code of a network with its own f(t, h), as `build` takes it.
    **overrides
        Settings of `NetworkSpec` that leave the weights as they are, such as integration_time.

    Returns
    -------
    Network
        Its `source` holds the file and the hash of its weights.

    Raises
    ------
    CheckpointError
        If the file is damaged, not ours, a decoder's, does not fit its spec, or has non-finite weights.
    """
    header, state = open_tensors(path)
    refuse_decoder(header.source, path)
    try:
        spec = NetworkSpec.from_dict(header.spec)
    except InputError as error:
        raise CheckpointError(f"{path} has a header that describes no network: {error}") from error
    if spec.vector_field and vector_field is None:
        raise CheckpointError(f"{path} was saved with its own vector field {spec.vector_field}; pass vector_field=.")
    plain = NetworkSpec.from_dict({**spec.to_dict(), "vector_field": ""})
    net = build(plain, vector_field=vector_field, **overrides)
    fill(net, state, path)
    net.source = {**header.source, "file": path.name, "weights": weights_id(state), **stored_dtype(state)}
    return net


def stored_dtype(state: Mapping[str, Tensor]) -> dict[str, str]:
    """Say of weights that are coarser than float32, in which the network then runs, how they were kept.

    Examples
    --------
    >>> import torch
    >>> stored_dtype({"a": torch.zeros(2, dtype=torch.float16)}), stored_dtype({"a": torch.zeros(2)})
    ({'stored_dtype': 'float16'}, {})
    """
    coarse = {str(t.dtype).removeprefix("torch.") for t in state.values() if t.is_floating_point() and t.itemsize < 4}
    return {"stored_dtype": ", ".join(sorted(coarse))} if coarse else {}


def fill(net: Network, state: Mapping[str, Tensor], path: object) -> None:
    """Put weights into a network, or say what does not fit."""
    refuse_non_finite(state, path)
    expected = net.state_dict()
    missing, unexpected = sorted(set(expected) - set(state)), sorted(set(state) - set(expected))
    wrong = [
        f"{name} is {tuple(state[name].shape)}, not {tuple(expected[name].shape)}"
        for name in expected
        if name in state and state[name].shape != expected[name].shape
    ]
    if missing or unexpected or wrong:
        parts = [f"missing {missing[0]}"] if missing else []
        parts += [f"unexpected {unexpected[0]}"] if unexpected else []
        parts += wrong[:1]
        raise CheckpointError(
            f"{path} does not fit a {net.spec.row} network of this spec ({'; '.join(parts)}); choose the row it was "
            "trained as (--model) and leave settings that change the weights as they were."
        )
    in_one_float(net, state)
    net.load_state_dict(state)
    net.eval()
