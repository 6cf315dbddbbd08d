"""What identifies the contents of a stored file: its size, and a checksum of the checksums of its chunks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import google_crc32c
import numpy as np

__all__ = ["Stamp", "is_whole", "shard_stamp", "stamp_from_json", "stamp_of_chunk", "stamp_to_json", "whole_file_stamp"]

CHECK = 4  # bytes of a stored CRC-32C
PLACE = 16  # bytes that an index has for each chunk: offset and length
PIECE = 1 << 22
NO_CHUNK = 2**64 - 1


@dataclass(frozen=True)
class Stamp:
    """The size of a file and a checksum that tells its contents.

    Every chunk ends with its own CRC-32C, and the CRC-32C of bytes with their CRC-32C behind them is one constant,
    whatever the bytes are. So the CRC-32C of a whole file is the same for all files of one shape, and what tells two
    recordings' files apart is the CRC-32C of the chunks' checksums and of the index that says which chunks there are.

    Attributes
    ----------
    size : int
        Bytes.
    crc : int
        CRC-32C of the chunks' checksums, in the order of the file, and of the index before its own checksum; of the
        whole file where `chunks` is None.
    chunks : int or None
        Places in the shard's index; 0: the file is one chunk and has no index; None: the first rule of this format,
        which finds damage, but not another recording's file of the same shape.

    Examples
    --------
    >>> stamp_from_json([104, 7]).chunks is None
    True
    """

    size: int
    crc: int
    chunks: int | None


def stamp_to_json(stamp: Stamp) -> dict[str, int] | list[int]:
    """Give plain values; their form says by which rule they were made.

    Examples
    --------
    >>> stamp_to_json(Stamp(104, 7, 1)), stamp_to_json(Stamp(104, 7, None))
    ({'size': 104, 'crc32c_of_checksums': 7, 'chunks': 1}, [104, 7])
    """
    if stamp.chunks is None:
        return [stamp.size, stamp.crc]
    return {"size": stamp.size, "crc32c_of_checksums": stamp.crc, "chunks": stamp.chunks}


def stamp_from_json(value: Any) -> Stamp:
    """Read plain values of either rule.

    Raises
    ------
    KeyError, TypeError, ValueError
        When they are something else.
    """
    if isinstance(value, dict):
        return Stamp(int(value["size"]), int(value["crc32c_of_checksums"]), int(value["chunks"]))
    size, crc = value
    return Stamp(int(size), int(crc), None)


def shard_stamp(size: int, checks: bytes, index: bytes, chunks: int) -> Stamp:
    """Stamp a shard that is being written, of what its writer has at hand.

    Parameters
    ----------
    size : int
        Bytes of the file.
    checks : bytes
        The chunks' stored checksums, one behind the other.
    index : bytes
        The index without its own checksum.
    chunks : int
        Places in it.
    """
    return Stamp(size, google_crc32c.extend(google_crc32c.value(checks), index), chunks)


def stamp_of_chunk(path: Path) -> Stamp:
    """Stamp a file that is one chunk and has just been written.

    Raises
    ------
    OSError
        When it cannot be read.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - CHECK))
        return shard_stamp(size, file.read(CHECK), b"", 0)


def whole_file_stamp(path: Path) -> Stamp:
    """Stamp a file by the first rule, the CRC-32C of all its bytes.

    Raises
    ------
    OSError
        When it cannot be read.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        return Stamp(size, crc_of(file, size), None)


def crc_of(file: BinaryIO, length: int) -> int:
    """CRC-32C of the next bytes of a file, read in pieces."""
    crc = 0
    while length and (piece := file.read(min(PIECE, length))):
        crc = google_crc32c.extend(crc, piece)
        length -= len(piece)
    return crc


def is_whole(path: Path, stamp: Stamp, read: bool) -> bool:
    """Whether a file is the one that was stamped.

    Parameters
    ----------
    path : Path
    stamp : Stamp
    read : bool
        Read every byte; otherwise the size is compared alone.

    Returns
    -------
    bool
        False also where there is no such file.
    """
    try:
        if path.stat().st_size != stamp.size:
            return False
        if not read:
            return True
        if stamp.chunks is None:
            return whole_file_stamp(path) == stamp
        with open(path, "rb") as file:
            return contents(file, stamp.size, stamp.chunks) == stamp
    except OSError:
        return False


def contents(file: BinaryIO, size: int, chunks: int) -> Stamp | None:
    """Stamp a file by what is in it; None where a chunk or the index is not what its own checksum says."""
    spans = [(0, size)]
    index = b""
    if chunks:
        start = size - CHECK - PLACE * chunks
        if start < 0 or not matches(file, start, size - start):
            return None
        file.seek(start)
        index = file.read(PLACE * chunks)
        places = np.frombuffer(index, dtype="<u8").reshape(-1, 2).tolist()
        spans = [(offset, length) for offset, length in places if offset != NO_CHUNK]
    checks = bytearray()
    for offset, length in spans:
        if length < CHECK or offset + length > size or not matches(file, offset, length):
            return None
        file.seek(offset + length - CHECK)
        checks += file.read(CHECK)
    return shard_stamp(size, bytes(checks), index, chunks)


def matches(file: BinaryIO, offset: int, length: int) -> bool:
    """Whether a part of a file ends with the CRC-32C of what is before."""
    file.seek(offset)
    own = crc_of(file, length - CHECK)
    return file.read(CHECK) == own.to_bytes(CHECK, "little")
