"""Reductions computed while solving are those of the stored maps, and leave the rest of the recording as it was."""

import json

import numpy as np
import pytest
import torch
import xarray as xr

import dcnbio
from dcnbio.errors import InputError, RecordingError
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.recording import estimate_bytes
from dcnbio.recording.journal import Journal
from dcnbio.recording.reductions import REDUCTIONS, Maps, reduce_maps

INTACT = [name for name, one in REDUCTIONS.items() if one.maps in (Maps.INTACT, Maps.INTACT_NORMALISED)]
PLAIN = [name for name in REDUCTIONS if name not in INTACT]
OF_H = [name for name, one in REDUCTIONS.items() if one.maps in (Maps.STATE, Maps.NORMALISED)]
GROUPS = {"block1": 4, "block2": 4}
OPTIONS = {"times": 4, "batch_size": 6}


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(5).random((6, 3, 32, 32), dtype=np.float32)


@pytest.fixture(scope="module")
def stored(small_net, images):
    return dcnbio.probe(small_net, images, **OPTIONS)


@pytest.fixture(scope="module")
def reduced(small_net, images):
    return dcnbio.probe(small_net, images, reductions=PLAIN, maps=False, **OPTIONS)


def test_the_small_network_has_these_groups(small_net):
    assert [small_net.spec.groups(width) for width in small_net.spec.widths] == list(GROUPS.values())


@pytest.mark.parametrize("name", OF_H)
def test_reductions_are_those_of_the_stored_maps(stored, reduced, name):
    for block, groups in GROUPS.items():
        expected = reduce_maps(REDUCTIONS[name], stored[block]["h"].values, groups).astype(np.float32)
        found = reduced[block][name]
        np.testing.assert_array_equal(found, expected)
        assert found.dims == ("stimulus", "time", *REDUCTIONS[name].dims)
        assert (found.attrs["long_name"], found.attrs["units"]) == (REDUCTIONS[name].long_name, "1")


@pytest.mark.parametrize("name", INTACT)
def test_differences_from_the_intact_image_are_those_of_two_recordings(small_net, images, stored, name):
    options = {**OPTIONS, "mask": 12}
    masked = dcnbio.probe(small_net, images, **options)
    tree = dcnbio.probe(small_net, images, reductions=name, maps=False, **options)
    for block, groups in GROUPS.items():
        pair = np.stack([masked[block]["h"].values, stored[block]["h"].values], 2)
        expected = reduce_maps(REDUCTIONS[name], pair, groups).astype(np.float32)
        np.testing.assert_array_equal(tree[block][name], expected)
        assert (expected > 0).all()
    np.testing.assert_array_equal(tree["logits"], masked["logits"])


def test_a_patch_is_compared_with_the_run_without_it(small_net, images):
    patch = dcnbio.Patch(2, 1.0, "ablate")
    options = {**OPTIONS, "times": [0.0, 0.5, 1.0, 2.0]}
    tree = dcnbio.probe(small_net, images, reductions="intact_distance", patch=patch, **options)
    plain = dcnbio.probe(small_net, images, **options)
    assert (tree["block1"]["intact_distance"].values == 0).all()
    found = tree["block2"]["intact_distance"].values
    expected = np.sqrt(np.square(plain["block2"]["h"].values[:, 2].astype(float)).sum((1, 2, 3)))
    np.testing.assert_allclose(found[:, 2], expected, rtol=1e-6)
    assert (found[:, 0] == 0).all()


def test_reductions_have_everything_else_of_a_recording_and_no_maps(stored, reduced):
    np.testing.assert_array_equal(stored["logits"], reduced["logits"])
    for block in GROUPS:
        assert "h" not in reduced[block]
        for name in ("nfe", "accepted", "rejected", "status", "step_time", "time"):
            xr.testing.assert_identical(stored[block][name], reduced[block][name])
        assert reduced[block]["other_stimulus"].values.tolist() == list(range(6))
        assert "y" not in reduced[block].coords
        assert reduced[block]["channel"].values.tolist() == stored[block]["channel"].values.tolist()


def test_the_slope_is_the_vector_field_on_the_stored_maps(small_net, stored, reduced):
    for number, block in enumerate(GROUPS):
        h, times = torch.from_numpy(stored[block]["h"].values), stored[block]["time"].values
        with torch.no_grad():
            field = small_net.blocks[number].field
            slope = torch.stack([field(torch.tensor(t, dtype=h.dtype), h[:, i]) for i, t in enumerate(times)], 1)
        expected = reduce_maps(REDUCTIONS["slope_norm"], slope.numpy())
        np.testing.assert_allclose(reduced[block]["slope_norm"], expected, rtol=1e-5)
        assert reduced[block]["slope_norm"].attrs["units"] == "1 / solver time"


def test_the_slope_is_what_differences_of_h_tend_to(small_net, images):
    near = [0.8 - 1e-4, 0.8, 0.8 + 1e-4]
    tight = {"rtol": 1e-9, "atol": 1e-9, "dtype": "float64", "blocks": 1}
    tree = dcnbio.probe(small_net, images[:2], times=near, reductions="slope_norm", **tight)
    h = tree["block1"]["h"].values
    difference = (h[:, 2] - h[:, 0]) / (near[2] - near[0])
    expected = np.sqrt(np.square(difference).sum(axis=(1, 2, 3)))
    np.testing.assert_allclose(tree["block1"]["slope_norm"].values[:, 1], expected, rtol=1e-5)


@pytest.mark.parametrize("stepping", ["per-image", "shared"])
def test_logits_read_out_at_the_end_are_the_logits(small_net, images, stepping):
    names = ["readout_logits", "onward_logits"]
    tree = dcnbio.probe(small_net, images, reductions=names, maps=False, stepping=stepping, **OPTIONS)
    assert "readout_logits" not in tree["block1"]
    for block, name in (("block2", "readout_logits"), ("block2", "onward_logits"), ("block1", "onward_logits")):
        assert tree[block][name].dims == ("stimulus", "time", "class")
        np.testing.assert_array_equal(tree[block][name].values[:, -1], tree["logits"])
    assert tree["block2"]["class"].values.tolist() == tree["class"].values.tolist()


def test_logits_in_time_are_the_rest_of_the_network_on_the_stored_maps(small_net, stored, reduced):
    for number, block in ((1, "block1"), (2, "block2")):
        h = torch.from_numpy(stored[block]["h"].values)
        with torch.no_grad():
            by_hand = [small_net.run_on(h[:, i], number, SolverSettings(stepping="per-image")) for i in range(4)]
        np.testing.assert_allclose(reduced[block]["onward_logits"], torch.stack(by_hand, 1), rtol=1e-5, atol=1e-6)
    with torch.no_grad():
        readout = small_net.readout(torch.from_numpy(stored["block2"]["h"].values[:, 1]))
    np.testing.assert_allclose(reduced["block2"]["readout_logits"].values[:, 1], readout, rtol=1e-5, atol=1e-6)


def test_dissimilarities_are_scipys(stored, reduced):
    from scipy.spatial.distance import pdist, squareform

    for block in GROUPS:
        rows = stored[block]["h"].values[:, 2].reshape(6, -1).astype(np.float64)
        for name, metric in (("correlation_distance", "correlation"), ("euclidean_distance", "euclidean")):
            found = reduced[block][name].values[:, 2]
            np.testing.assert_allclose(found, squareform(pdist(rows, metric)), rtol=1e-5, atol=1e-6)
            assert (found.diagonal() == 0).all()
            np.testing.assert_array_equal(found, found.T)


def test_a_selection_is_reduced_alone_and_normalised_before_it_is_made(small_net, images, stored):
    names = ["h_norm", "channel_mean", "spatial_variance_normalised", "slope_norm"]
    selection = {"channels": {1: [6, 1]}, "window": "2:9,3:12"}
    tree = dcnbio.probe(small_net, images, reductions=names, storage="float16", **selection, **OPTIONS)
    h = stored["block1"]["h"].values
    part = h[:, :, [6, 1], 2:9, 3:12]
    node = tree["block1"]
    for name in names[:2]:
        np.testing.assert_array_equal(node[name], reduce_maps(REDUCTIONS[name], part).astype(np.float32))
    assert node["channel_mean"]["channel"].values.tolist() == [6, 1]
    from dcnbio.recording.reductions import group_normalised

    normal = np.stack([group_normalised(h[:, t], 4)[:, [6, 1], 2:9, 3:12] for t in range(4)], 1)
    expected = normal.reshape(6, 4, 2, -1).var(3).mean(2)
    np.testing.assert_allclose(node["spatial_variance_normalised"], expected, rtol=1e-5)


def test_images_that_fail_have_no_numbers_and_the_others_are_as_they_were(small_net, images, reduced):
    damaged = images.copy()
    damaged[2, 0, 0, 0] = np.nan
    tree = dcnbio.probe(small_net, damaged, reductions=PLAIN, maps=False, **OPTIONS)
    good = [0, 1, 3, 4, 5]
    for name in tree["block2"].data_vars:
        if name not in REDUCTIONS:
            continue
        found, expected = tree["block2"][name], reduced["block2"][name]
        assert np.isnan(found.values[2]).all()
        if "other_stimulus" in found.dims:
            assert np.isnan(found.values[..., 2]).all()
            found, expected = found[..., good], expected[..., good]
        np.testing.assert_allclose(found.values[good], expected.values[good], rtol=1e-5, atol=1e-5)
    none = dcnbio.probe(small_net, np.full_like(images, np.nan), reductions=PLAIN, maps=False, **OPTIONS)
    assert all(np.isnan(none["block2"][name].values).all() for name in PLAIN)


def test_a_resumed_recording_of_reductions_equals_an_uninterrupted_one(small_net, images, tmp_path, monkeypatch):
    names = [name for name in PLAIN if not REDUCTIONS[name].together]
    options = {"times": 3, "batch_size": 2, "reductions": names, "maps": False}
    save = Journal.save

    def interrupted(journal, index, record, shards):
        if index == 2:
            raise KeyboardInterrupt
        save(journal, index, record, shards)

    monkeypatch.setattr(Journal, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dcnbio.probe(small_net, images, out=tmp_path / "run.zarr", **options)
    monkeypatch.setattr(Journal, "save", save)
    with pytest.raises(RecordingError, match="unfinished: 4 of 6 images"):
        dcnbio.open(tmp_path / "run.zarr")
    partial = dcnbio.open(tmp_path / "run.zarr", partial=True)
    assert partial["block2"]["onward_logits"].shape == (4, 3, 10)
    with pytest.raises(RecordingError, match=r"cannot be resumed: blocks\.block1\.extra"):
        dcnbio.probe(small_net, images, out=tmp_path / "run.zarr", resume=True, **{**options, "reductions": names[:2]})
    resumed = dcnbio.probe(small_net, images, out=tmp_path / "run.zarr", resume=True, **options)
    straight = dcnbio.probe(small_net, images, out=tmp_path / "whole.zarr", **options)
    netcdf = dcnbio.probe(small_net, images, out=tmp_path / "whole.nc", **options)
    for block in GROUPS:
        for other in (straight, netcdf, dcnbio.probe(small_net, images, **options)):
            xr.testing.assert_identical(resumed[block].to_dataset().load(), other[block].to_dataset().load())


def test_the_maps_of_a_batch_are_let_go_before_the_next(small_net, images, monkeypatch):
    import gc
    import weakref

    from dcnbio.probe import batches

    alive, run_finite = [], batches.run_finite

    def watched(*arguments, **options):
        assert not any(reference() is not None for reference in alive)
        run = run_finite(*arguments, **options)
        alive.extend(weakref.ref(block.path) for block in run.blocks)
        return run

    monkeypatch.setattr(batches, "run_finite", watched)
    names = [name for name in PLAIN if not REDUCTIONS[name].together]
    gc.collect()
    gc.disable()
    try:
        dcnbio.probe(small_net, images, times=3, batch_size=2, reductions=names)
    finally:
        gc.enable()
    assert len(alive) == 6


def test_ten_thousand_images_of_reductions_are_a_few_megabytes(small_net):
    from dcnbio.probe.plan import plan
    from dcnbio.probe.settings import settings_of
    from dcnbio.probe.stimuli import as_stimuli

    stimuli = as_stimuli(np.zeros((10_000, 3, 32, 32), np.float32))
    settings = settings_of({"times": 21, "reductions": ["h_norm", "spatial_variance"], "maps": False})
    assert estimate_bytes(plan(small_net, stimuli, settings)) < 10_000_000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reductions": ["h_nrm"]}, "reductions has 'h_nrm'; known are h_norm, slope_norm"),
        ({"reductions": "correlation_distance", "batch_size": 4}, "use batch_size=6, or fewer images"),
        ({"reductions": "readout_logits", "blocks": 1}, "take onward_logits"),
        ({"reductions": "intact_distance"}, "neither mask nor patch is given"),
        ({"reductions": "intact_distance", "mask": 8, "times": "accepted"}, "compares at equal times"),
    ],
)
def test_reductions_that_cannot_be_had_are_refused(small_net, images, settings, message):
    with pytest.raises(InputError, match=message):
        dcnbio.probe(small_net, images, **settings)


def test_comparing_more_images_than_fit_in_memory_is_refused(small_net):
    many = np.zeros((2000, 3, 32, 32), np.float32)
    with pytest.raises(InputError, match="take fewer images, times or blocks"):
        dcnbio.probe(small_net, many, batch_size=2000, reductions="euclidean_distance")


def test_residual_blocks_have_no_slope(images):
    net = dcnbio.build("resnet-blocks", widths=(8, 16), norm_groups=4)
    with pytest.raises(InputError, match=r"residual blocks without dh/dt"):
        dcnbio.probe(net, images, reductions="slope_norm")
    tree = dcnbio.probe(net, images, reductions=["h_norm", "onward_logits"], maps=False)
    np.testing.assert_array_equal(tree["block1"]["onward_logits"].values[:, -1], tree["logits"])


def test_the_command_line_reduces_alike(tmp_path, monkeypatch, capfd):
    from dcnbio.commands.app import run

    monkeypatch.chdir(tmp_path)
    arguments = ["probe", "--limit", "10", "--times", "3", "--blocks", "3", "--out", "run.zarr"]
    assert run([*arguments, "--reduce", "h_norm,readout_logits", "--no-maps"]) == 0
    said = capfd.readouterr().out
    assert "reduced   h_norm, readout_logits" in said
    assert "no maps" in said
    tree = dcnbio.open("run.zarr")
    np.testing.assert_array_equal(tree["block3"]["readout_logits"].values[:, -1], tree["logits"])
    assert run(["info", "run.zarr", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["blocks"]["block3"]["shape"] is None
    assert run([*arguments, "--overwrite", "--reduce", "norm"]) == 2
    assert "known are h_norm" in capfd.readouterr().err
