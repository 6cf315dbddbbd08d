"""Real files of every kind, broken ones among them, through the command: each bad image concerns itself alone."""

import json

import numpy as np
import pytest
import xarray as xr
from PIL import Image

import dcnbio
from dcnbio.commands.app import run

OPTIONS = ["--times", "2", "--blocks", "3", "--integration-time", "0.2", "--json"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def picture(mode="RGB", seed=3):
    """A picture with structure, in one of Pillow's modes."""
    noise = np.random.default_rng(seed).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    return Image.fromarray(noise).convert(mode)


def images_of_all_kinds(folder):
    """Write readable files of every kind; give their names."""
    folder.mkdir(parents=True)
    picture("CMYK").save(folder / "cmyk.jpg", quality=95)
    picture("P").save(folder / "palette.png")
    picture("RGBA").save(folder / "alpha.png")
    turned = Image.Exif()
    turned[0x0112] = 6
    picture().save(folder / "turned.jpg", exif=turned, quality=95)
    wide = (np.asarray(picture("L")).astype(np.uint16) << 8) + 7
    Image.fromarray(wide).save(folder / "sixteen.png")
    return sorted(path.name for path in folder.iterdir())


def test_every_kind_of_file_is_recorded_as_the_rules_say(tmp_path, capfd):
    names = images_of_all_kinds(tmp_path / "set" / "cat")
    assert run(["probe", "--images", "set", "--out", "run.zarr", *OPTIONS]) == 0
    capfd.readouterr()
    tree = dcnbio.open("run.zarr")
    assert sorted(str(name).rpartition("/")[2] for name in tree["file"].values) == names
    assert np.isfinite(tree["block3"]["h"].values).all()
    data = dcnbio.load_images("set")
    at = {str(name).rpartition("/")[2]: data["image"].values[i] for i, name in enumerate(data["file"].values)}
    with Image.open(tmp_path / "set" / "cat" / "turned.jpg") as stored:
        upright = np.asarray(stored.transpose(Image.Transpose.ROTATE_270)).transpose(2, 0, 1) / np.float32(255)
    np.testing.assert_allclose(at["turned.jpg"], upright, atol=1e-6)
    wide = (np.asarray(picture("L")).astype(np.float64) * 256 + 7) / 65535
    np.testing.assert_allclose(at["sixteen.png"], np.broadcast_to(wide, (3, 32, 32)), atol=1e-6)
    exact = np.asarray(picture("P").convert("RGB")).transpose(2, 0, 1) / np.float32(255)
    np.testing.assert_allclose(at["palette.png"], exact, atol=1e-6)


def test_bad_members_are_named_and_the_others_are_as_without_them(tmp_path, capfd):
    folder = tmp_path / "set" / "cat"
    images_of_all_kinds(folder)
    assert run(["probe", "--images", "set", "--out", "good.zarr", *OPTIONS]) == 0
    (folder / "broken.png").write_bytes((folder / "palette.png").read_bytes()[:60])
    (folder / "mislabelled.png").write_bytes((folder / "cmyk.jpg").read_bytes()[:200])
    picture().resize((40, 40)).save(folder / "wide.png")
    capfd.readouterr()
    assert run(["probe", "--images", "set", "--out", "bad.zarr", *OPTIONS]) == 2
    err = capfd.readouterr().err
    assert all(name in err for name in ("broken.png", "mislabelled.png", "wide.png"))
    assert "Traceback" not in err
    assert not (tmp_path / "bad.zarr").exists()
    assert run(["probe", "--images", "set", "--out", "bad.zarr", "--broken", "mark", *OPTIONS]) == 3
    failed = json.loads(capfd.readouterr().out)["failed"]
    named = {entry["file"].rpartition("/")[2] for entry in failed}
    assert named == {"broken.png", "mislabelled.png", "wide.png"}
    assert all(entry["reason"] for entry in failed)
    good, bad = dcnbio.open("good.zarr"), dcnbio.open("bad.zarr")
    kept = bad["block3"]["status"].values == 0
    np.testing.assert_array_equal(bad["file"].values[kept], good["file"].values)
    np.testing.assert_array_equal(bad["block3"]["h"].values[kept], good["block3"]["h"].values)
    assert np.isnan(bad["block3"]["h"].values[~kept]).all()


def test_numbers_that_are_none_are_left_out_and_labels_are_kept(tmp_path, capfd):
    images = np.random.default_rng(0).random((4, 32, 32, 3)).astype(np.float32)
    images[1, 5, 5, 0], images[3] = np.nan, np.inf
    np.savez("a.npz", images=images, labels=np.array([3, 3, 9, 0]))
    assert run(["probe", "--images", "a.npz", "--out", "run.zarr", *OPTIONS]) == 3
    found = json.loads(capfd.readouterr().out)
    assert [entry["stimulus"] for entry in found["failed"]] == [1, 3]
    tree = dcnbio.open("run.zarr")
    assert tree["label"].values.tolist() == [3, 3, 9, 0]
    assert np.isfinite(tree["logits"].values[[0, 2]]).all()
    assert isinstance(tree, xr.DataTree)
