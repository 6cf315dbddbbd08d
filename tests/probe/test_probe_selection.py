"""What is left out of a recording is left out alone: the rest has the bits it would have had."""

import json

import numpy as np
import pytest
import torch
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import dcnbio
from dcnbio.errors import InputError, RecordingError
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe.selection import part_of
from dcnbio.recording import describe, estimate_bytes
from dcnbio.recording.journal import Journal

CHANNELS = {1: [5, 0, 2], 2: [7]}
WINDOW = {1: "12:20,3:9", 2: (slice(4, 8), slice(None))}


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(5).random((6, 3, 32, 32), dtype=np.float32)


@pytest.fixture(scope="module")
def whole(small_net, images):
    return dcnbio.probe(small_net, images, times=4, batch_size=4)


@pytest.mark.parametrize("where", ["memory", "run.zarr", "run.nc"])
def test_a_selection_is_a_slice_of_the_full_recording_bit_for_bit(small_net, images, whole, tmp_path, where):
    out = {} if where == "memory" else {"out": tmp_path / where}
    tree = dcnbio.probe(small_net, images, times=4, batch_size=4, channels=CHANNELS, window=WINDOW, **out)
    first, second = tree["block1"], tree["block2"]
    xr.testing.assert_identical(
        first["h"].load(), whole["block1"]["h"].sel(channel=[5, 0, 2], y=range(12, 20), x=range(3, 9))
    )
    xr.testing.assert_identical(second["h"].load(), whole["block2"]["h"].sel(channel=[7], y=range(4, 8)))
    assert first["channel"].values.tolist() == [5, 0, 2]
    assert (first["y"].values[0], first["x"].values[-1]) == (12, 8)
    np.testing.assert_array_equal(tree["logits"], whole["logits"])
    np.testing.assert_array_equal(first["nfe"], whole["block1"]["nfe"])


def test_one_list_and_one_window_are_for_every_block(small_net, images, whole):
    tree = dcnbio.probe(small_net, images, times=4, batch_size=4, channels=[1, 3], window=":5,2:4", blocks=[2])
    expected = whole["block2"]["h"].isel(channel=[1, 3], y=slice(5), x=slice(2, 4))
    assert part_of(1, (4, 8, 8), np.int64(3), None).channels == (3,)
    xr.testing.assert_identical(tree["block2"]["h"], expected)


def test_half_precision_is_within_its_stated_rounding(small_net, images, whole, tmp_path):
    tree = dcnbio.probe(small_net, images, times=4, batch_size=4, storage="float16", out=tmp_path / "run.zarr")
    for name in ("block1", "block2"):
        h, exact = tree[name]["h"], whole[name]["h"].values
        assert h.dtype == np.float16
        assert "2^-11" in h.attrs["rounding"]
        error = np.abs(h.values.astype(np.float64) - exact)
        assert (error <= np.maximum(2.0**-11 * np.abs(exact), 3.0e-8)).all()
        assert error.max() > 0
    np.testing.assert_array_equal(tree["logits"], whole["logits"])
    size = sum(p.stat().st_size for p in (tmp_path / "run.zarr").rglob("c.*") if "/h/" in str(p))
    # the second shard has room for four images and holds two
    assert size < 0.55 * 8 / 6 * sum(whole[name]["h"].nbytes for name in ("block1", "block2"))
    memory = dcnbio.probe(small_net, images, times=4, batch_size=4, storage="float16")
    xr.testing.assert_identical(memory["block1"]["h"], tree["block1"]["h"].load())


def test_half_precision_is_promoted_where_a_file_has_none(small_net, images, whole, tmp_path):
    tree = dcnbio.probe(small_net, images, times=4, batch_size=4, storage="float16", out=tmp_path / "run.nc")
    h = tree["block1"]["h"]
    assert h.dtype == np.float32
    np.testing.assert_array_equal(h, whole["block1"]["h"].values.astype(np.float16).astype(np.float32))
    assert "float16" in h.attrs["rounding"]


@given(data=st.data())
def test_any_part_is_what_numpy_takes(data):
    size = data.draw(st.tuples(*[st.integers(1, 9)] * 3))
    channels = data.draw(st.lists(st.integers(0, size[0] - 1), min_size=1, unique=True))
    edges = [sorted(data.draw(st.lists(st.integers(0, n), min_size=2, max_size=2, unique=True))) for n in size[1:]]
    part = part_of(1, size, {1: channels}, ",".join(f"{first}:{last}" for first, last in edges))
    maps = np.arange(2 * np.prod(size)).reshape(2, *size)
    (top, bottom), (left, right) = edges
    expected = maps[:, channels][..., top:bottom, left:right]
    np.testing.assert_array_equal(part.of(torch.from_numpy(maps)), expected)
    assert (part.shape, part.origin) == (expected.shape[1:], (top, left))


def test_half_precision_refuses_what_it_cannot_hold(small_net, images):
    patch = dcnbio.Patch(1, 0.0, "set", 7e4, channels=[0])
    with pytest.raises(RecordingError, match="beyond the 65504 that float16 holds; store float32"):
        dcnbio.probe(small_net, images, times=2, storage="float16", blocks=[1], patch=patch)


@pytest.mark.parametrize("where", ["memory", "run.zarr", "run.nc"])
@pytest.mark.parametrize("stepping", ["per-image", "shared"])
def test_accepted_steps_are_recorded_where_they_were(small_net, images, tmp_path, where, stepping):
    out = {} if where == "memory" else {"out": tmp_path / where}
    tree = dcnbio.probe(small_net, images, times="accepted", batch_size=4, stepping=stepping, **out)
    plain = dcnbio.probe(small_net, images, times=2, batch_size=4, stepping=stepping)
    np.testing.assert_array_equal(tree["logits"], plain["logits"])
    with torch.no_grad():
        run = small_net.run(torch.from_numpy(images[:4]), SolverSettings(stepping=stepping), "accepted")
    for number, name in enumerate(("block1", "block2")):
        node, times = tree[name], tree[name]["recorded_time"]
        assert (node["h"].sizes["time"], times.dims) == (33, ("stimulus", "time"))
        assert "time" not in node.coords
        assert "recorded_time" in node.coords
        assert times.attrs["units"] == "solver time"
        for i in range(6):
            accepted = int(node["accepted"][i])
            own = [0.0, *node["step_time"].values[i, : accepted - 1], 2.0]
            assert times.values[i, : accepted + 1].tolist() == own
            assert np.isnan(times.values[i, accepted + 1 :]).all()
            assert np.isnan(node["h"].values[i, accepted + 1 :]).all()
            assert np.isfinite(node["h"].values[i, : accepted + 1]).all()
            np.testing.assert_array_equal(node["h"].values[i, accepted], plain[name]["h"].values[i, -1])
        path = run.blocks[number].path.numpy()
        np.testing.assert_array_equal(node["h"].values[:4, : path.shape[1]], path)
        np.testing.assert_array_equal(node["nfe"], plain[name]["nfe"])


def test_room_for_accepted_steps_takes_little_on_the_disk(small_net, images, tmp_path):
    options = {"times": "accepted", "batch_size": 4, "channels": [0, 1]}
    dcnbio.probe(small_net, images, out=tmp_path / "some.zarr", **options)
    dcnbio.probe(small_net, images, out=tmp_path / "more.zarr", max_steps=400, **options)
    some, more = (sum(p.stat().st_size for p in (tmp_path / n).rglob("c.*")) for n in ("some.zarr", "more.zarr"))
    assert more < 1.3 * some
    assert describe(tmp_path / "more.zarr")["blocks"]["block1"]["times"] == "accepted"
    again = dcnbio.open(tmp_path / "more.zarr", verify=True)
    memory = dcnbio.probe(small_net, images, max_steps=400, **options)
    xr.testing.assert_identical(again["block1"].to_dataset().load(), memory["block1"].to_dataset())


def test_an_image_with_more_steps_than_there_is_room_for_says_so(small_net, images):
    tree = dcnbio.probe(small_net, images, times="accepted", max_steps=2)
    assert set(tree["block1"]["reason"].values) != {""}
    assert all("limit on attempted steps" in why for why in tree["block1"]["reason"].values if why)
    assert tree["block1"]["h"].sizes["time"] == 3


def test_residual_blocks_have_no_steps_and_two_times(images):
    net = dcnbio.build("resnet-blocks", widths=(8, 16), norm_groups=4)
    tree = dcnbio.probe(net, images, times="accepted")
    assert tree["block1"]["time"].values.tolist() == [0.0, 1.0]


def test_size_and_resumption_know_what_is_selected(small_net, images, tmp_path):
    store, options = tmp_path / "run.zarr", {"times": 4, "batch_size": 3}
    dcnbio.probe(small_net, images, out=store, channels=[1], **options)
    for other in ({"channels": [2]}, {"channels": [1], "window": ":5,:5"}, {"channels": [1], "storage": "float16"}):
        with pytest.raises(RecordingError, match=r"cannot be resumed: blocks\.block1\."):
            dcnbio.probe(small_net, images, out=store, resume=True, **options, **other)
    size = sum(p.stat().st_size for p in store.rglob("c.*") if "/h/" in str(p))
    from dcnbio.probe.plan import plan
    from dcnbio.probe.settings import settings_of
    from dcnbio.probe.stimuli import as_stimuli

    layout = plan(small_net, as_stimuli(images), settings_of({"channels": [1], **options}))
    assert 0 < size < estimate_bytes(layout) < 2 * size


def test_an_unfinished_run_of_accepted_steps_goes_on(small_net, images, tmp_path, monkeypatch):
    options = {"times": "accepted", "batch_size": 2, "reductions": ["h_norm", "slope_norm"], "channels": [0, 3]}
    store = tmp_path / "run.zarr"
    save = Journal.save

    def interrupted(journal, index, record, shards):
        save(journal, index, record, shards)
        if index == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dcnbio.probe(small_net, images, out=store, **options)
    monkeypatch.setattr(Journal, "save", save)
    partial = dcnbio.open(store, partial=True)
    assert partial["block1"]["recorded_time"].shape == (4, 33)
    assert describe(store)["blocks"]["block1"]["times"] == "accepted"
    resumed = dcnbio.probe(small_net, images, out=store, resume=True, **options)
    straight = dcnbio.probe(small_net, images, **options)
    for name in ("block1", "block2"):
        xr.testing.assert_identical(resumed[name].to_dataset().load(), straight[name].to_dataset())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"channels": [8]}, "channels has 8; block1 has channels 0 to 7"),
        ({"channels": []}, r"channels is \[\]"),
        ({"channels": [1, 1]}, "each once"),
        ({"channels": [0.5]}, "whole numbers"),
        ({"channels": {3: [1]}}, "channels is given for block 3, which is not recorded"),
        ({"window": "12:40,:"}, "rows of block1 12:40, of 30"),
        ({"window": "5:5,:"}, "rows of block1 5:5"),
        ({"window": "a:b,:"}, "such as 12:20,12:20"),
        ({"window": "1:2"}, "such as 12:20,12:20"),
        ({"window": (slice(0, 4, 2), slice(None))}, "has step 2"),
        ({"window": 3}, "window is 3"),
        ({"window": "10:20,10:20"}, "rows of block2 10:20, of 15"),
        ({"storage": "int8"}, "storage is 'int8'; h is stored in float16, float32, float64"),
        ({"times": "often"}, "times has 'often'"),
        ({"times": "accepted", "method": "rk4", "step_size": 0.1}, "only dopri5 records its own steps"),
    ],
)
def test_selections_that_cannot_be_made_are_refused(small_net, images, settings, message):
    with pytest.raises(InputError, match=message):
        dcnbio.probe(small_net, images, **settings)


def test_the_command_line_selects_alike(tmp_path, monkeypatch, capfd):
    from dcnbio.commands.app import run

    monkeypatch.chdir(tmp_path)
    arguments = ["probe", "--indices", "3,0-1", "--times", "accepted", "--channels", "3=0-1,5", "--window", "3=1:3,:2"]
    arguments += ["--storage", "float16", "--blocks", "3", "--out", "run.zarr", "--json"]
    assert run(arguments) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["images"], found["blocks"]["block3"]["shape"]) == (3, [33, 3, 2, 2])
    assert found["blocks"]["block3"]["times"] == "accepted"
    tree = dcnbio.open("run.zarr")
    assert tree["stimulus"].values.tolist() == [3, 0, 1]
    assert tree["block3"]["channel"].values.tolist() == [0, 1, 5]
    assert tree["block3"]["h"].dtype == np.float16
    assert run(["info", "run.zarr"]) == 0
    assert "accepted steps" in capfd.readouterr().out
    assert run(["probe", "--channels", "x", "--out", "other.zarr"]) == 2
    assert "--channels has 'x' where a whole number is needed" in capfd.readouterr().err
