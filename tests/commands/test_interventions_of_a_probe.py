"""What Python's probe can do to h and to the network, the command line can do too: the same recording comes of both."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import dcnbio
from dcnbio.commands.app import run
from dcnbio.model.checkpoint import save_checkpoint
from dcnbio.model.interventions import freeze_norms, freeze_time, scale_sigma, silence_orders
from dcnbio.model.network import build

PROBE = ["probe", "--checkpoint", "net.safetensors", "--limit", "3", "--times", "0,0.5,1", "--out", "run.zarr"]
SETTINGS = {"times": [0.0, 0.5, 1.0]}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    net = build("dcn-ode", 3, widths=(8, 16), norm_groups=4, integration_time=1.0)
    save_checkpoint(net, "net.safetensors")


def python(net=None, **settings):
    net = net or dcnbio.load("net.safetensors")
    return dcnbio.probe(net, dcnbio.load_images(limit=3), **{**SETTINGS, **settings})


def same(tree, other):
    for name in ("/", "/block1", "/block2"):
        xr.testing.assert_equal(
            tree[name].to_dataset(inherit=False).compute(), other[name].to_dataset(inherit=False).compute()
        )


@pytest.mark.parametrize(
    ("text", "patch"),
    [
        ("block=1;time=0.5;how=ablate;channels=0-2,7", {"how": "ablate", "channels": [0, 1, 2, 7]}),
        ("block=1;time=0.5;how=scale;value=2", {"how": "scale", "value": 2.0}),
        ("block=1;time=0.5;value=-1.5;region=:4,8:12", {"value": -1.5, "region": (slice(4), slice(8, 12))}),
        (" block = 1 ; time = 0.5 ; value = 1,2 ; channels = 3,0 ", {"value": [1.0, 2.0], "channels": [3, 0]}),
        ("block=1;time=0.5;how=set;value=one.npy", {"value": np.float32(0.25)}),
        ("block=1;time=0.5;how=ablate;region=mask.npy", {"how": "ablate", "region": np.eye(30, dtype=bool)}),
    ],
)
def test_a_patch_is_that_of_python(text, patch):
    np.save("one.npy", np.float32(0.25))
    np.save("mask.npy", np.eye(30, dtype=bool))
    assert run([*PROBE, "--patch", text]) == 0
    found = dcnbio.open("run.zarr")
    expected = python(patch=dcnbio.Patch(1, 0.5, **patch))
    same(found, expected)
    assert not np.array_equal(found["logits"], python()["logits"])
    assert json.loads(found.attrs["provenance"])["patches"] == json.loads(expected.attrs["provenance"])["patches"]


def test_patches_add_up():
    texts = ["block=1;time=0.5;how=scale;value=2", "block=2;time=0;how=ablate;channels=5"]
    assert run([*PROBE, "--patch", texts[0], "--patch", texts[1]]) == 0
    same(
        dcnbio.open("run.zarr"),
        python(patch=[dcnbio.Patch(1, 0.5, "scale", 2.0), dcnbio.Patch(2, 0.0, "ablate", channels=[5])]),
    )


def test_the_intact_runs_map_is_put_into_the_masked_region(capsys):
    """The law: in the region, h at the patch's time is the intact run's; before it, it is the masked run's."""
    assert run([*PROBE[:-1], "intact.zarr"]) == 0
    graft = "block=1;time=0.5;how=replace;value=intact.zarr;region=8:22,8:22"
    assert run([*PROBE, "--mask", "14", "--reduce", "intact_distance", "--patch", graft]) == 0
    helped, intact, masked = (dcnbio.open("run.zarr"), dcnbio.open("intact.zarr"), python(mask=14))
    inside = {"y": slice(8, 22), "x": slice(8, 22)}
    h, whole, hidden = (tree["block1"]["h"] for tree in (helped, intact, masked))
    np.testing.assert_array_equal(h.sel(time=0.5).isel(**inside), whole.sel(time=0.5).isel(**inside))
    np.testing.assert_array_equal(h.sel(time=0.0), hidden.sel(time=0.0))
    assert not np.array_equal(h.sel(time=1.0), hidden.sel(time=1.0))
    assert "intact_distance" in helped["block1"]
    capsys.readouterr()
    assert run(["info", "run.zarr"]) == 0
    assert "changed   h of block 1 at t = 0.5: replace region ['8:22', '8:22']" in capsys.readouterr().out


def test_another_patch_is_no_resumption(capsys):
    assert run([*PROBE, "--patch", "block=1;time=0.5;how=ablate;channels=0"]) == 0
    assert run([*PROBE, "--resume", "--patch", "block=1;time=0.5;how=ablate;channels=1"]) == 2
    assert "patches" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Invalid value for --patch: '' is empty"),
        ("block=1", "without time; give block=1;time=0.5"),
        ("bloc=1;time=1", "--patch has 'bloc=1'"),
        ("block=1;block=2;time=1", "--patch has 'block=2'; give parts with a value, each once"),
        ("block=1.5;time=0.5;how=ablate", "--patch (block) has '1.5' where a whole number is needed"),
        ("block=0;time=0.5;how=ablate", "block of a patch is 0"),
        ("block=9;time=0.5;how=ablate", "block is 9; dcn-ode has blocks 1 to 2"),
        ("block=1;time=soon;how=ablate", "--patch (time) has 'soon' where a number is needed"),
        ("block=1;time=5;how=ablate", "time of a patch is 5; block 1 runs from 0 to 1"),
        ("block=1;time=nan;how=ablate", "time of a patch is nan"),
        ("block=1;time=0.5;how=zap", "how of a patch is 'zap'; allowed are set, scale, ablate, replace"),
        ("block=1;time=0.5", "'set' needs a value"),
        ("block=1;time=0.5;how=ablate;value=1", "'ablate' takes no value"),
        ("block=1;time=0.5;value=much", "--patch has value=much; give a number, numbers between commas"),
        ("block=1;time=0.5;value=nan", "value of a patch is not finite"),
        ("block=1;time=0.5;value=absent.npy", "value=absent.npy, which cannot be read as an array"),
        ("block=1;time=0.5;value=net.npy", "value=net.npy, which cannot be read as an array"),
        ("block=1;time=0.5;how=replace;value=absent.zarr", "absent.zarr does not exist"),
        ("block=1;time=0.5;value=1,2;channels=0-2", "does not broadcast to the maps it changes"),
        ("block=1;time=0.5;value=0;channels=8", "block 1 has channels 0 to 7"),
        ("block=1;time=0.5;value=0;channels=a", "--patch (channels) has 'a' where a whole number is needed"),
        ("block=1;time=0.5;value=0;region=8", "--patch has region=8; give rows and columns as first:last+1"),
        ("block=1;time=0.5;value=0;region=0:31,0:3", "block 1 has maps of 30 x 30"),
        ("block=2;time=0.5;value=0;region=8:22,8:22", "block 2 has maps of 15 x 15"),
    ],
)
def test_what_is_no_patch_is_refused_and_nothing_is_written(capfd, text, said):
    Path("net.npy").write_bytes(b"no array")
    before = sorted(Path().rglob("*"))
    assert run([*PROBE, "--patch", text]) == 2
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("dcnbio: ")]
    assert said in line
    assert sorted(Path().rglob("*")) == before


CHANGES = {
    "sigma=1.5": lambda net: scale_sigma(net, 1.5),
    "time=0": lambda net: freeze_time(net, 0.0),
    "time=0.5": lambda net: freeze_time(net, 0.5),
    "orders=0,2": lambda net: silence_orders(net, [0, 2]),
}


@pytest.mark.parametrize("text", CHANGES)
def test_a_changed_network_is_recorded_as_from_python(text):
    assert run([*PROBE, "--intervention", text]) == 0
    found, expected = dcnbio.open("run.zarr"), python(CHANGES[text](dcnbio.load("net.safetensors")))
    same(found, expected)
    about = json.loads(found.attrs["provenance"])
    assert about["interventions"] == json.loads(expected.attrs["provenance"])["interventions"] == [text]


def test_changes_of_the_network_add_up_in_their_order(torch_images, capsys):
    assert run([*PROBE, "--intervention", "sigma=1.5", "--intervention", "norm=2"]) == 0
    net = freeze_norms(scale_sigma(dcnbio.load("net.safetensors"), 1.5), torch_images)
    same(dcnbio.open("run.zarr"), python(net))
    told = capsys.readouterr().out
    assert "sigma=1.5, norm=2" in told
    assert run(["info", "run.zarr", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["provenance"]["interventions"] == ["sigma=1.5", "norm=2"]


@pytest.fixture
def torch_images():
    import torch

    return torch.from_numpy(dcnbio.load_images(limit=2)["image"].values)


def test_a_network_frozen_at_another_time_is_no_resumption(capsys):
    """Both have the same weights: it is the list of what was done that differs."""
    assert run([*PROBE, "--intervention", "time=0.5"]) == 0
    assert run([*PROBE, "--resume", "--intervention", "time=0.25"]) == 2
    assert "interventions" in capsys.readouterr().err


def test_the_accuracy_of_a_changed_network_is_that_of_python(capsys):
    assert (
        run(["evaluate", "--checkpoint", "net.safetensors", "--limit", "20", "--json", "--intervention", "time=0"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    expected = dcnbio.evaluate(freeze_time(dcnbio.load("net.safetensors")), dcnbio.load_images(limit=20))
    assert (found["confusion"], found["interventions"]) == (expected.confusion.tolist(), ["time=0"])


@pytest.mark.parametrize("command", [PROBE, ["evaluate", "--checkpoint", "net.safetensors"]])
@pytest.mark.parametrize("text", ["", "sigma", "sigma=0", "sigma=big", "zap=1", "orders=1.5", "orders=9", "time=-1"])
def test_what_is_no_intervention_is_refused_and_nothing_is_written(capfd, command, text):
    before = sorted(Path().rglob("*"))
    assert run([*command, "--intervention", text]) == 2
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("dcnbio: ")]
    assert "fault of dcnbio" not in line
    assert sorted(Path().rglob("*")) == before
