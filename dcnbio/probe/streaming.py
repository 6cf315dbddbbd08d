"""Streams a recording's batches to a Zarr store, which several processes may fill together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xarray as xr
from tqdm.std import tqdm

from dcnbio.errors import RecordingError
from dcnbio.probe.batches import Job, run_batches
from dcnbio.probe.destination import Destination
from dcnbio.probe.overlap import one_behind
from dcnbio.probe.sharding import Shard, wait_for_others
from dcnbio.recording import Batch, RecordingWriter, open_recording

__all__ = ["counted", "open_shared", "stream"]

OVERTAKEN = "{} is complete: another process recorded the same batches and finished it, so nothing was left to do here"


def stream(job: Job, about: dict[str, Any], to: Destination, path: Path) -> None:
    """Write batches to a Zarr store while the next ones are computed."""
    with RecordingWriter(path, job.layout, about, overwrite=to.overwrite, resume=to.goes_on) as writer:
        if to.shard is not None:
            stream_shard(job, to, to.shard, writer)
            return
        if to.resume:
            to.say(f"{writer.images_done} of {job.layout.n} images are recorded already and are skipped")
        for name in writer.damaged:
            to.say(f"{name} is not as it was recorded and is computed again")
        batches = run_batches(job, frozenset(writer.done))
        with one_behind(writer.write) as write:
            for batch in counted(batches, job.layout.n, writer.images_done, to.progress):
                write(batch)
                if writer.overtaken:
                    break
        writer.finish()
        if writer.overtaken:
            to.say(OVERTAKEN.format(path))


def stream_shard(job: Job, to: Destination, shard: Shard, writer: RecordingWriter) -> None:
    """Write one process's batches, and publish the recording if these were the last."""
    shard.check(job.layout)
    others = shard.others(job.layout.batches)
    skipped = len(writer.done - others)
    to.say(f"shard {shard.number} of {shard.of}: {skipped} of {job.layout.batches - len(others)} batches are there")
    writer.start()
    shown = to.progress and shard.speaks
    with tqdm(total=job.layout.n, unit=" images", desc="probe", disable=not shown, leave=False) as bar:

        def look() -> None:
            bar.update(writer.images_recorded() - bar.n)

        with one_behind(writer.write) as write:
            for batch in run_batches(job, others | writer.done):
                write(batch)
                look()
                if writer.overtaken:
                    break
        if writer.overtaken:
            to.say(OVERTAKEN.format(writer.path))
        elif not writer.finish_if_last() and shard.launched and shard.speaks:
            wait_for_others(writer.path, look)


def open_shared(path: Path) -> xr.DataTree:
    """Open what there is so far, which says that it is not complete where other processes are still at work."""
    try:
        return open_recording(path, partial=True)
    except (RecordingError, OSError):  # another process has made it complete meanwhile
        return open_recording(path)


def counted(batches: Iterator[Batch], total: int, done: int, shown: bool) -> Iterator[Batch]:
    """Pass batches on and count their images on a bar."""
    with tqdm(total=total, initial=done, unit=" images", desc="probe", disable=not shown, leave=False) as bar:
        for batch in batches:
            bar.update(len(batch.logits))
            yield batch
