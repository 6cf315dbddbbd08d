"""Random and damaged bytes under every name a reader looks at: refused in words, or read, and nothing else."""

import contextlib
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dcnbio.errors import InputError
from dcnbio.images import ImageSet, read_images

NAMES = [
    "a.tar",
    "a.tar.gz",
    "a.tar.xz",
    "a.npz",
    "a.png",
    "a.jpg",
    "folder/a.png",
    "folder/test_batch",
    "folder/test_batch.bin",
]
HEADS = [b"", b"\x1f\x8b\x08\x00", b"\xfd7zXZ\x00", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"\x80\x02}q\x00(", b"BZh9"]


def read_or_refused(path):
    """Whether reading ended in one of the two ways it may."""
    with contextlib.suppress(InputError):
        return isinstance(read_images(path), ImageSet)
    return True


@given(st.sampled_from(NAMES), st.sampled_from(HEADS), st.binary(max_size=600))
@settings(deadline=None)
def test_random_bytes(name, head, data):
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(head + data)
        assert read_or_refused(path if path.parent == Path(place) else path.parent)


@pytest.mark.parametrize("meta", ["batches.meta", "batches.meta.txt"])
@given(data=st.binary(max_size=100))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
def test_random_class_names(official, meta, data):
    folder = official.python if meta == "batches.meta" else official.binary
    (folder / meta).write_bytes(data)
    assert read_or_refused(folder)


@pytest.mark.parametrize("kind", ["python", "binary", "python.tar.gz", "tar", "npz"])
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_damaged_files(official, tmp_path, kind, data):
    path = {
        "python": official.python / "test_batch",
        "binary": official.binary / "batches.meta.txt",
        "python.tar.gz": tmp_path / "cifar-10-python.tar.gz",
        "tar": tmp_path / "a.tar",
        "npz": tmp_path / "a.npz",
    }[kind]
    if not path.exists():
        made = {"python.tar.gz": lambda: official.archive("python"), "tar": official.plain_archive, "npz": official.npz}
        made[kind]()
    whole = path.read_bytes()
    damaged = bytearray(whole)
    small = data.draw(st.booleans())  # most structure lies at the start
    for _ in range(data.draw(st.integers(1, 5))):
        damaged[data.draw(st.integers(0, min(len(damaged), 300) - 1 if small else len(damaged) - 1))] = data.draw(
            st.integers(0, 255)
        )
    damaged = damaged[: data.draw(st.integers(len(damaged) // 2, len(damaged)))]
    path.write_bytes(damaged)
    try:
        assert read_or_refused(path.parent if kind in ("python", "binary") else path)
    finally:
        path.write_bytes(whole)


def test_reading_a_whole_file_is_not_what_the_others_rest_on(official):
    """The undamaged files of this module are read, so that a refusal there is one of the damage."""
    for path in (official.archive("python"), official.plain_archive(), official.npz()):
        np.testing.assert_array_equal(read_images(path).labels, official.labels["test"])
