"""Kinds of trouble that people have reported of recorders of activity, each with what a recording does instead."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import dcnbio
from dcnbio.errors import InputError
from dcnbio.recording import RecordingWriter


class Square(nn.Module):
    """dh/dt = h^2, whose solution h0 / (1 - h0 t) is infinite at t = 1 / h0."""

    def forward(self, t, h):
        return h * h


def test_a_blow_up_keeps_what_came_before_it_and_says_when(small_net, pictures):
    net = dcnbio.build("dcn-ode", widths=(8, 16), norm_groups=4)
    net.block(1).field = Square()
    node = dcnbio.probe(net, pictures[:3], times=41, blocks=[1])["block1"]
    h, times = node["h"].values, node["time"].values
    ends = 1 / h[:, 0].max(axis=(1, 2, 3))
    assert (ends < 2).all()
    for image, end in enumerate(ends):
        assert node["status"].values[image] != 0
        reached = float(str(node["reason"].values[image]).split("t = ")[1].split()[0].rstrip(".,;:"))
        assert reached == pytest.approx(end, rel=0.02)
        before = times < 0.95 * reached
        exact = h[image, 0] / (1 - h[image, 0] * times[before, None, None, None])
        np.testing.assert_allclose(h[image, before], exact, rtol=2e-2, atol=2e-2)
        assert np.isnan(h[image, times > end]).all()


def test_a_network_in_half_precision_is_refused_and_recorded_once_it_is_single(pictures):
    half = dcnbio.build("dcn-ode", widths=(8, 16), norm_groups=4).half()
    with pytest.raises(InputError, match=r"the network's weights are torch\.float16; .* use net\.float\(\)"):
        dcnbio.probe(half, pictures[:2], times=2)
    assert next(half.parameters()).dtype == torch.float16
    assert dcnbio.probe(half.float(), pictures[:2], times=2)["block1"]["h"].dtype == np.float32


def test_single_and_double_precision_agree_and_each_says_which_it_is(pictures):
    net, found = dcnbio.load("dcn-ode"), {}
    for dtype in ("float32", "float64"):
        tree = dcnbio.probe(net, dcnbio.load_images(limit=10).isel(stimulus=slice(2)), times=2, dtype=dtype)
        about = json.loads(tree.attrs["provenance"])
        assert about["dtype"] == dtype == str(tree["block1"]["h"].dtype)
        assert (about["device"], about["tf32"]) == ("cpu", False)
        assert {"torch", "torchdiffeq", "numpy"} <= set(about["versions"])
        found[dtype] = tree
    assert float(abs(found["float32"]["logits"] - found["float64"]["logits"]).max()) < 1e-3
    # h, and not what an activation in place has made of it: no CELU is below -1
    assert float(found["float32"]["block1"]["h"].min()) < -1


@pytest.mark.parametrize("times", [[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
def test_times_ascend(small_net, pictures, times):
    with pytest.raises(InputError, match="must rise strictly"):
        dcnbio.probe(small_net, pictures[:1], times=times)


@pytest.mark.parametrize("name", ["bépo ü.nc", "图 of a run/a b.zarr"])
def test_names_may_have_any_letters_and_spaces(small_net, pictures, tmp_path, name):
    dcnbio.probe(small_net, pictures[:1], times=2, out=tmp_path / name).close()
    with dcnbio.open(tmp_path / name) as tree:
        assert np.isfinite(tree["block1"]["h"].values).all()


def resident():
    """Read this process's memory in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read as Linux tells it")
def test_batches_leave_nothing_behind_in_memory(small_net, tmp_path, monkeypatch):
    images = np.random.default_rng(1).random((60, 3, 32, 32), dtype=np.float32)
    seen, write = [], RecordingWriter.write

    def watched(writer, batch):
        write(writer, batch)
        seen.append(resident())

    monkeypatch.setattr(RecordingWriter, "write", watched)
    tree = dcnbio.probe(small_net, images, times=41, batch_size=4, out=tmp_path / "run.zarr")
    each = sum(tree[name]["h"].nbytes for name in ("block1", "block2")) / 15e6
    assert len(seen) == 15
    assert seen[-1] - seen[2] < 4 * each  # of the twelve batches between
