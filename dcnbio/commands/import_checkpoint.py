"""``dcnbio import``: turn a .pth of the paper's public code into a checkpoint that says what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dcnbio.commands.network import assumptions, rounding
from dcnbio.commands.options import IntegrationTime, Json, flag, integration_time
from dcnbio.commands.output import Speaker

__all__ = ["import_checkpoint"]


def import_checkpoint(
    official: Annotated[Path, Parameter(help="A .pth of the public code, or a folder with one.")],
    out: Annotated[Path, Parameter(help="The .safetensors file that is written.")],
    /,
    *,
    model: Annotated[
        str | None, Parameter(help="The row it was trained as, e.g. dcn-ode; the file does not say.")
    ] = None,
    integration_time_: Annotated[IntegrationTime, Parameter(name="--integration-time")] = None,
    initial: Annotated[Path | None, Parameter(help="The same network before training, for its log2 sigma.")] = None,
    overwrite: Annotated[bool, flag("Replace a file that is there.")] = False,
    json_: Json = False,
) -> int:
    """Import a .pth of the public code: weights, spec and where they came from, in one .safetensors file."""
    from dcnbio.errors import InputError
    from dcnbio.model.checkpoint import save_checkpoint
    from dcnbio.model.loading import find_checkpoint
    from dcnbio.model.public_checkpoint import load_public
    from dcnbio.model.scales import initial_log2_sigma

    if out.suffix != ".safetensors":
        raise InputError(f"{out} cannot be the name of a checkpoint: it ends in .safetensors.")
    if out.exists() and not overwrite:
        raise InputError(f"{out} exists already; choose another name or pass --overwrite.")
    overrides = integration_time(integration_time_)
    path = find_checkpoint(official)
    if path.suffix == ".safetensors":
        raise InputError(f"{path} is a .safetensors file already; import takes a .pth of the public code.")
    net, weights = load_public(path, model, **overrides)
    start = {} if initial is None else initial_log2_sigma(load_public(find_checkpoint(initial), model, **overrides)[0])
    save_checkpoint(net, out, overwrite=overwrite, initial_log2_sigma=start, recipe=net.source["args"])
    notices = (*weights.notices, *rounding(net), assumptions(net, path.name, integration_time_ is not None))
    speaker = Speaker(json_)
    for notice in notices:
        speaker.note(notice)
    found = {"file": str(out), "spec": net.spec.to_dict(), "source": net.source, "notices": list(notices)}
    speaker.give(found, f"{out}: {net.spec.row}, {sum(p.numel() for p in net.parameters()):,} parameters")
    return 0
