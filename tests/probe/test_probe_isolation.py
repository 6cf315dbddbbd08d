"""What is wrong with one image concerns that image alone: it has a status, a reason and no numbers."""

import numpy as np
import pytest
import torch
import xarray as xr

import dcnbio
from dcnbio.errors import SolverError
from dcnbio.figures.accessor import RecordingAccessor
from dcnbio.model.status import Status
from dcnbio.probe import ProbeSettings, batch_coupling
from dcnbio.recording import describe

BAD = [1, 4]
GOOD = [0, 2, 3, 5]


@pytest.fixture
def damaged(pictures):
    pictures[1, 0, 3, 3] = np.nan
    pictures[4] = np.inf
    return pictures


@pytest.mark.parametrize("stepping", ["per-image", "shared"])
def test_the_others_are_as_if_a_bad_image_were_not_there(small_net, damaged, stepping):
    tree = dcnbio.probe(small_net, damaged, times=3, stepping=stepping)
    alone = dcnbio.probe(small_net, damaged[GOOD], times=3, stepping=stepping)
    np.testing.assert_array_equal(tree["logits"].values[GOOD], alone["logits"])
    assert np.isnan(tree["logits"].values[BAD]).all()
    for name in ("block1", "block2"):
        node = tree[name]
        assert node["status"].values[BAD].tolist() == [Status.BAD_INPUT] * 2
        assert node["reason"].values[BAD].tolist() == ["image left out: non-finite values"] * 2
        assert np.isnan(node["h"].values[BAD]).all()
        assert np.isnan(node["step_time"].values[BAD]).all()
        assert node["nfe"].values[BAD].tolist() == [0, 0]
        assert (node["status"].values[GOOD] == Status.OK).all()
        assert node["reason"].values[GOOD].tolist() == [""] * 4
        for variable in ("h", "nfe", "accepted", "rejected"):
            np.testing.assert_array_equal(node[variable].values[GOOD], alone[name][variable].values)


@pytest.mark.parametrize("stepping", ["per-image", "shared"])
def test_a_recording_may_hold_bad_images_alone(small_net, stepping, tmp_path):
    nothing = np.full((3, 3, 32, 32), np.nan, dtype=np.float32)
    options = {"times": 2, "stepping": stepping, "batch_size": 2, "out": tmp_path / "run.zarr"}
    tree = dcnbio.probe(small_net, nothing, **options)
    assert tree.attrs["complete"] == 1
    assert (tree["block2"]["status"].values == Status.BAD_INPUT).all()
    assert np.isnan(tree["block1"]["h"].values).all()
    assert describe(tmp_path / "run.zarr")["blocks"]["block1"]["nfe"] is None
    again = dcnbio.probe(
        small_net, nothing, times=2, stepping=stepping, batch_size=2, out=tmp_path / "run.zarr", resume=True
    )
    xr.testing.assert_identical(again["block1"].to_dataset(), tree["block1"].to_dataset())


def test_images_that_were_not_solved_have_no_part_in_the_range_of_evaluations(small_net, damaged, tmp_path):
    tree = dcnbio.probe(small_net, damaged, times=2, out=tmp_path / "run.zarr")
    for name, block in describe(tmp_path / "run.zarr")["blocks"].items():
        solved = tree[name]["nfe"].values[GOOD]
        assert block["nfe"] == [solved.min(), solved.max()]
        assert block["failed"] == {"bad_input": 2}
        assert f"{solved.min()} to {solved.max()}" in RecordingAccessor(tree)._repr_html_()


def test_the_reason_a_file_gave_is_kept(small_net, tmp_path):
    (tmp_path / "cat").mkdir()
    from PIL import Image

    from dcnbio.images import read_images, to_dataset

    Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(tmp_path / "cat" / "a.png")
    (tmp_path / "cat" / "b.png").write_bytes(b"no picture")
    tree = dcnbio.probe(small_net, to_dataset(read_images(tmp_path, bad="mark")), times=2)
    assert tree["block1"]["reason"].values.tolist() == ["", "image left out: not a readable image"]


def test_an_image_that_ends_early_has_no_input_further_on(small_net, pictures):
    tree = dcnbio.probe(small_net, pictures, times=5, max_steps=2)
    first, second = tree["block1"], tree["block2"]
    assert (first["status"].values == Status.MAX_STEPS).all()
    assert (second["status"].values == Status.BAD_INPUT).all()
    np.testing.assert_array_equal(second["reason"], first["reason"])
    assert np.isfinite(first["h"].values[:, 0]).all()
    assert np.isnan(second["h"].values).all()


def test_the_reason_of_a_block_that_is_not_recorded_is_told(small_net, pictures):
    tree = dcnbio.probe(small_net, pictures, times=2, blocks=2, max_steps=2)
    assert all("in block1 at t = " in reason for reason in tree["block2"]["reason"].values)


def test_accuracy_counts_failed_images_as_wrong_and_names_them(small_net, damaged):
    data = dcnbio.load_images(limit=6)
    data["image"].values[:] = damaged
    data["label"].values[:] = 0
    found = dcnbio.evaluate(small_net, data)
    assert found.n == 6
    assert list(found.failures) == data["stimulus"].values[BAD].tolist()
    assert found.failed == 2
    assert found.confusion.sum() == 4
    assert found.shown.tolist() == [6] + [0] * 9
    plain = found.to_dict()
    assert plain["per_class"]["airplane"] == found.right / 6
    assert plain["per_class"]["dog"] is None
    everything = dcnbio.evaluate(small_net, data, max_steps=1, stepping="per-image")
    assert (everything.right, everything.failed) == (0, 6)
    assert everything.to_dict()["nfe"] == [None, None]


def test_coupling_is_measured_on_images_that_can_be_used(small_net, damaged):
    coupling = batch_coupling(small_net, damaged, ProbeSettings(), n=3)
    same = batch_coupling(small_net, damaged[GOOD[:3]], ProbeSettings(), n=3)
    assert coupling == same
    with pytest.raises(SolverError, match="some of them were not solved"):
        batch_coupling(small_net, damaged, ProbeSettings(max_steps=1))
    with pytest.raises(SolverError, match="none of them can be used"):
        batch_coupling(small_net, damaged[BAD])


def test_a_part_that_is_frozen_keeps_its_mode(small_net, pictures):
    small_net.train()
    small_net.readout.eval()
    dcnbio.probe(small_net, torch.from_numpy(pictures[:1]), times=2)
    assert small_net.training
    assert not small_net.readout.training
    assert small_net.stem.training
    small_net.eval()


def test_half_precision_and_gradients_of_the_caller_make_no_difference(small_net, pictures):
    plain = dcnbio.probe(small_net, pictures, times=2)
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.enable_grad():
        inside = dcnbio.probe(small_net, pictures, times=2)
    np.testing.assert_array_equal(inside["block2"]["h"], plain["block2"]["h"])


def test_a_network_of_another_type_is_copied(small_net, pictures):
    tree = dcnbio.probe(small_net, pictures, times=2, dtype="float64")
    assert tree["block1"]["h"].dtype == np.float64
    assert all(p.dtype == torch.float32 for p in small_net.parameters())
    import json

    here = json.loads(tree.attrs["provenance"])
    there = json.loads(dcnbio.probe(small_net, pictures, times=2).attrs["provenance"])
    assert here["weights"] == there["weights"]
    assert (here["dtype"], there["dtype"]) == ("float64", "float32")


def test_arrays_tensors_and_data_sets_are_recorded_alike(small_net):
    data = dcnbio.load_images(limit=4)
    from_data = dcnbio.probe(small_net, data, times=2)
    turned = dcnbio.probe(small_net, data.transpose("y", "x", "channel", "stimulus"), times=2)
    values = data["image"].values
    for other in (
        turned,
        dcnbio.probe(small_net, values, times=2),
        dcnbio.probe(small_net, torch.tensor(values), times=2),
    ):
        np.testing.assert_array_equal(other["block1"]["h"], from_data["block1"]["h"])
    with pytest.raises(dcnbio.DcnbioError, match="give a Dataset from dcnbio"):
        dcnbio.probe(small_net, data.drop_vars("image"))


def test_a_call_from_python_says_so_in_the_provenance(small_net, pictures):
    import json

    tree = dcnbio.probe(small_net, pictures, times=np.array([0.0, 0.5]), blocks=np.array([1]))
    about = json.loads(tree.attrs["provenance"])
    assert about["command"].startswith("dcnbio.probe(net, data, times=")
    assert tree["block1"]["time"].values.tolist() == [0.0, 0.5]
    assert list(tree.children) == ["block1"]
