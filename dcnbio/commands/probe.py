"""``dcnbio probe``: record h(t) of a checkpoint's blocks on images."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from dcnbio.commands.images import ImageOptions, open_images
from dcnbio.commands.interruption import ends_with
from dcnbio.commands.intervention_option import Interventions
from dcnbio.commands.named_checkpoints import short_name
from dcnbio.commands.network import open_network
from dcnbio.commands.options import (
    WHAT,
    WHERE,
    Blocks,
    Channels,
    Checkpoint,
    Fill,
    IntegrationTime,
    Json,
    Model,
    Reduce,
    Times,
    Window,
    block_list,
    channels_option,
    fill_value,
    flag,
    name_list,
    times_option,
    window_option,
)
from dcnbio.commands.output import Speaker, command_text, complain
from dcnbio.commands.patch_option import Patches, patch_option
from dcnbio.commands.probe_report import failure_lines, probe_report, probe_summary
from dcnbio.commands.solver_options import How
from dcnbio.errors import InputError, SolverError
from dcnbio.probe.class_labels import untrained_classes, with_labels_of

if TYPE_CHECKING:
    from dcnbio.model.network import Network
    from dcnbio.probe.settings import ProbeSettings
    from dcnbio.probe.stimuli import Stimuli

__all__ = ["probe"]

LARGE = 4e9  # bytes; above this a recording needs --yes
COUPLED = 16  # images whose coupling is reported with shared steps


@Parameter(name="*", group=WHAT)
@dataclass(frozen=True)
class What:
    """What is recorded."""

    checkpoint: Checkpoint = "dcn-ode"
    model: Model = None
    integration_time: IntegrationTime = None
    times: Times = "21"
    blocks: Blocks = None
    channels: Channels = None
    window: Window = None
    reduce: Reduce = None
    no_maps: Annotated[bool, flag("Leave h out and keep the rest: logits, the solver's work, reductions.")] = False
    storage: Annotated[
        Literal["float16", "float32", "float64"] | None,
        Parameter(help="Type in which h is stored; --dtype if left out."),
    ] = None
    mask: Annotated[int | None, Parameter(help="Side in pixels of a central square that is hidden.")] = None
    fill: Fill = "0"
    contrast: Annotated[float, Parameter(help="The images are multiplied by it.")] = 1.0
    patch: Patches = ()
    intervention: Interventions = ()


@Parameter(name="*", group=WHERE)
@dataclass(frozen=True)
class Where:
    """Where it goes."""

    out: Annotated[Path | None, Parameter(help="A .zarr store or .nc file; else CHECKPOINT.zarr here.")] = None
    overwrite: Annotated[bool, flag("Replace a recording that is there.")] = False
    resume: Annotated[bool, flag("Go on with an unfinished recording.")] = False
    shard: Annotated[
        str | None,
        Parameter(help="i/n: this process's part of a store that n processes fill; torchrun sets it by itself."),
    ] = None
    yes: Annotated[bool, flag("Write more than 4 GB without asking.")] = False
    json: Json = False


ANY_IMAGES, ANYTHING, ANYHOW, ANYWHERE = ImageOptions(), What(), How(), Where()


def target(what: What, where: Where, shard: bool) -> Path:
    """Choose the file, and refuse one that cannot be written, before any work is done."""
    from dcnbio.recording import check_target

    out = where.out or Path(f"{short_name(what.checkpoint) or 'run'}.zarr")
    if shard and where.overwrite:
        raise InputError(
            f"overwrite (--overwrite) is given with several processes, none of which knows whose {out} it would "
            "replace; remove the old one first, or choose another name."
        )
    check_target(out, overwrite=where.overwrite, resume=where.resume or shard)
    folder = out.absolute().parent
    while not os.path.lexists(folder):
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{out} cannot be written: {folder} is no folder that you may write in; choose another place.")
    return out


def settings_from(what: What, how: How) -> ProbeSettings:
    """Gather and check the settings of a recording."""
    from dcnbio.probe.settings import settings_of

    return settings_of(
        {
            **vars(how),
            "times": times_option(what.times),
            "blocks": block_list(what.blocks),
            "channels": channels_option(what.channels),
            "window": window_option(what.window),
            "reductions": name_list(what.reduce),
            "maps": not what.no_maps,
            "storage": what.storage,
            "mask": what.mask,
            "fill": fill_value(what.fill),
            "contrast": what.contrast,
            "patch": [patch_option(text) for text in what.patch],
        }
    )


def estimated_size(net: Network, stimuli: Stimuli, settings: ProbeSettings, yes: bool) -> str:
    """Estimate the size of a recording; refuse a large one that was not agreed to."""
    from dcnbio.probe.plan import plan
    from dcnbio.probe.stimuli import prepared_images
    from dcnbio.recording import estimate_bytes, human_bytes

    prepared_images(stimuli.first(1), settings)  # for its refusals, before a line is printed
    size = estimate_bytes(plan(net, stimuli, settings))
    if size > LARGE and not yes:
        raise InputError(
            f"this recording would take {human_bytes(size)}; pass --yes to write it, or choose fewer images (--limit), "
            "times (--times), blocks (--blocks) or channels (--channels), or numbers in place of maps (--reduce with "
            "--no-maps)."
        )
    return f"{'at most' if settings.accepted else 'about'} {human_bytes(size)}"


def what_is_kept(out: Path) -> str:
    """Say what an interrupted run leaves behind."""
    from dcnbio.errors import RecordingError
    from dcnbio.recording import describe

    try:
        found = describe(out)
    except RecordingError:
        return f"nothing of {out} is written yet"
    if found["complete"]:
        return f"{out} is complete"
    return f"{found['done']} of {found['total']} images are finished and kept in {out}; go on with --resume"


def coupling_of(net: Network, stimuli: Stimuli, settings: ProbeSettings) -> tuple[dict[str, Any] | None, str]:
    """Say how far shared steps let images move each other."""
    from dcnbio.probe.coupling import batch_coupling

    try:
        coupling = batch_coupling(net, stimuli, settings, COUPLED)
    except SolverError as error:
        return None, str(error)
    return vars(coupling), str(coupling)


def no_accuracy(classes: list[str]) -> list[str]:
    """Say of images of classes that the network was not trained on that they give no accuracy."""
    named = ", ".join(classes[:10])
    return (
        [f"the network was not trained on {named} ({len(classes)} in all), so there is no accuracy"] if classes else []
    )


def probe(
    *,
    what: What = ANYTHING,
    image_options: ImageOptions = ANY_IMAGES,
    how: How = ANYHOW,
    where: Where = ANYWHERE,
) -> int:
    """Record the trajectories h(t) of a network's blocks on images, into a labelled file.

    Without options: the shipped dcn-ode on 100 of the shipped images, ten of each class.
    """
    from dcnbio.probe.sharding import shard_of

    shard = shard_of(where.shard)
    out = target(what, where, shard is not None)
    settings = settings_from(what, how)
    from dcnbio.probe.record import Destination, record
    from dcnbio.probe.stimuli import as_stimuli

    speaker = Speaker(where.json, quiet=shard is not None and not shard.speaks)
    opened = open_network(what.checkpoint, what.model, what.integration_time, what.intervention)
    data = open_images(image_options)
    other = untrained_classes(opened.net, data)
    stimuli = as_stimuli(data if other else with_labels_of(opened.net, data))
    size = estimated_size(opened.net, stimuli, settings, where.yes)
    speaker.say(f"network   {what.checkpoint}: {opened}")
    speaker.say(f"images    {len(stimuli)} of {stimuli.source}")
    speaker.say(f"writing   {size} to {out}")
    notices = [*opened.notices, *json.loads(data.attrs["notices"]), *no_accuracy(other)]
    for notice in notices:
        speaker.note(notice)
    command = command_text(sys.argv[1:])
    to = Destination(out, where.overwrite, where.resume, speaker.shows_progress, command, speaker.say, shard)
    with ends_with(lambda: what_is_kept(out)):
        tree = record(opened.net, stimuli, settings, to)
    same_classes = not other and len(stimuli.class_names) == opened.net.spec.classes
    found = {**probe_summary(tree, out, same_classes), "notices": notices}
    if speaker.quiet:
        return 0  # the first of the processes speaks for all
    if not found["complete"]:
        speaker.say(f"{out} holds {found['images']} of {len(stimuli)} images so far; the last shard makes it complete")
    if how.stepping == "shared":
        found["coupling"], sentence = coupling_of(opened.net, stimuli, settings)
        speaker.say(sentence)
    speaker.give(found, probe_report(found))
    for line in failure_lines(found["failed"]):
        complain(line)
    return 3 if found["failed"] else 0
