"""Loads the paper's public .pth files: which row they can be, and their weights under our names."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from torch import Tensor

from dcnbio.errors import CheckpointError
from dcnbio.model.checkpoint import fill
from dcnbio.model.network import Network, build
from dcnbio.model.pickled_weights import PickledWeights, read_pickled_weights
from dcnbio.model.public_names import decoder_names, public_names
from dcnbio.model.rows import ROWS, row_spec
from dcnbio.model.weights import weights_id

__all__ = ["fitting_rows", "load_public"]


def fitting_rows(state: dict[str, Tensor]) -> list[str]:
    """List the rows whose weights have just these names and, in the first block, these shapes."""
    fitting = []
    for row in ROWS:
        names = public_names(row_spec(row))
        if set(names) != set(state):
            continue
        per_pair = row_spec(row).kernels == "srf-pair"
        scales = [tensor.ndim for name, tensor in state.items() if name.endswith("_layer.scales")]
        if not scales or all((ndim == 2) == per_pair for ndim in scales):
            fitting.append(row)
    return fitting


def refuse_public_decoder(state: dict[str, Tensor], path: Path) -> None:
    """Refuse the public code's decoder where a network is wanted."""
    rows = [row for row in ROWS if set(decoder_names(row_spec(row))) == set(state)]
    if rows:
        raise CheckpointError(
            f"{path} holds a decoder of the public code and no network (for one of {', '.join(rows)}; the file does "
            "not say which); give a network here, and load the decoder with dcnbio.model.decoder.load_decoder(path, "
            "net.spec)."
        )


def renamed(state: dict[str, Tensor], net: Network, path: Path) -> dict[str, Tensor]:
    """Give the weights our names; names that this row does not have are left to be reported as they are."""
    names = public_names(net.spec)
    missing, unexpected = sorted(set(names) - set(state)), sorted(set(state) - set(names))
    if missing or unexpected:
        rows = fitting_rows(state)
        hint = f"it fits {', '.join(rows)}" if rows else "it fits none of the named rows"
        lacks = f"missing {missing[0]}" if missing else ""
        has = f"unexpected {unexpected[0]}" if unexpected else ""
        raise CheckpointError(
            f"{path} does not fit {net.spec.row} ({', '.join(filter(None, (lacks, has)))}); {hint}, so choose model "
            "(--model) accordingly."
        )
    return {names[name]: tensor for name, tensor in state.items()}


def load_public(path: Path, row: str | None, **overrides: Any) -> tuple[Network, PickledWeights]:
    """Load a .pth file of the paper's public code, or a bare state_dict with its names.

    Parameters
    ----------
    path : Path
    row : str or None
        The row it was trained as. The file does not say; T, the window and what `scales` means follow from it.
    **overrides
        Settings of `NetworkSpec`, for instance integration_time, which the file does not hold either.

    Returns
    -------
    Network, PickledWeights
    """
    weights = read_pickled_weights(path)
    refuse_public_decoder(weights.state, path)
    if row is None:
        rows = fitting_rows(weights.state)
        fits = f"its weights fit {', '.join(rows)}" if rows else f"its weights fit none of {', '.join(ROWS)}"
        raise CheckpointError(f"{path} does not say which network it is, and {fits}; give model (--model ROW).")
    net = build(row, **overrides)
    fill(net, renamed(weights.state, net, path), path)
    net.source = {
        "imported": path.name,
        "file_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "args": {name: value for name, value in weights.args.items() if isinstance(value, str | int | float | bool)},
        "weights": weights_id(net.state_dict()),
    }
    return net, weights
