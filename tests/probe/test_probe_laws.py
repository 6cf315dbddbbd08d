"""A recording holds the numbers of the network it was made of, whatever else is asked for or shares a batch."""

import copy

import numpy as np
import pytest
import torch

import dcnbio
from dcnbio.errors import InputError
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe import ProbeSettings, batch_coupling, evaluate
from dcnbio.probe.stimuli import as_stimuli, prepared_images

BLOCKS = ("block1", "block2", "block3")


@pytest.fixture(scope="module")
def net():
    return dcnbio.load("dcn-ode")


@pytest.fixture(scope="module")
def images():
    return dcnbio.load_images(limit=10)


@pytest.fixture(scope="module")
def tree(net, images):
    return dcnbio.probe(net, images, times=5)


def test_h_is_labelled_with_name_and_unit(tree):
    for name in BLOCKS:
        h = tree[name]["h"]
        assert h.dims == ("stimulus", "time", "channel", "y", "x")
        assert h.attrs["long_name"]
        assert h.attrs["units"]
        assert np.isfinite(h.values).all()
        assert tree[name]["time"].values.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]


@pytest.mark.parametrize("stepping", ["per-image", "shared"])
def test_first_and_last_time_are_what_the_network_passes_on(net, images, stepping):
    tree = dcnbio.probe(net, images, times=3, stepping=stepping)
    tensor = torch.from_numpy(images["image"].values)
    with torch.no_grad():
        run = net.run(tensor, SolverSettings(stepping=stepping))
    np.testing.assert_array_equal(tree["logits"].values, run.logits.numpy())
    for name, block in zip(BLOCKS, run.blocks, strict=True):
        np.testing.assert_array_equal(tree[name]["h"].values[:, 0], block.path[:, 0].numpy())
        np.testing.assert_array_equal(tree[name]["h"].values[:, -1], block.final.numpy())
    if stepping == "shared":
        with torch.no_grad():
            np.testing.assert_array_equal(tree["logits"].values, net(tensor).numpy())


def test_more_times_change_neither_steps_nor_end(net, images):
    few = dcnbio.probe(net, images, times=2, blocks=[3])
    many = dcnbio.probe(net, images, times=200, blocks=[3])
    np.testing.assert_array_equal(few["block3"]["nfe"], many["block3"]["nfe"])
    np.testing.assert_array_equal(few["block3"]["h"].values[:, -1], many["block3"]["h"].values[:, -1])


def test_an_image_has_the_same_record_alone_and_in_any_batch(net, images, tree):
    alone = dcnbio.probe(net, images, times=5, batch_size=1)
    by_four = dcnbio.probe(net, images, times=5, batch_size=4)
    largest = float(abs(tree["logits"]).max())
    for other in (alone, by_four):
        assert float(abs(other["logits"] - tree["logits"]).max()) <= 1e-5 * largest
        for name in BLOCKS:
            np.testing.assert_array_equal(other[name]["nfe"], tree[name]["nfe"])


def test_in_float64_an_image_has_the_same_bits_alone_and_in_a_batch(net, images):
    few = images.isel(stimulus=slice(3))
    together = dcnbio.probe(net, few, times=2, dtype="float64")
    alone = dcnbio.probe(net, few, times=2, dtype="float64", batch_size=1)
    np.testing.assert_array_equal(together["logits"], alone["logits"])
    np.testing.assert_array_equal(together["block1"]["h"], alone["block1"]["h"])


def test_evaluations_are_two_and_six_per_attempt(tree):
    for name in BLOCKS:
        node = tree[name]
        np.testing.assert_array_equal(node["nfe"], 2 + 6 * (node["accepted"] + node["rejected"]))
        steps = node["step_time"].values
        np.testing.assert_array_equal(np.isfinite(steps).sum(1), node["accepted"].values)
        assert (np.nanmax(steps, 1) >= 2.0).all()


def test_probing_leaves_the_network_as_it_was(net, images):
    net.train()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    state = torch.random.get_rng_state()
    first = dcnbio.probe(net, images, times=2, blocks=[3])
    second = dcnbio.probe(net, images, times=2, blocks=[3])
    np.testing.assert_array_equal(first["block3"]["h"], second["block3"]["h"])
    assert net.training
    net.eval()
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(p.grad is None for p in net.parameters())
    for name, value in net.state_dict().items():
        assert torch.equal(value, before[name])


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_rounded_weights_are_refused_and_not_probed_in_silence(net, images, kind):
    rounded = copy.deepcopy(net).to(kind)
    for measure in (dcnbio.probe, dcnbio.evaluate):
        with pytest.raises(
            InputError, match=f"weights are {kind}; the solver controls its error in float32 or float64"
        ):
            measure(rounded, images)


def test_contrast_and_mask_are_what_they_are_by_hand(net, images):
    by_hand = images["image"].values.copy()
    by_hand[:, :, 9:23, 9:23] = 0
    masked = dcnbio.probe(net, images, times=2, mask=14, contrast=0.5)
    expected = dcnbio.probe(net, by_hand * np.float32(0.5), times=2)
    np.testing.assert_array_equal(masked["logits"], expected["logits"])


def test_residual_blocks_have_an_input_and_an_output(images):
    tree = dcnbio.probe(dcnbio.build("resnet-blocks", widths=(8, 16), norm_groups=4), images, times=9)
    assert tree["block1"]["time"].values.tolist() == [0.0, 1.0]
    assert tree["block2"]["h"].sizes["time"] == 2


@pytest.mark.parametrize("row", dcnbio.ROWS)
def test_every_row_can_be_probed(row, images):
    net = dcnbio.build(row, widths=(8, 16), norm_groups=0, seed=2)
    tree = dcnbio.probe(net, images.isel(stimulus=slice(2)), times=3)
    assert np.isfinite(tree["logits"].values).all()
    assert (tree["block1"]["status"].values == 0).all()


def test_a_limit_on_steps_gives_a_status_and_keeps_what_was_reached(net, images):
    tree = dcnbio.probe(net, images.isel(stimulus=slice(2)), times=21, blocks=[1], max_steps=2)
    node = tree["block1"]
    assert (node["status"].values != 0).all()
    assert all("limit on attempted steps" in reason for reason in node["reason"].values)
    h = node["h"].values
    assert np.isfinite(h[:, 0]).all()
    assert np.isnan(h[:, -1]).all()
    assert np.isnan(tree["logits"].values).all()


def test_sharing_steps_moves_logits_and_is_reported(net, images):
    coupling = batch_coupling(net, images, ProbeSettings(), n=4)
    assert coupling.n == 4
    assert 0 < coupling.logits < 0.1
    assert len(coupling.nfe_together) == len(coupling.nfe_alone) == 3


def test_accuracy_counts_what_was_evaluated(net):
    data = dcnbio.load_images(limit=30)
    found = evaluate(net, data, batch_size=16)
    with torch.no_grad():
        answers = net.run(torch.from_numpy(data["image"].values), SolverSettings(stepping="per-image")).logits.argmax(1)
    assert found.n == 30
    assert found.confusion.sum() == 30
    assert abs(found.right - int((answers.numpy() == data["label"].values).sum())) <= 1
    low, high = found.interval
    assert low < found.accuracy < high


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((2, 32, 32, 3), np.float32), "give floating-point RGB"),
        (np.full((2, 3, 32, 32), 255, np.uint8), "give floating-point RGB"),
        (np.full((2, 3, 32, 32), 2.6, np.float32), "no mean or sd"),
        (np.full((2, 3, 3, 3), 0.5, np.float32), "too small"),
        (np.zeros((0, 3, 32, 32), np.float32), "no images"),
    ],
)
def test_images_that_are_no_rgb_in_unit_range_are_refused(net, images, message):
    with pytest.raises(InputError, match=message):
        dcnbio.probe(net, images)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"blocks": [4]}, "has blocks 1 to 3"),
        ({"blocks": [1.5]}, "blocks has 1.5"),
        ({"blocks": []}, "has blocks 1 to 3"),
        ({"times": 2.5}, "times has 2.5"),
        ({"batch_size": 2.5}, "batch_size has 2.5"),
        ({"mask": -2}, "0 pixels or more"),
        ({"contrast": 1e39}, "must be finite"),
        ({"device": "cuda:99"}, "does not have"),
        ({"device": "abacus"}, "does not have"),
        ({"resume": True}, "give out="),
        ({"times": 1}, "ask for 2 or more"),
        ({"times": [0.0, 3.0]}, "between 0 and T"),
        ({"stepping": "each"}, "allowed are"),
        ({"method": "rk4"}, "step_size is not given"),
        ({"rtol": -1.0}, "positive and finite"),
        ({"mask": 7}, "no centre"),
        ({"tolerance": 1e-3}, "no setting of a probe"),
        ({"dtype": "float16"}, "float32 or float64"),
        ({"batch_size": 0}, "at least 1"),
        ({"contrast": -1.0}, "0 or more"),
    ],
)
def test_settings_that_are_not_allowed_are_named(net, images, settings, message):
    with pytest.raises(InputError, match=message):
        dcnbio.probe(net, images, **settings)


@pytest.mark.parametrize("shape", [(32, 48), (48, 32), (33, 45)])
def test_a_mask_lies_in_the_middle_of_images_that_are_no_squares(shape):
    side = 8 + shape[0] % 2
    images = as_stimuli(np.full((1, 3, *shape), 0.5, dtype=np.float32))
    masked = prepared_images(images, ProbeSettings(mask=side))[0, 0] == 0
    assert masked.sum() == side**2
    for turned in (masked[::-1], masked[:, ::-1]):  # central: the same whichever side one counts from
        np.testing.assert_array_equal(turned, masked)
    with pytest.raises(InputError, match=f"on {shape[1]} x {shape[0]} pixels, where its side is an (odd|even) number"):
        prepared_images(images, ProbeSettings(mask=side + 1))
    with pytest.raises(InputError, match=rf"is an (odd|even) number of at most {min(shape)}\."):
        prepared_images(images, ProbeSettings(mask=min(shape) + 2))


def test_a_mask_has_no_middle_where_one_side_is_odd_and_the_other_even():
    images = as_stimuli(np.full((1, 3, 32, 33), 0.5, dtype=np.float32))
    with pytest.raises(InputError, match="whose one side is odd and the other even"):
        prepared_images(images, ProbeSettings(mask=8))
