"""The shard of h that holds one batch: its chunks, its file, and the Zarr array it belongs to."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Protocol

import google_crc32c
import numpy as np
import numpy.typing as npt
import zarr
from zarr.codecs import Crc32cCodec

from dcnbio.recording.record import hidden_state
from dcnbio.recording.schema import BlockLayout, RecordingLayout
from dcnbio.recording.stamps import NO_CHUNK, Stamp, shard_stamp
from dcnbio.recording.variables import state_attributes

__all__ = ["ChunkPlan", "create_array", "plan_chunks", "shard_name", "write_shard"]

TARGET_BYTES = 8_000_000
LEAST_BYTES = 1_000_000
MOST_BYTES = 64_000_000
ACCEPTED_SPAN = 4

# Measured on 242 MB of dcn-ode's block 1 (100 images, 21 times, float32), two busy cores: 1080 MB/s written and flushed
# uncompressed, lz4 level 1 with byte shuffle 515 MB/s for 11 % less, zstd level 1 190 MB/s for 14 % less, zstd level 5
# for 19 %. Mantissas of feature maps are noise, so compression buys little and takes the solver's cores; a checksum in
# each chunk costs 0.1 ms per MB and lets every Zarr reader see a flipped bit.
CHECKSUM = Crc32cCodec()


class Sink(Protocol):
    """Whatever takes bytes."""

    def write(self, data: bytes | memoryview[Any], /) -> object:
        """Take bytes after those before."""


@dataclasses.dataclass(frozen=True)
class ChunkPlan:
    """How a block's h is cut: a shard for each batch, chunks of images within it.

    Parameters
    ----------
    images : int
        Images in a shard, the batch.
    chunk_images, chunk_times : int
        Images and times in a chunk.
    times : int
        Times in a shard: those of the block, rounded up to whole chunks.

    Examples
    --------
    >>> ChunkPlan(100, 2, 21, 21).chunks
    50
    """

    images: int
    chunk_images: int
    chunk_times: int
    times: int

    @property
    def chunks(self) -> int:
        """Number of chunks in a shard."""
        return (self.images // self.chunk_images) * (self.times // self.chunk_times)


def plan_chunks(layout: RecordingLayout, block: BlockLayout) -> ChunkPlan:
    """Choose chunks near 8 MB: whole images where they fit, else one image in several spans of time.

    Parameters
    ----------
    layout : RecordingLayout
        Gives the batch, which is the shard.
    block : BlockLayout
        Gives the size of an image.

    Returns
    -------
    ChunkPlan
        Chunks of 1 to 64 MB wherever a batch has that much and its length a divisor that allows it.

    Examples
    --------
    >>> block = BlockLayout("block1", np.linspace(0, 2, 21), (32, 30, 30))
    >>> layout = RecordingLayout(np.arange(1000), np.zeros(1000), [""] * 1000, ["cat"], [block], 100)
    >>> plan_chunks(layout, block)
    ChunkPlan(images=100, chunk_images=2, chunk_times=21, times=21)
    """
    images = min(layout.batch_size, layout.n)
    times = int(block.times.size)
    if block.image_bytes > MOST_BYTES:
        span = max(1, TARGET_BYTES * times // block.image_bytes)
        return ChunkPlan(images, 1, span, -(-times // span) * span)
    # few steps to a chunk, so that room which no image needs takes none on the disk
    span = min(ACCEPTED_SPAN, times) if block.accepted else times
    span_bytes = block.image_bytes * span // times
    sizes = {d: d * span_bytes for d in range(1, images + 1) if images % d == 0}
    fitting = [d for d, size in sizes.items() if size <= TARGET_BYTES] or [1]
    chosen = fitting[-1]
    if sizes[chosen] < LEAST_BYTES:
        larger = [d for d, size in sizes.items() if LEAST_BYTES <= size <= MOST_BYTES]
        chosen = larger[0] if larger else chosen
    return ChunkPlan(images, chosen, span, -(-times // span) * span)


def shard_name(index: int) -> str:
    """Name of the file of one batch inside h's folder.

    Examples
    --------
    >>> shard_name(3)
    'c.3.0.0.0.0'
    """
    return f"c.{index}.0.0.0.0"


def create_array(folder: Path, layout: RecordingLayout, block: BlockLayout) -> None:
    """Create a block's group and the metadata of its h; no value is written.

    Parameters
    ----------
    folder : Path
        The block's folder in the store.
    layout : RecordingLayout
        Gives the number of stimuli and the batches.
    block : BlockLayout
        Gives shape and type.
    """
    group = zarr.open_group(folder, mode="w", zarr_format=3)
    if not block.store_h:
        return
    plan = plan_chunks(layout, block)
    group.create_array(
        "h",
        shape=(layout.n, int(block.times.size), *block.shape),
        dtype=block.dtype,
        chunks=(plan.chunk_images, plan.chunk_times, *block.shape),
        shards=(plan.images, plan.times, *block.shape),
        compressors=CHECKSUM,
        # what was never written must not read as zeros, which are data
        fill_value=np.nan,
        # one file for a batch and no folders: 10,000 images are hundreds of files
        chunk_key_encoding={"name": "default", "separator": "."},
        dimension_names=("stimulus", "time", "channel", "y", "x"),
        attributes={**state_attributes(block.dtype)},
    )


def write_shard(file: Sink, h: npt.NDArray[Any], block: BlockLayout, plan: ChunkPlan) -> Stamp:
    """Write one batch of h as a shard of the Zarr 3 sharding codec, chunk by chunk.

    Zarr's own writer holds the encoded shard twice in memory (0.5 GB for a batch of block 1), is three times slower,
    skips chunks of NaN by default and gives no checksum; the format is a public specification and Zarr reads it back.

    Parameters
    ----------
    file : binary file
        Open for writing, empty; or whatever has its `write`.
    h : array [image, time, channel, y, x]
        Hidden state of the batch.
    block : BlockLayout
        Gives the type stored.
    plan : ChunkPlan
        Gives the chunks.

    Returns
    -------
    Stamp
        Of what was written.

    Raises
    ------
    RecordingError
        When a value does not fit the stored type.
    """
    shape = (plan.chunk_images, plan.chunk_times, *block.shape)
    dtype = np.dtype(block.dtype).newbyteorder("<")
    index = np.full((plan.chunks, 2), NO_CHUNK, dtype="<u8")
    offset, checks = 0, bytearray()
    starts = [(i, t) for i in range(0, plan.images, shape[0]) for t in range(0, plan.times, shape[1])]
    for number, (image, time) in enumerate(starts):
        part = h[image : image + shape[0], time : time + shape[1]]
        # an accepted step that no image took is not stored; it reads as the fill value, NaN, which it is
        if part.size == 0 or (block.accepted and bool(np.isnan(part).all())):
            continue
        chunk = hidden_state(part, block).astype(dtype, copy=False)
        if chunk.shape != shape:
            whole = np.full(shape, np.nan, dtype=dtype)
            whole[: chunk.shape[0], : chunk.shape[1]] = chunk
            chunk = whole
        # an array, not a memoryview, which the checksum does not take; nothing is copied
        data = chunk.reshape(-1).view(np.uint8)
        check = google_crc32c.value(data).to_bytes(4, "little")
        file.write(data.data)
        file.write(check)
        checks += check
        index[number] = offset, data.nbytes + len(check)
        offset += data.nbytes + len(check)
    places = index.tobytes()
    footer = places + google_crc32c.value(places).to_bytes(4, "little")
    file.write(footer)
    return shard_stamp(offset + len(footer), bytes(checks), places, plan.chunks)
