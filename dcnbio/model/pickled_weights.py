"""Reads weights out of a PyTorch pickle without running any code it may hold."""

from __future__ import annotations

import argparse
import codecs
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dcnbio.errors import CheckpointError
from dcnbio.images.stand_in import HEAD, stand_in

__all__ = ["PickledWeights", "read_pickled_weights"]

WEIGHT_KEYS = ("state_dict", "model_state_dict", "model", "net", "weights")
# What the public code's files, and ones with a saved numpy accuracy, hold besides tensors. NumPy 2 moved its core.
NUMPY_SCALAR = np._core.multiarray.scalar  # type: ignore[attr-defined]
ALLOWED: list[Any] = [
    argparse.Namespace,
    np.dtype,
    codecs.encode,
    (NUMPY_SCALAR, "numpy.core.multiarray.scalar"),
    (NUMPY_SCALAR, "numpy._core.multiarray.scalar"),
    *(type(np.dtype(name)) for name in ("float32", "float64", "int32", "int64", "bool")),
]


class PickledWeights(NamedTuple):
    """The weights of a pickle and the settings saved beside them.

    Attributes
    ----------
    state : dict of str to Tensor
    args : dict
        The command line of the run, empty where none was saved.
    notices : tuple of str
        What was done to read the file.
    """

    state: dict[str, Tensor]
    args: dict[str, Any]
    notices: tuple[str, ...]


def damage(path: Path) -> str | None:
    """Say what is wrong with a file that cannot be a checkpoint, if it shows on the outside."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        return "it is empty"
    instead = stand_in(head)
    if instead is not None:
        return f"it is {instead}"
    if head.startswith(b"PK") and not zipfile.is_zipfile(path):
        return "it is cut short"
    return None


def load(path: Path) -> Any:
    """Unpickle tensors and plain values alone."""
    wrong = damage(path)
    if wrong is not None:
        raise CheckpointError(f"{path} is not a readable checkpoint: {wrong}; copy or download it again.")
    try:
        with torch.serialization.safe_globals(ALLOWED):
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        found = str(error).split("GLOBAL ")
        name = found[1].split(" ")[0].rstrip(".,") if len(found) > 1 else None
        why = f"it needs {name}, which could run code" if name else "it is no PyTorch file"
        raise CheckpointError(
            f"{path} is not a readable checkpoint: {why}; save the state_dict alone with "
            "torch.save(net.state_dict(), path)."
        ) from error
    except Exception as error:  # torch raises many kinds on damaged files
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise CheckpointError(
            f"{path} is not a readable checkpoint: {reason}; it may be cut short or of another kind."
        ) from error


def read_pickled_weights(path: Path) -> PickledWeights:
    """Read weights from the public code's .pth in any of its forms, or from a bare state_dict.

    Parameters
    ----------
    path : Path
        ``{"state_dict": ..., "args": argparse.Namespace}``, the same under other usual keys, or a bare state_dict;
        saved on any device, with or without the ``module.`` of DataParallel.

    Returns
    -------
    PickledWeights

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, holds no weights or would run code.
    """
    content = load(path)
    if not isinstance(content, Mapping):
        raise CheckpointError(f"{path} holds a {type(content).__name__}; a checkpoint is a dictionary of tensors.")
    key = next((k for k in WEIGHT_KEYS if isinstance(content.get(k), Mapping)), None)
    state = content if key is None else content[key]
    tensors = {str(name): value for name, value in state.items() if isinstance(value, Tensor)}
    if not tensors or len(tensors) < len(state):
        other = ", ".join(str(name) for name in list(state)[:5])
        raise CheckpointError(f"{path} is not a state_dict of tensors; it holds {other or 'nothing'}.")
    notices = []
    if all(name.startswith("module.") for name in tensors):
        tensors = {name.removeprefix("module."): value for name, value in tensors.items()}
        notices.append("took away the prefix 'module.' of every name (the file was saved from DataParallel)")
    args = content.get("args") if key is not None else None
    settings = dict(vars(args)) if isinstance(args, argparse.Namespace) else {}
    return PickledWeights(tensors, settings, tuple(notices))
