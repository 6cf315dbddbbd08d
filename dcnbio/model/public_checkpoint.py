"""Loads the paper's public .pth files: which row they can be, and their weights under our names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torch import Tensor

from dcnbio.errors import CheckpointError
from dcnbio.model.checkpoint import fill, stored_dtype
from dcnbio.model.network import Network, build
from dcnbio.model.pickled_weights import PickledWeights, read_pickled_weights
from dcnbio.model.public_names import decoder_names, public_names
from dcnbio.model.rows import ROWS, row_spec
from dcnbio.model.weights import refuse_non_finite, weights_id

__all__ = ["fitting_rows", "load_public"]

NOT_IN_THE_FILE = ("integration_time", "window")


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


def differences(state: dict[str, Tensor], row: str) -> tuple[list[str], list[str]]:
    """List the names that a row has and the weights have not, and the other way round."""
    names = set(public_names(row_spec(row)))
    return sorted(names - set(state)), sorted(set(state) - names)


def first_of_each(missing: list[str], unexpected: list[str]) -> str:
    """Name the first of either, and say how many more there are."""
    named = [
        f"{what} {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
        for what, names in (("missing", missing), ("unexpected", unexpected))
        if names
    ]
    return ", ".join(named)


def nearest(state: dict[str, Tensor], rows: Iterable[str] = ROWS) -> str:
    """Say of weights that fit no row how they differ from the nearest, and what can be done."""
    row = min(rows, key=lambda name: sum(map(len, differences(state, name))))
    shared = set(state) & set(public_names(row_spec(row)))
    near = f"the nearest of the named rows is {row} ({first_of_each(*differences(state, row))})"
    return (
        f"{near if shared else f'no named row has one of its names, of which {min(state)} is the first'}; only weights "
        "of the paper's public code are read, under its names, so rename or complete them, or save the state_dict "
        "again from that code"
    )


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
        fix = f"it fits {', '.join(rows)}, so choose model (--model) accordingly"
        raise CheckpointError(
            f"{path} does not fit {net.spec.row} ({first_of_each(missing, unexpected)}); "
            f"{fix if rows else nearest(state)}."
        )
    # what is wrong is looked for in the file, so both names are told: those of the file and ours
    refuse_non_finite({f"{name}, here {names[name]}": tensor for name, tensor in state.items()}, path)
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
        if not rows:
            raise CheckpointError(f"{path} fits none of the named rows: {nearest(weights.state)}.")
        raise CheckpointError(
            f"{path} does not say which network it is, and its weights fit {', '.join(rows)}; give model (--model ROW)."
        )
    net = build(row, **overrides)
    fill(net, renamed(weights.state, net, path), path)
    net.source = {
        "imported": path.name,
        "file_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "args": {name: value for name, value in weights.args.items() if isinstance(value, str | int | float | bool)},
        "weights": weights_id(net.state_dict()),
        "assumed": [name for name in NOT_IN_THE_FILE if name not in overrides],
        **stored_dtype(weights.state),
    }
    return net, weights
