"""Loads a network, or finds a decoder, by a shipped name, a file of ours, a public .pth, or a folder with one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcnbio.errors import CheckpointError
from dcnbio.images.shipped import data_root, shipped
from dcnbio.model.checkpoint import load_checkpoint
from dcnbio.model.network import Network
from dcnbio.model.own_fields import FieldMaker
from dcnbio.model.public_checkpoint import load_public
from dcnbio.model.rows import ROWS

__all__ = [
    "DEFAULT_CHECKPOINT",
    "find_checkpoint",
    "find_decoder",
    "load",
    "shipped_checkpoints",
    "shipped_controls",
    "shipped_decoders",
]

DEFAULT_CHECKPOINT = "dcn-ode"
SUFFIXES = (".safetensors", ".pth", ".pt")


def shipped_checkpoints() -> list[str]:
    """List the trained networks that come with dcnbio, each named after its row.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "dcn-ode" in shipped_checkpoints()
    True
    """
    return [name for name in shipped_names() if name in ROWS]


def shipped_controls() -> list[str]:
    """List the other networks that come with dcnbio: untrained ones, and ones that began or were trained otherwise.

    Their names begin with their row's. They are loaded by name, and never counted as further seeds of a row.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "dcn-ode-untrained" in shipped_controls()
    True
    """
    return [name for name in shipped_names() if name not in ROWS]


def shipped_decoders() -> list[str]:
    """List the trained decoders that come with dcnbio; they are kept apart from networks.

    Returns
    -------
    list of str
        Empty if none ships.

    Examples
    --------
    >>> "dcn-ode-untrained" in shipped_decoders()
    False
    """
    return sorted(path.stem for path in (data_root() / "decoders").glob("*.safetensors"))


def shipped_names() -> list[str]:
    """List all networks."""
    return sorted(path.stem for path in (data_root() / "checkpoints").glob("*.safetensors"))


def find_checkpoint(name: str | Path) -> Path:
    """Turn a shipped name, a file or a folder with one checkpoint in it into the path of a file.

    Parameters
    ----------
    name : str or Path
        A shipped name, a file, or a folder with one checkpoint in it.

    Returns
    -------
    Path

    Raises
    ------
    CheckpointError
        If there is none, or a folder holds several.

    Examples
    --------
    >>> find_checkpoint("dcn-ode").name
    'dcn-ode.safetensors'
    """
    path = found(name, "checkpoints", shipped_names())
    if path is None and str(name) in shipped_decoders():
        return shipped(f"decoders/{name}.safetensors")  # whoever wants a network then says that it is none
    if path is None:
        raise CheckpointError(
            f"checkpoint is {str(name)!r}: there is no such file, and the shipped ones are "
            f"{', '.join(shipped_names())}."
        )
    return path


def found(name: str | Path, folder: str, shipped_ones: list[str]) -> Path | None:
    """Give the file that a shipped name, a path or a folder with one checkpoint stands for, if there is one."""
    if str(name) in shipped_ones:
        return shipped(f"{folder}/{name}.safetensors")
    path = file_of(Path(name))
    return path if path.is_file() else None


def file_of(path: Path) -> Path:
    """Give the one checkpoint that lies in a folder; a path that is no folder stays as it is."""
    if not path.is_dir():
        return path
    # of a run that is under way: no network, but what is needed to go on
    there = sorted(p for p in path.iterdir() if p.suffix in SUFFIXES and p.name != "state.safetensors")
    if len(there) == 1:
        return there[0]
    if not there:
        raise CheckpointError(f"{path} is a folder without a checkpoint ({', '.join(SUFFIXES)}); name a file.")
    listed = ", ".join(p.name for p in there[:10])
    raise CheckpointError(f"{path} is a folder with {len(there)} checkpoints ({listed}); name one file.")


def find_decoder(name: str | Path) -> Path:
    """Turn a shipped decoder's name, a file or a folder with one checkpoint in it into the path of a file.

    Parameters
    ----------
    name : str or Path
        A shipped name, a file, or a folder with one checkpoint in it, as a run of `dcnbio train` leaves.

    Returns
    -------
    Path
        For `dcnbio.model.decoder_checkpoint.load_decoder_checkpoint`.

    Raises
    ------
    CheckpointError
        If there is none, or a folder holds several.

    Examples
    --------
    >>> import tempfile
    >>> from dcnbio.model.decoder import build_decoder
    >>> from dcnbio.model.decoder_checkpoint import save_decoder
    >>> from dcnbio.model.rows import row_spec
    >>> decoder = build_decoder(row_spec("dcn-ode", widths=(4, 8, 16), norm_groups=4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_decoder(decoder, f"{folder}/back.safetensors")
    ...     find_decoder(folder).name
    'back.safetensors'
    """
    names = shipped_decoders()
    path = found(name, "decoders", names)
    if path is not None:
        return path
    there = f"the shipped decoders are {', '.join(names)}" if names else "no decoder ships with this version of dcnbio"
    raise CheckpointError(
        f"decoder is {str(name)!r}: there is no such file, and {there}; train one with dcnbio train --recipe "
        "budget_reconstruction."
    )


def load(
    name: str | Path = DEFAULT_CHECKPOINT,
    model: str | None = None,
    *,
    vector_field: FieldMaker | None = None,
    **overrides: Any,
) -> Network:
    """Load a network, ready to be run.

    Parameters
    ----------
    name : str or Path
        A shipped name, a .safetensors file of dcnbio, the public code's .pth, or a folder with one of them.
    model : str, optional
        The row of a .pth, which does not say what it is; see `dcnbio.ROWS`.
    vector_field : nn.Module, list of nn.Module or callable, optional
        As in `build`, for checkpoints that were saved with their own.
    **overrides
        Settings of `NetworkSpec` that take the place of the checkpoint's, for instance integration_time={1: 0.12}.

    Returns
    -------
    Network
        In evaluation mode.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, foreign, a decoder's, of another row, or has non-finite weights.

    Examples
    --------
    >>> net = load("dcn-ode")
    >>> net.spec.row
    'dcn-ode'
    """
    path = find_checkpoint(name)
    if path.suffix == ".safetensors":
        net = load_checkpoint(path, vector_field=vector_field, **overrides)
        if model is not None and model != net.spec.row:
            raise CheckpointError(f"{path} holds the row {net.spec.row}, not {model}; leave model (--model) out.")
        return net
    if vector_field is not None:
        raise CheckpointError(f"vector_field is given, but {path} is a .pth with the paper's own; leave it out.")
    return load_public(path, model, **overrides)[0]
