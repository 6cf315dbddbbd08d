"""The identity and soundness of a network's weights."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from dcnbio.errors import CheckpointError

__all__ = ["refuse_non_finite", "weights_id"]


def weights_id(state: Mapping[str, Tensor]) -> str:
    """Give "sha256:" and the hash of all weights: names, types, shapes and values, in the order of the names.

    Parameters
    ----------
    state : mapping of str to Tensor
        Tensors of any shape by name, as of ``net.state_dict()``.

    Returns
    -------
    str

    Examples
    --------
    >>> weights_id({"a": torch.zeros(2)}) == weights_id({"a": torch.zeros(2)})
    True
    """
    digest = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name].detach().cpu()
        # numpy knows no bfloat16; every value of it is one of float32
        values = np.ascontiguousarray((tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy())
        digest.update(f"{name} {values.dtype.str} {values.shape}".encode())
        digest.update(values.tobytes())
    return f"sha256:{digest.hexdigest()}"


def refuse_non_finite(state: Mapping[str, Tensor], path: object) -> None:
    """Raise a CheckpointError that names the tensors with NaN or infinite values, if there are any.

    Parameters
    ----------
    state : mapping of str to Tensor
        Tensors of any shape by name.
    path : object
        What the message calls the whole.

    Raises
    ------
    CheckpointError
        If a value is NaN or infinite.

    Examples
    --------
    >>> refuse_non_finite({"a": torch.tensor([0.0, float("nan")])}, "a.pth")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    dcnbio.errors.CheckpointError: a.pth has non-finite weights in a (1 of 2 values); ...
    """
    bad = {name: int((~torch.isfinite(t)).sum()) for name, t in state.items() if t.is_floating_point()}
    named = [f"{name} ({count} of {state[name].numel()} values)" for name, count in bad.items() if count]
    if named:
        raise CheckpointError(
            f"{path} has non-finite weights in {', '.join(named[:5])}{' and more' if len(named) > 5 else ''}; "
            "the training run diverged or the file is damaged, so use an earlier checkpoint."
        )
