"""``dcnbio info``: what a checkpoint or a recording is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dcnbio.commands.about_checkpoint import checkpoint_info, checkpoint_report
from dcnbio.commands.about_decoder import decoder_info, decoder_report, holds_decoder
from dcnbio.commands.about_state import holds_state, state_info, state_report
from dcnbio.commands.options import Json, Model, flag
from dcnbio.commands.output import Speaker
from dcnbio.commands.probe_report import error_lines
from dcnbio.commands.table import table
from dcnbio.errors import InputError

__all__ = ["info"]

RECORDINGS = (".zarr", ".nc", ".nc4", ".netcdf")


def is_recording(path: Path) -> bool:
    """Whether a path is, or by its name would be, a recording."""
    from dcnbio.recording.target import state_of

    return state_of(path) in ("complete", "unfinished") or path.suffix.lower() in RECORDINGS


def info(
    name: Annotated[
        str, Parameter(help="A shipped name, a .safetensors or .pth file, a run's folder, or a .zarr or .nc recording.")
    ] = "dcn-ode",
    /,
    *,
    model: Model = None,
    verify: Annotated[bool, flag("Read a recording's every file and compare it with what was recorded.")] = False,
    json_: Json = False,
) -> int:
    """Say what a checkpoint (a shipped name or a file) or a recording (.zarr, .nc) is and holds."""
    from dcnbio.model.loading import find_checkpoint

    speaker = Speaker(json_)
    if is_recording(Path(name)):
        from dcnbio.recording import describe

        found = describe(name, verify=verify)
        speaker.give(found, recording_report(found))
        return 3 if found.get("damaged") else 0
    if verify:
        raise InputError(f"verify (--verify) is given and {name} is no recording; leave it out: weights have a hash.")
    path = find_checkpoint(name)
    if holds_state(path):
        found = state_info(path)
        speaker.give(found, state_report(found))
    elif holds_decoder(path):
        found = decoder_info(path)
        speaker.give(found, decoder_report(found))
    else:
        found = checkpoint_info(name, model)
        speaker.give(found, checkpoint_report(found))
    return 0


def block_row(name: str, block: dict[str, Any]) -> list[object]:
    """Lay out a block of a recording."""
    times = block["times"]
    return [
        name,
        "none stored" if block["shape"] is None else " x ".join(map(str, block["shape"])),
        "-" if times == "accepted" else len(times),
        "accepted steps" if times == "accepted" else f"{times[0]:g} to {times[-1]:g}",
        "-" if block["nfe"] is None else "{} to {}".format(*block["nfe"]),
        ", ".join(f"{count} {status}" for status, count in block["failed"].items()) or "none",
    ]


def changes(about: dict[str, Any]) -> list[str]:
    """Say what was done to the network and, on the way, to h."""
    patches = []
    for patch in about.get("patches", []):
        where = [f"{name} {patch[name]}" for name in ("channels", "region") if patch[name] is not None]
        patches.append(" ".join([f"h of block {patch['block']} at t = {patch['time']:g}: {patch['how']}", *where]))
    return [*about.get("interventions", []), *patches]


def verdict(found: dict[str, Any]) -> list[str]:
    """Say what came of comparing the files with what was recorded; nothing where that was not asked."""
    if "verified" not in found:
        return []
    if not found["verified"]:
        return ["nothing: a netCDF file is one file, without a list to compare it with"]
    damaged = found.get("damaged", [])
    return [f"{name} is not as it was recorded; --resume records it again" for name in damaged] or [
        "every file is as it was recorded"
    ]


def recording_report(found: dict[str, Any]) -> str:
    """Lay out a recording."""
    from dcnbio.recording import human_bytes

    about = found["provenance"]
    solver = about.get("solver", {})
    blocks = found["blocks"]
    per = next(iter(blocks.values()))["nfe_per"] if blocks else "image"
    state = "complete" if found["complete"] else "UNFINISHED (dcnbio probe ... --resume goes on)"
    header = ["block", "channel x y x x", "times", "solver time", f"NFE per {per}", "failed"]
    return "\n".join(
        [
            f"recording {found['path']} ({human_bytes(found['bytes'])})",
            f"state     {state}, {found['done']} of {found['total']} images",
            *(f"verified  {line}" for line in verdict(found)),
            table(header, [block_row(name, block) for name, block in blocks.items()]),
            *error_lines({name: block["h_error"] for name, block in blocks.items()}),
            f"network   {about.get('spec', {}).get('row', 'unknown')}, weights {about.get('weights', 'unknown')[:23]}",
            *(f"changed   {text}" for text in changes(about)),
            f"images    {about.get('names', {}).get('images', 'unknown')}",
            f"solver    {solver.get('method')}, rtol {solver.get('rtol')}, atol {solver.get('atol')}, "
            f"{solver.get('stepping')} steps, {about.get('dtype')} on {about.get('device')}",
            f"made      {about.get('date')} by dcnbio {about.get('dcnbio_version')}",
            f"command   {about.get('command')}",
        ]
    )
