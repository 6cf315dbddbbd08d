"""``dcnbio import``: turn a .pth of the paper's public code into a checkpoint that says what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dcnbio.commands.options import IntegrationTime, integration_time

__all__ = ["import_checkpoint"]


def import_checkpoint(
    official: Path,
    out: Path,
    *,
    model: Annotated[str | None, Parameter(help="The row it was trained as.")] = None,
    initial: Annotated[Path | None, Parameter(help="The same network before training, for its log2 sigma.")] = None,
    integration_time_: Annotated[IntegrationTime, Parameter(name="--integration-time")] = None,
    overwrite: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Import a .pth of the public code: weights, spec and where they came from, in one .safetensors file."""
    from dcnbio.errors import InputError
    from dcnbio.model.checkpoint import save_checkpoint
    from dcnbio.model.loading import find_checkpoint
    from dcnbio.model.public_checkpoint import load_public
    from dcnbio.model.scales import initial_log2_sigma

    if out.exists() and not overwrite:
        raise InputError(f"{out} exists already; choose another name or pass --overwrite.")
    overrides = integration_time(integration_time_)
    net, weights = load_public(find_checkpoint(official), model, **overrides)
    start = {} if initial is None else initial_log2_sigma(load_public(initial, model, **overrides)[0])
    save_checkpoint(net, out, overwrite=overwrite, initial_log2_sigma=start, recipe=net.source["args"])
    for notice in weights.notices:
        print(f"note: {notice}")
    times = ", ".join(f"{t:g}" for t in net.spec.integration_time)
    print(
        f"{out}: {net.spec.row}; T = {times} and window {net.spec.window:g} sigma are not in the .pth and were assumed"
    )
    return 0
