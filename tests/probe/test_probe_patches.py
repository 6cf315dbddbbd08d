"""Interventions in a recording: from an array or another recording, named in its provenance, image by image."""

import json
import re

import numpy as np
import pytest
import torch
import xarray as xr

import dcnbio
from dcnbio import Patch
from dcnbio.errors import InputError, RecordingError
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import Status

TIMES = [0.0, 0.5, 1.0, 2.0]


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(5).random((6, 3, 32, 32), dtype=np.float32)


@pytest.fixture(scope="module")
def plain(small_net, images):
    return dcnbio.probe(small_net, images, times=TIMES, batch_size=4)


def patched(net, images, patch, **options):
    return dcnbio.probe(net, images, **{"times": TIMES, "batch_size": 4, "patch": patch, **options})


@pytest.mark.parametrize("stepping", ["per-image", "shared"])
def test_a_recording_is_what_the_network_does_with_the_patches(small_net, images, stepping):
    patches = [Patch(1, 0.5, "ablate", channels=[2]), Patch(2, 1.0, "scale", 0.5)]
    tree = patched(small_net, images, patches, stepping=stepping, batch_size=6)
    with torch.no_grad():
        run = small_net.run(torch.from_numpy(images), SolverSettings(stepping=stepping), TIMES, patches)
    np.testing.assert_array_equal(tree["logits"], run.logits)
    for name, block in zip(("block1", "block2"), run.blocks, strict=True):
        np.testing.assert_array_equal(tree[name]["h"], block.path)
        np.testing.assert_array_equal(tree[name]["nfe"], block.work.nfe)
    assert (tree["block1"]["h"].values[:, 1, 2] == 0).all()
    assert tree["block1"]["h"].values[:, 2, 2].any()


def test_before_the_patch_nothing_changes_and_after_it_the_rest_does(small_net, images, plain):
    tree = patched(small_net, images, Patch(2, 1.0, "set", 0.0, region=(slice(0, 5), slice(None))))
    np.testing.assert_array_equal(tree["block1"]["h"], plain["block1"]["h"])
    np.testing.assert_allclose(tree["block2"]["h"].values[:, :2], plain["block2"]["h"].values[:, :2], atol=5e-3)
    assert (tree["block2"]["h"].values[:, 2, :, :5] == 0).all()
    np.testing.assert_allclose(
        tree["block2"]["h"].values[:, 2, :, 5:], plain["block2"]["h"].values[:, 2, :, 5:], atol=5e-3
    )
    assert np.abs(tree["logits"].values - plain["logits"].values).max() > 1e-3


@pytest.mark.parametrize("where", ["memory", "intact.zarr", "intact.nc"])
def test_another_recording_gives_its_maps_to_the_region(small_net, images, plain, tmp_path, where):
    masked = images.copy()
    masked[:, :, 8:24, 8:24] = 0
    intact = plain
    if where != "memory":
        intact = dcnbio.probe(small_net, images, times=TIMES, batch_size=4, out=tmp_path / where)
    region = np.zeros((30, 30), bool)
    region[7:23, 7:23] = True
    tree = patched(small_net, masked, Patch(1, 1.0, "replace", intact, region=region))
    before = dcnbio.probe(small_net, masked, times=TIMES, batch_size=4)["block1"]["h"].values
    found, own = tree["block1"]["h"].values[:, 2], plain["block1"]["h"].values[:, 2]
    np.testing.assert_array_equal(found[..., region], own[..., region])
    np.testing.assert_allclose(found[..., ~region], before[:, 2][..., ~region], atol=5e-3)
    whole = patched(small_net, masked, Patch(1, 1.0, "replace", intact))
    np.testing.assert_allclose(whole["logits"], plain["logits"], atol=2e-2)
    by_array = patched(small_net, masked, Patch(1, 1.0, "replace", plain["block1"]["h"].values[:, 2], region=region))
    for block in ("block1", "block2"):
        np.testing.assert_array_equal(by_array[block]["h"], tree[block]["h"])


def test_a_part_of_a_recording_is_enough_for_a_patch_of_that_part(small_net, images, plain):
    part = dcnbio.probe(small_net, images, times=TIMES, batch_size=4, channels=[3], window=":8,:8", blocks=[1])
    corner = (slice(0, 8), slice(0, 8))
    found = patched(small_net, images[::-1].copy(), Patch(1, 0.5, "replace", part, channels=[3], region=corner))
    expected = plain["block1"]["h"].values[:, 1, 3, :8, :8]
    np.testing.assert_array_equal(found["block1"]["h"].values[:, 1, 3, :8, :8], expected)
    with pytest.raises(InputError, match="holds a part of block1 alone, and the patch takes more"):
        patched(small_net, images, Patch(1, 0.5, "replace", part))


def test_an_image_whose_patch_is_no_number_is_left_out_alone(small_net, images, plain):
    value = plain["block1"]["h"].values[:, 1].copy()
    value[4, 0, 0, 0] = np.nan
    for stepping in ("per-image", "shared"):
        tree = patched(small_net, images, Patch(1, 0.5, "replace", value), stepping=stepping)
        assert tree["block1"]["status"].values.tolist() == [Status.OK] * 4 + [Status.BAD_INPUT, Status.OK]
        assert tree["block1"]["reason"].values[4] == "image left out: the patch of block 1 has non-finite values"
        assert np.isfinite(tree["logits"].values[[0, 1, 2, 3, 5]]).all()
        assert np.isnan(tree["logits"].values[4]).all()
    elsewhere = patched(small_net, images, Patch(1, 0.5, "replace", value, channels=[1]))
    assert (elsewhere["block1"]["status"].values == Status.OK).all()


def test_patches_are_named_in_the_provenance_and_tell_runs_apart(small_net, images, plain, tmp_path):
    store, maps = tmp_path / "run.zarr", plain["block1"]["h"].values[:, 1]
    tree = patched(
        small_net, images, [Patch(1, 0.5, "replace", maps, channels=[0]), Patch(2, 1, "scale", 2)], out=store
    )
    first, second = json.loads(tree.attrs["provenance"])["patches"]
    assert (first["block"], first["time"], first["how"], first["channels"]) == (1, 0.5, "replace", [0])
    assert first["value"]["shape"] == [6, 8, 30, 30]
    assert len(first["value"]["sha256"]) == 64
    assert second["value"] == 2
    assert "patches" not in json.loads(plain.attrs["provenance"])
    with pytest.raises(RecordingError, match=r"cannot be resumed: patches"):
        patched(small_net, images, [Patch(1, 0.5, "replace", maps + 1, channels=[0])], out=store, resume=True)
    other = patched(small_net, images, Patch(1, 0.5, "replace", plain))
    again = patched(
        small_net, images, Patch(1, 0.5, "replace", dcnbio.probe(small_net, images, times=TIMES, batch_size=4))
    )
    named = [json.loads(t.attrs["provenance"])["patches"][0]["value"]["recording"] for t in (other, again)]
    assert named[0] == named[1]


def test_reductions_and_onward_logits_see_the_patches(small_net, images):
    patches = [Patch(2, 0.0, "set", 0.25)]
    tree = patched(small_net, images, patches, reductions=["onward_logits", "h_norm"], maps=False)
    onward = tree["block1"]["onward_logits"].values
    np.testing.assert_array_equal(onward[:, -1], tree["logits"])
    assert np.abs(onward - onward[:1, :1]).max() < 1e-6  # whatever block 1 says, block 2 begins alike
    np.testing.assert_allclose(tree["block2"]["h_norm"].values[:, 0], 0.25 * np.sqrt(16 * 15 * 15), rtol=1e-6)


def test_patches_that_do_not_fit_are_refused_before_anything_is_run(small_net, images, plain, tmp_path):
    accepted = dcnbio.probe(small_net, images, times="accepted")
    cases = [
        (Patch(3, 0.5, "ablate"), "has blocks 1 to 2"),
        (Patch(1, 3.0, "ablate"), "block 1 runs from 0 to 2"),
        (Patch(1, 0.5, "set", np.nan), "value of a patch is not finite"),
        (Patch(1, 0.5, "replace", np.zeros((4, 8, 30, 30))), "has 4 images where 6 are recorded"),
        (Patch(1, 0.5, "set", np.zeros((5, 5))), "does not broadcast"),
        (Patch(1, 0.7, "replace", plain), "without block1 at t = 0.7; it has 0, 0.5, 1, 2"),
        (Patch(1, 0.5, "set", plain), "use how='replace'"),
        (Patch(1, 0.5, "replace", xr.DataTree()), "no recording"),
        (Patch(1, 0.5, "replace", accepted), "it has the accepted steps"),
        (Patch(1, 0.5, "replace", plain.isel(stimulus=slice(4))), "without 2 of the images, the first stimulus 4"),
        ("ablate", "give a dcnbio.Patch"),
    ]
    for patch, message in cases:
        with pytest.raises(InputError, match=message):
            patched(small_net, images, patch, out=tmp_path / "run.zarr")
    with pytest.raises(InputError, match="which begins a new solve"):
        patched(small_net, images, Patch(1, 0.5, "ablate"), times="accepted")
    with pytest.raises(InputError, match="which evaluate does not take"):
        dcnbio.evaluate(small_net, dcnbio.load_images(limit=10), patch=Patch(1, 0.5, "ablate"))
    assert not (tmp_path / "run.zarr").exists()


@pytest.mark.parametrize("name", ["run.zarr", "run.nc"])
@pytest.mark.parametrize("how", [{}, {"chunks": {}}])
def test_a_recording_is_not_replaced_by_one_that_takes_its_maps_from_it(small_net, images, tmp_path, name, how):
    path = tmp_path / name
    with dcnbio.probe(small_net, images, times=TIMES, batch_size=4, blocks=[1], out=path) as first:
        before = first["block1"]["h"].values
    (tmp_path / "link").symlink_to(tmp_path)
    options = {"out": tmp_path / "link" / name, "overwrite": True, "blocks": [1]}
    refused = "value of a patch is the recording .*" + re.escape(f"{name}, which the result would replace")
    with dcnbio.open(path, **how) as source:
        with pytest.raises(InputError, match=refused):
            patched(small_net, images, Patch(1, 0.5, "replace", source), **options)
        with pytest.raises(InputError, match=refused):
            patched(small_net, images, Patch(1, 0.5, "replace", source.isel(stimulus=slice(None))), **options)
        loaded = source.copy(deep=True).load()
    with dcnbio.open(path) as still:
        np.testing.assert_array_equal(still["block1"]["h"], before)
    with patched(small_net, images, Patch(1, 0.5, "replace", loaded), **options) as tree:
        assert "patches" in json.loads(tree.attrs["provenance"])


@pytest.mark.parametrize("batch_size", [1, 2, 6])
def test_a_batch_without_usable_images_needs_no_patch(small_net, images, batch_size):
    some = images.copy()
    some[2:4] = np.nan
    intact = dcnbio.probe(small_net, some, times=TIMES, batch_size=batch_size)
    options = {"batch_size": batch_size, "error_sample": 4}
    tree = patched(small_net, images, Patch(1, 0.5, "replace", intact), **options)
    alone = patched(small_net, some, Patch(1, 0.5, "replace", intact), **options)
    good, bad = [0, 1, 4, 5], [2, 3]
    assert (tree["block1"]["status"].values[bad] == Status.BAD_INPUT).all()
    assert (alone["block1"]["status"].values[bad] == Status.BAD_INPUT).all()
    np.testing.assert_allclose(tree["logits"].values[good], alone["logits"].values[good], rtol=1e-5, atol=1e-6)
    assert np.isfinite(tree["logits"].values[good]).all()
