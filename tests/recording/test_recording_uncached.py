from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from dcnbio.recording import uncached
from dcnbio.recording.uncached import BLOCK, UncachedFile


@pytest.fixture
def small_buffer(monkeypatch):
    monkeypatch.setattr(uncached, "BUFFER", 2 * BLOCK)


@pytest.mark.usefixtures("small_buffer")
@pytest.mark.parametrize("sizes", [[], [0], [5], [BLOCK], [2 * BLOCK], [2 * BLOCK + 1], [3, 5 * BLOCK, 7, BLOCK - 10]])
def test_the_bytes_are_there_in_their_order(tmp_path, sizes):
    data = [np.random.default_rng(size).bytes(size) for size in sizes]
    with open(tmp_path / "file", "xb") as file, UncachedFile(file.fileno()) as past:
        for piece in data:
            past.write(piece)
    assert (tmp_path / "file").read_bytes() == b"".join(data)


@pytest.mark.usefixtures("small_buffer")
def test_a_disk_that_wants_other_blocks_gets_ordinary_writes(tmp_path, monkeypatch):
    data = np.random.default_rng(0).bytes(5 * BLOCK + 3)
    original, lengths = os.write, []

    def choosy(descriptor, piece):
        lengths.append(len(piece))
        if len(lengths) == 2:  # cuts a write short
            return original(descriptor, piece[:100])
        if len(lengths) == 3:  # and does not take the rest
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return original(descriptor, piece)

    monkeypatch.setattr(uncached, "bypass_cache", lambda descriptor, wanted: wanted)
    monkeypatch.setattr(os, "write", choosy)
    with open(tmp_path / "file", "xb") as file, UncachedFile(file.fileno()) as past:
        past.write(data)
    monkeypatch.undo()
    assert (tmp_path / "file").read_bytes() == data
    assert lengths[1:4] == [2 * BLOCK, 2 * BLOCK - 100, 2 * BLOCK - 100]


@pytest.mark.usefixtures("small_buffer")
def test_an_ordinary_write_that_is_refused_is_no_loop(tmp_path, monkeypatch):
    def refused(descriptor, piece):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(os, "write", refused)
    with (
        pytest.raises(OSError, match="Invalid argument"),
        open(tmp_path / "file", "xb") as file,
        UncachedFile(file.fileno()) as past,
    ):
        past.write(bytes(3 * BLOCK))
