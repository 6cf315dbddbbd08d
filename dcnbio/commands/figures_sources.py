"""What ``dcnbio figures`` makes figures of: what a person named, and what lies beside it."""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dcnbio.commands.about_decoder import holds_decoder
from dcnbio.commands.named_checkpoints import RUN_CHECKPOINT, short_name
from dcnbio.errors import CheckpointError, InputError

if TYPE_CHECKING:
    from dcnbio.figures.export.sources import Source

__all__ = ["made", "sources_of"]

RECONSTRUCTED = 10  # images, one of each class


def sources_of(name: str, model: str | None = None, only: Sequence[str] = ()) -> list[Source]:
    """Open what a person named; the folder of a finished run gives its checkpoint too.

    Of reconstructions, which take seconds, the result is still to be `made`: names of files are known without it.

    Parameters
    ----------
    name : str
        A recording, a result, a run's folder or metrics, a checkpoint or a decoder.
    model : str, optional
        The row of a public .pth.
    only : sequence of str
        Figures that are wanted; all by default. What no other needs is not computed.
    """
    from dcnbio.figures.export.sources import open_source
    from dcnbio.model.loading import find_checkpoint

    opened = open_source(name)
    pictures = not only or "reconstructions" in only
    if opened is not None:
        checkpoint = Path(name) / RUN_CHECKPOINT
        if opened.kind != "run" or not checkpoint.is_file():
            return [opened]
        if holds_decoder(checkpoint):
            return [opened, *([reconstructions(checkpoint)] if pictures else [])]
        return [opened, checkpoint_source(str(checkpoint), model, opened.name)]
    path = find_checkpoint(name)
    if holds_decoder(path):
        return [*training_beside(path), *([reconstructions(path)] if pictures else [])]
    return [
        checkpoint_source(name, model),
        *training_beside(path),
        *(shipped_reconstructions(path) if pictures else []),
    ]


def training_beside(path: Path) -> list[Source]:
    """Open the metrics of its training that lie beside a checkpoint: under its name, or in the folder of its run."""
    from dcnbio.figures.export.sources import open_source

    metrics = path.with_name(f"{path.stem}.metrics.csv")
    if path.name == RUN_CHECKPOINT and not metrics.is_file():
        metrics = path.with_name("metrics.csv")
    found = open_source(metrics) if metrics.is_file() else None
    return [] if found is None else [found]


def shipped_reconstructions(path: Path) -> list[Source]:
    """Reconstruct images with the decoder that ships for a shipped network, where one does."""
    from dcnbio.model.loading import find_checkpoint, find_decoder, shipped_decoders, shipped_names

    name = path.stem
    if name not in shipped_decoders() or name not in shipped_names() or path != find_checkpoint(name):
        return []
    try:
        return [reconstructions(find_decoder(name))]
    except InputError as error:
        print(f"reconstructions are left out: {error}", file=sys.stderr)
        return []


def made(source: Source) -> Source:
    """Work a result out that is still to be made, by the function that stands in its place."""
    return dataclasses.replace(source, result=source.result()) if callable(source.result) else source


def reconstructions(decoder: Path) -> Source:
    """Prepare to reconstruct shipped images from the maps of the network that a decoder was trained on.

    Raises
    ------
    InputError
        If that network does not ship, or ships with other weights.
    """
    from dcnbio.figures.export.sources import Source, content_hash
    from dcnbio.images import load_images
    from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint
    from dcnbio.model.encoder_match import refuse_other_encoder
    from dcnbio.model.loading import load
    from dcnbio.probe.reconstructed_images import reconstruct

    loaded = load_decoder_checkpoint(decoder)
    encoder = str(loaded.source.get("encoder") or decoder.stem)
    try:
        net = load(encoder)
    except CheckpointError as error:
        raise InputError(f"{decoder} is a decoder of the network {encoder}, which is not here: {error}") from error
    refuse_other_encoder(loaded, net)
    images = load_images(limit=RECONSTRUCTED)
    later = functools.partial(reconstruct, net, loaded, images, batch_size=RECONSTRUCTED, progress=True)
    return Source("reconstructions", later, short_name(decoder), content_hash(decoder), str(decoder))


def checkpoint_source(name: str, model: str | None, called: str = "") -> Source:
    """Read the filters of a checkpoint; of a network without SRF layers, its spec."""
    from dcnbio.figures.export.sources import Source, content_hash
    from dcnbio.model.loading import find_checkpoint, load
    from dcnbio.probe.filters import checkpoint_filters

    path = find_checkpoint(name)
    called = called or short_name(path)
    try:
        filters = checkpoint_filters(path, model)
    except CheckpointError:
        raise
    except InputError:  # free pixel weights have no scale
        return Source("spec", load(path, model).spec, called, content_hash(path), str(path))
    filters.attrs["name"] = called
    return Source("filters", filters, called, content_hash(path), str(path))
