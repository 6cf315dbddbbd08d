"""The completion experiment on small networks: equal norms, what is compared with what, and the mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import dcnbio
from dcnbio.errors import InputError
from dcnbio.images import central_boxes, mask_images
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe.completion import CompletionSettings, completion_experiment, passes
from dcnbio.probe.completion.conditions import conditions
from dcnbio.probe.completion.frozen import FrozenPair, solve_pair
from dcnbio.probe.completion.growth import growth_rates
from dcnbio.probe.completion.mechanism import mechanism_experiment
from dcnbio.probe.completion.perturbations import other_patch, same_spectrum, scrambled, white
from dcnbio.recording.reductions import group_normalised

BOX = central_boxes(14)[0]
SMALL = CompletionSettings(masks=(7, 14), times=2, batch_size=4, mechanism=2)


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    return np.random.default_rng(5).random((6, 3, 32, 32), dtype=np.float32)


@pytest.fixture(scope="module")
def net() -> Any:
    return dcnbio.build("dcn-ode", widths=(8, 16), norm_groups=4, integration_time=0.5)


@pytest.fixture(scope="module")
def flow(net: Any, images: np.ndarray) -> Any:
    return completion_experiment(net, images, SMALL)["flow"]


def norm(change: np.ndarray) -> np.ndarray:
    return np.sqrt((change.astype(np.float64) ** 2).sum((1, 2, 3)))


@pytest.mark.parametrize("make", [white, same_spectrum, lambda x, box, rng: other_patch(x, box)])
def test_perturbations_have_the_masks_norm_and_place(make: Any, images: np.ndarray) -> None:
    change = make(images, BOX, np.random.default_rng(0)) - images
    np.testing.assert_allclose(norm(change), norm(mask_images(images, 14) - images), rtol=1e-5)
    outside = change.copy()
    outside[:, :, BOX.rows, BOX.columns] = 0
    assert not outside.any()


def test_equal_spectrum_noise_has_the_spectrum_of_the_masks_change(images: np.ndarray) -> None:
    part = np.s_[:, :, BOX.rows, BOX.columns]
    change = same_spectrum(images, BOX, np.random.default_rng(0))[part].astype(np.float64) - images[part]
    expected = np.abs(np.fft.fft2(images[part].astype(np.float64)))
    np.testing.assert_allclose(np.abs(np.fft.fft2(change)), expected, rtol=1e-3, atol=1e-4)
    assert np.corrcoef(change.ravel(), images[part].ravel())[0, 1] < 0.9


def test_scrambled_images_keep_amplitudes_and_means(images: np.ndarray) -> None:
    other = scrambled(images, np.random.default_rng(0))
    np.testing.assert_allclose(np.abs(np.fft.fft2(other)), np.abs(np.fft.fft2(images)), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(other.mean((2, 3)), images.mean((2, 3)), rtol=1e-5)


def test_an_odd_mask_is_shown_in_four_places() -> None:
    boxes = [one.box for one in conditions(SMALL) if one.kind == "mask" and one.side == 7]
    assert boxes == list(central_boxes(7))


def test_intact_images_are_at_distance_zero_and_retrieved(flow: Any) -> None:
    intact = flow.sel(condition="intact")
    assert not intact["distance"].sel(region="whole").values.any()
    assert not intact["difference"].values.any()
    assert not intact["nearer"].isel(time=[0, -1]).values.any()


def test_distances_are_those_of_a_plain_run(net: Any, images: np.ndarray, flow: Any) -> None:
    tree = [dcnbio.probe(net, shown, times=2) for shown in (images, mask_images(images, 14))]
    for block, groups in ((1, 4), (2, 4)):
        a, b = (one[f"block{block}"]["h"].values for one in tree)
        found = flow.sel(condition="mask 14", block=block)
        np.testing.assert_allclose(found["difference"].isel(time=-1), np.abs(b - a)[:, -1].sum((1, 2, 3)), rtol=1e-3)
        own = norm(group_normalised(b[:, -1], groups) - group_normalised(a[:, -1], groups))
        np.testing.assert_allclose(found["distance"].sel(region="whole").isel(time=-1), own, rtol=1e-3)
    np.testing.assert_allclose(flow["logits"].sel(condition="mask 14").isel(time=-1), tree[1]["logits"], atol=1e-4)


def test_regions_add_up_to_the_whole(flow: Any) -> None:
    squares = flow["distance"].sel(condition="mask 14", block=1) ** 2
    parts = squares.sel(region=["inside", "border", "outside"]).sum("region")
    np.testing.assert_allclose(parts, squares.sel(region="whole"), rtol=1e-6)
    counts = flow["positions"].sel(condition="mask 14", block=1)
    assert int(counts.sel(region=["inside", "border", "outside"]).sum()) == int(counts.sel(region="whole"))


def test_retrieval_counts_others_that_are_nearer(net: Any, images: np.ndarray, flow: Any) -> None:
    maps = [
        dcnbio.probe(net, shown, times=2)["block1"]["h"].values[:, -1] for shown in (images, mask_images(images, 14))
    ]
    intact, masked = (group_normalised(one, 4).reshape(len(images), -1) for one in maps)
    apart = np.linalg.norm(masked[:, None] - intact[None], axis=2)
    expected = (apart < np.diag(apart)[:, None]).sum(1)
    np.testing.assert_array_equal(flow["nearer"].sel(condition="mask 14", block=1).isel(time=-1), expected)


def test_a_batch_size_changes_no_distance(net: Any, images: np.ndarray, flow: Any) -> None:
    other = completion_experiment(net, images, CompletionSettings(masks=(7, 14), times=2, batch_size=6, mechanism=2))
    np.testing.assert_allclose(other["flow"]["distance"], flow["distance"], rtol=1e-4)


def test_residual_blocks_have_two_times_and_no_twin(images: np.ndarray) -> None:
    small = dcnbio.build("resnet-blocks", widths=(8,), norm_groups=4)
    found = completion_experiment(small, images, CompletionSettings(masks=(14,), controls=False, times=5))
    assert list(found) == ["flow"]
    assert found["flow"].sizes["time"] == 2


def test_ticks_count_all_passes(net: Any, images: np.ndarray) -> None:
    counted: list[int] = []
    settings = CompletionSettings(masks=(14,), times=2)
    completion_experiment(net, images, settings, tick=counted.append)
    assert sum(counted) == passes(net, len(images), settings)


def test_too_few_images_are_refused(net: Any, images: np.ndarray) -> None:
    with pytest.raises(InputError, match="there are 3 images that can be used"):
        completion_experiment(net, images[:3], SMALL)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"main": 0}, "main is 0; it must be an even number from 2 to 32"),
        ({"masks": (33,)}, r"masks \(--masks\) have 33; the side of a square is at most 32 pixels"),
        ({"masks": (6, 6)}, "give each side once"),
        ({"times": 1}, "times is 1; at least 2"),
        ({"batch_size": 1}, "batch_size is 1; at least 2 images"),
        ({"mechanism": -1}, "mechanism is -1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CompletionSettings(**wrong)


def test_growth_rates_agree_with_finite_differences() -> None:
    field = dcnbio.build("dcn-ode", widths=(8,), norm_groups=4).double().block(1).field
    generator = torch.Generator().manual_seed(0)
    h, v = (torch.randn((3, 8, 9, 9), generator=generator, dtype=torch.float64) for _ in range(2))
    step, t = 1e-5, torch.tensor(0.3, dtype=torch.float64)
    with torch.no_grad():
        slope = (field(t, h + step * v) - field(t, h - step * v)) / (2 * step)
        expected = (slope * v).flatten(1).sum(1) / (v * v).flatten(1).sum(1)
        found = growth_rates(field, 0.3, h, v, 4).raw
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-8)


def test_growth_of_what_the_next_norm_reads_agrees_with_flows_that_are_followed() -> None:
    field = dcnbio.build("dcn-ode", widths=(8,), norm_groups=4).double().block(1).field
    generator = torch.Generator().manual_seed(0)
    # channels of very different sizes: the spread of all together says nothing of most
    sizes = torch.logspace(-2, 1, 8, dtype=torch.float64)[:, None, None]
    h, v = (sizes * torch.randn((3, 8, 9, 9), generator=generator, dtype=torch.float64) for _ in range(2))
    step, t = 1e-5, torch.tensor(0.3, dtype=torch.float64)

    def apart(difference: torch.Tensor, by: float) -> torch.Tensor:
        ends = [one + by * field(t, one) for one in (h, h + difference)]
        read = [torch.nn.functional.group_norm(end, 4) for end in ends]
        return (read[1] - read[0]).flatten(1).norm(dim=1)

    with torch.no_grad():
        found = growth_rates(field, 0.3, h, v, 4)
        for rate, difference in ((found.whole, v), (found.read, 1e-6 * v)):
            expected = (apart(difference, step) / apart(difference, -step)).log() / (2 * step)
            torch.testing.assert_close(rate, expected, rtol=1e-4, atol=1e-4)
        assert bool((found.read - found.raw).abs().max() > 1)
        assert bool(growth_rates(field, 0.3, h, 0 * v, 4).whole.isnan().all())


def test_a_pair_with_own_statistics_is_the_network_twice(net: Any, images: np.ndarray) -> None:
    solver = SolverSettings(rtol=1e-6, atol=1e-6)
    with torch.no_grad():
        start = net.stem(torch.from_numpy(images[:2])), net.stem(torch.from_numpy(mask_images(images[:2], 14)))
        pair = solve_pair(net.block(1), *start, solver, frozen=False)
        alone = [net.block(1)(one, solver) for one in start]
    for one, other in zip(pair, alone, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def test_frozen_statistics_carry_nothing_beyond_the_kernels() -> None:
    field = dcnbio.build("ode-net", widths=(8,), norm_groups=4).block(1).field
    generator = torch.Generator().manual_seed(0)
    intact = torch.randn((1, 8, 20, 20), generator=generator)
    changed = intact.clone()
    changed[:, :, :4, :4] += 1
    with torch.no_grad():
        for frozen, reach in ((True, False), (False, True)):
            a, b = FrozenPair(field, frozen)(torch.tensor(0.5), torch.cat([intact, changed], 1)).chunk(2, 1)
            # two 3 x 3 kernels reach two pixels
            assert bool(((a - b)[:, :, 6:, 6:].abs() > 1e-6).any()) is reach


def test_own_map_at_the_start_restores_the_intact_run(net: Any, images: np.ndarray) -> None:
    found = mechanism_experiment(net, images, SMALL)
    restored = found["patched"].sel(source="own").isel(moment=0).transpose("causal_image", "class")
    np.testing.assert_allclose(restored, found["intact_scores"], atol=1e-4)
    assert np.abs(found["masked_scores"] - found["intact_scores"]).max() > 1e-3
    for name in ("growth", "normalised_growth", "difference_growth"):
        assert np.isfinite(found[name]).all()
    frozen = found["frozen_distance"].sel(block=1, region="outside", end="0")
    np.testing.assert_allclose(frozen, 0, atol=1e-4)


def test_a_network_of_residual_blocks_gets_the_causal_test_alone(images: np.ndarray) -> None:
    found = mechanism_experiment(dcnbio.build("resnet-blocks", widths=(8,), norm_groups=4), images, SMALL)
    assert "growth" not in found
    assert found["fraction"].values.tolist() == [0.0, 1.0]
