"""The shipped images, the manifest that vouches for them, and the file that finds both."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dcnbio.errors import InputError
from dcnbio.images import read_images, shipped
from dcnbio.images.manifest import build_manifest, write_manifest
from dcnbio.images.shipped import _checked, data_root

NAME = "images/cifar10_test_1000.npz"
SHA256 = "447d7014888264324eda2bc8d2a3431ff6fbc06e5c320704b118d1d001034a23"


def test_the_manifest_names_every_shipped_file_and_its_sum():
    assert json.loads((data_root() / "MANIFEST.json").read_text()) == build_manifest(data_root())


def test_the_shipped_images_are_the_ones_the_card_describes():
    path = shipped(NAME)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == SHA256
    assert SHA256 in path.with_name("README.md").read_text(encoding="utf-8")
    with np.load(path) as held:
        assert (held["images"].shape, held["images"].dtype) == ((1000, 32, 32, 3), np.uint8)
        np.testing.assert_array_equal(held["labels"], np.tile(np.arange(10), 100))
        assert held["files"][[0, 11, 999]].tolist() == [
            "test/airplane/0000.jpg",
            "test/automobile/0001.jpg",
            "test/truck/0099.jpg",
        ]


def test_no_source_means_the_shipped_images():
    found = read_images(as_uint8=True)
    with np.load(shipped(NAME)) as held:
        np.testing.assert_array_equal(found.images, held["images"].transpose(0, 3, 1, 2))
    assert "JPEG copies" in found.notices[0]


def test_no_training_images_are_shipped():
    with pytest.raises(InputError, match="only test images come with dcnbio"):
        read_images(split="train")


def test_an_unknown_name_lists_what_is_there():
    with pytest.raises(
        InputError, match=r"no file 'images/none.npz' is shipped with dcnbio; there are .*cifar10_test_1000"
    ):
        shipped("images/none.npz")


@pytest.mark.parametrize("name", ["../pyproject.toml", "/etc/passwd", "MANIFEST.json"])
def test_only_files_of_the_manifest_are_given(name):
    with pytest.raises(InputError, match=r"no file .* is shipped with dcnbio"):
        shipped(name)


def test_a_changed_or_missing_file_is_refused(tmp_path):
    for name in ("changed", "gone"):
        (tmp_path / name).write_text("whole")
    write_manifest(tmp_path)
    (tmp_path / "changed").write_text("other")
    (tmp_path / "gone").unlink()
    with pytest.raises(InputError, match=r"changed has SHA-256 .* where the manifest says .* install dcnbio again"):
        _checked(tmp_path, "changed")
    with pytest.raises(InputError, match="gone belongs to dcnbio but is missing"):
        _checked(tmp_path, "gone")
    (tmp_path / "MANIFEST.json").write_text("[1")
    with pytest.raises(InputError, match=r"MANIFEST\.json cannot be read"):
        _checked(tmp_path, "other")


def test_the_manifest_passes_over_itself_and_hidden_files(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.txt").write_text("a")
    (tmp_path / ".hidden").write_text("b")
    written = json.loads(write_manifest(tmp_path).read_text())
    assert written == {"below/a.txt": hashlib.sha256(b"a").hexdigest()}
    assert build_manifest(tmp_path) == written
    assert sorted(path.name for path in tmp_path.iterdir()) == [".hidden", "MANIFEST.json", "below"]


def test_reading_needs_neither_torch_nor_xarray():
    code = (
        "import sys; from dcnbio.images.read import read_images; read_images(); "
        "print([name for name in ('torch', 'xarray', 'scipy', 'PIL', 'matplotlib') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_finding_shipped_files_needs_the_standard_library_alone():
    text = Path(data_root.__code__.co_filename).read_text(encoding="utf-8")
    imported = [line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))]
    assert set(imported) <= {"__future__", "functools", "hashlib", "json", "pathlib", "dcnbio.errors"}
