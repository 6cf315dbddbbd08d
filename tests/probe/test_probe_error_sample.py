"""The error estimate of a recorded h(t): right where the exact solution is known, and never NaN in silence."""

import json

import numpy as np
import pytest
import torch
import xarray as xr
from scipy.linalg import expm
from torch import nn

import dcnbio
from dcnbio.commands.app import run
from dcnbio.errors import InputError, RecordingError
from dcnbio.model.patch import Patch

SPIRAL = np.array([[-0.5, 3.0], [-3.0, -0.2]])


class Rotation(nn.Module):
    """dh/dt = A h with A a damped rotation of each pair of channels, whose solution is h(t) = exp(A t) h(0)."""

    def __init__(self, pairs):
        super().__init__()
        self.register_buffer("matrix", torch.block_diag(*[torch.from_numpy(SPIRAL).float()] * pairs))

    def forward(self, t, h):
        return torch.einsum("ij,njyx->niyx", self.matrix, h)


@pytest.fixture
def linear():
    """A network whose first block is linear."""
    net = dcnbio.build("dcn-ode", widths=(8, 16), norm_groups=4)
    net.block(1).field = Rotation(4)
    return net


def true_error(node):
    """Give the relative distance of h from the exact solution, from the same h(0)."""
    h = node["h"].values.astype(np.float64)
    grown = [np.einsum("ij,njyx->niyx", np.kron(np.eye(4), expm(SPIRAL * t)), h[:, 0]) for t in node["time"].values]
    exact = np.stack(grown, 1)
    flat = (len(h), len(grown), -1)
    return np.linalg.norm((h - exact).reshape(flat), axis=2) / np.linalg.norm(exact.reshape(flat), axis=2)


@pytest.mark.parametrize(
    "settings",
    [{}, {"stepping": "shared"}, {"method": "rk4", "step_size": 0.2}, {"dtype": "float64"}],
    ids=["per-image", "shared", "rk4", "float64"],
)
def test_it_is_the_true_error_of_a_field_whose_solution_is_known(linear, pictures, settings):
    node = dcnbio.probe(linear, pictures, times=6, blocks=[1], error_sample=6, **settings)["block1"]
    assert node["h_error"].dims == ("stimulus", "time")
    assert node["h_error"].dtype == np.float64
    true, found = true_error(node)[:, 1:], node["h_error"].values[:, 1:]
    assert (true > 1e-6).all()
    assert (found < 2 * true).all()
    assert (found > true / 2).all()
    assert (node["h_error"].values[:, 0] < 1e-6).all()  # h(0) is rounded and no more


def test_a_tighter_tolerance_has_a_smaller_error(small_net, pictures):
    def largest(tolerance):
        tree = dcnbio.probe(small_net, pictures[:2], times=5, rtol=tolerance, atol=tolerance, error_sample=2)
        return [float(tree[name]["h_error"].max()) for name in ("block1", "block2")]

    loose, tight = largest(1e-2), largest(1e-4)
    assert all(b < a / 5 for a, b in zip(loose, tight, strict=True))


def test_it_holds_over_what_is_recorded_and_after_a_patch(small_net, pictures):
    settings = {"times": [0.0, 0.5, 2.0], "blocks": [2], "patch": Patch(1, 1.0, "scale", 2.0)}
    part = {"channels": [3, 1], "window": "2:5,:4"}
    node = dcnbio.probe(small_net, pictures[:2], error_sample=2, **settings, **part)["block2"]
    exact = dcnbio.probe(small_net, pictures[:2], **settings, **part, rtol=1e-5, atol=1e-5, dtype="float64")
    h, reference = node["h"].values.astype(np.float64), exact["block2"]["h"].values
    over = (2, 3, 4)
    expected = np.sqrt(((h - reference) ** 2).sum(over) / (reference**2).sum(over))
    np.testing.assert_allclose(node["h_error"].values, expected, rtol=1e-6)


def test_outside_the_sample_nan_is_declared_and_what_is_recorded_stays(small_net, pictures):
    plain = dcnbio.probe(small_net, pictures, times=3, batch_size=4)
    tree = dcnbio.probe(small_net, pictures, times=3, batch_size=4, error_sample=5)
    for name in ("block1", "block2"):
        node = tree[name]
        np.testing.assert_array_equal(node["h"], plain[name]["h"])
        assert np.isfinite(node["h_error"].values[:5]).all()
        assert np.isnan(node["h_error"].values[5]).all()
        assert node["h_error_status"].values.tolist() == [0, 0, 0, 0, 0, 1]
        assert "first 5 images" in node["h_error"].attrs["long_name"]
        assert "1 outside the sample" in node["h_error_status"].attrs["long_name"]
        assert "h_error" not in plain[name]
    assert json.loads(tree.attrs["provenance"])["error_estimate"]["images"] == 5


def test_images_that_were_not_solved_have_a_status_and_no_number(small_net, pictures):
    pictures[1] = np.nan
    node = dcnbio.probe(small_net, pictures, times=3, batch_size=2, error_sample=9)["block1"]
    assert node["h_error_status"].values.tolist() == [0, 2, 0, 0, 0, 0]
    assert np.isnan(node["h_error"].values[1]).all()
    short = dcnbio.probe(small_net, pictures, times=3, blocks=[1], error_sample=3, max_steps=1)["block1"]
    assert short["h_error_status"].values.tolist() == [2, 2, 2, 1, 1, 1]
    assert np.isfinite(short["h_error"].values[0, 0])  # h(0) is there
    assert np.isnan(short["h_error"].values[0, -1])
    none = dcnbio.probe(small_net, np.full_like(pictures, np.nan), times=3, error_sample=3)["block2"]
    assert none["h_error_status"].values.tolist() == [2, 2, 2, 1, 1, 1]
    assert np.isnan(none["h_error"].values).all()


def test_resumed_sharded_and_netcdf_recordings_hold_the_same(small_net, pictures, tmp_path):
    settings = {"times": 3, "batch_size": 2, "error_sample": 3}
    whole = dcnbio.probe(small_net, pictures, **settings)
    dcnbio.probe(small_net, pictures, **settings, out=tmp_path / "a.zarr", shard="1/3")
    resumed = dcnbio.probe(small_net, pictures, **settings, out=tmp_path / "a.zarr", resume=True)
    for i in (2, 1):
        sharded = dcnbio.probe(small_net, pictures, **settings, out=tmp_path / "b.zarr", shard=f"{i}/2")
    filed = dcnbio.probe(small_net, pictures, **settings, out=tmp_path / "c.nc")
    for other in (resumed, sharded, filed):
        for name in ("block1", "block2"):
            xr.testing.assert_equal(other[name].to_dataset(), whole[name].to_dataset())
            assert other[name]["h_error"].dtype == np.float64
            assert other[name]["h_error"].attrs == whole[name]["h_error"].attrs
    filed.close()


def test_another_sample_is_another_recording(small_net, pictures, tmp_path):
    settings = {"times": 3, "batch_size": 2, "out": tmp_path / "a.zarr"}
    dcnbio.probe(small_net, pictures, **settings, error_sample=3, shard="1/3")
    with pytest.raises(RecordingError, match=r"error_estimate\.images was 3 and is now 4"):
        dcnbio.probe(small_net, pictures, **settings, error_sample=4, resume=True)


@pytest.mark.parametrize(
    ("row", "settings", "message"),
    [
        ("dcn-ode", {"error_sample": -1}, "0 for none"),
        ("dcn-ode", {"error_sample": 1.5}, "error_sample has 1.5"),
        ("dcn-ode", {"error_sample": 2, "times": "accepted"}, "give the solver times"),
        ("resnet-blocks", {"error_sample": 2}, "residual blocks"),
    ],
)
def test_what_has_no_error_to_estimate_is_refused(pictures, row, settings, message):
    net = dcnbio.build(row, widths=(8, 16), norm_groups=4)
    with pytest.raises(InputError, match=message):
        dcnbio.probe(net, pictures, **settings)


def test_the_command_says_the_median_and_the_largest(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    options = ["--limit", "10", "--times", "3", "--blocks", "3", "--integration-time", "0.2", "--out", "run.zarr"]
    assert run(["probe", *options, "--error-sample", "2"]) == 0
    said = capfd.readouterr().out
    assert run(["info", "run.zarr"]) == 0
    told = capfd.readouterr().out
    line = next(line for line in said.splitlines() if line.startswith("error"))
    assert line in told.splitlines()
    assert "(2 images)" in line
    assert len(line) <= 80
    assert run(["info", "run.zarr", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)["blocks"]["block3"]["h_error"]
    errors = dcnbio.open("run.zarr")["block3"]["h_error"].values[:2]
    assert found == {"images": 2, "missing": 0, "median": np.median(errors), "largest": errors.max()}
