"""Completion and contrast against a second network in plain numpy, written from the definitions alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import sliding_window_view

import dcnbio
from dcnbio.analysis.completion.index import completion_index
from dcnbio.analysis.completion.paper_measure import difference_curves, difference_fall
from dcnbio.analysis.completion.resampling import Resampler
from dcnbio.probe.completion import CompletionSettings, completion_experiment
from dcnbio.probe.contrast.measured import Experiment
from dcnbio.probe.contrast.parts import response
from dcnbio.probe.contrast.settings import ContrastSettings

WIDTHS, GROUPS, END, STEPS = (4, 8), 4, 0.2, 6
MASKED = ["mask 14"]
ORDERS = ((0, 2), (0, 1), (0, 0), (1, 1), (1, 0), (2, 0))
Weights = dict[str, np.ndarray]


def kernels(alpha: np.ndarray, log2_sigma: float) -> np.ndarray:
    """Sum scale-normalised derivatives of a sampled Gaussian, (outputs, inputs, y, x)."""
    sigma = 2.0**log2_sigma
    half = math.ceil(2 * sigma + 0.5)
    x = np.arange(-half, half + 1)
    gauss = np.exp(-(x**2) / (2 * sigma**2))
    gauss /= gauss.sum()
    # sigma^n (-1 / (sigma sqrt 2))^n H_n(x / (sigma sqrt 2)) written out
    lines = [gauss, -x / sigma * gauss, (x**2 / sigma**2 - 1) * gauss]
    basis = np.stack([np.outer(lines[a], lines[b]) for a, b in ORDERS])
    return np.einsum("fio,fyx->oiyx", alpha, basis)


def convolved(maps: np.ndarray, kernel: np.ndarray, padding: int, stride: int = 1) -> np.ndarray:
    """Correlate maps with kernels."""
    padded = np.pad(maps, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = sliding_window_view(padded, kernel.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return np.moveaxis(np.tensordot(windows, kernel, axes=([1, 4, 5], [1, 2, 3])), -1, 1)


def normed(maps: np.ndarray, groups: int, eps: float = 1e-5) -> np.ndarray:
    """Take away the mean and divide by the standard deviation of each image and group."""
    rows = maps.reshape(len(maps), groups, -1)
    rows = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + eps)
    return rows.reshape(maps.shape)


class Naive:
    """A dcn-ode in float64, Runge-Kutta of order 4 with equal steps."""

    def __init__(self, net: Any, steps: int = STEPS) -> None:
        self.steps = steps
        self.w: Weights = {name: value.detach().double().numpy() for name, value in net.state_dict().items()}

    def norm(self, maps: np.ndarray, name: str) -> np.ndarray:
        gain, offset = (self.w[f"{name}.{part}"][:, None, None] for part in ("weight", "bias"))
        return normed(maps, GROUPS) * gain + offset

    def read(self, maps: np.ndarray, name: str) -> np.ndarray:
        x = self.norm(maps, name)
        return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))

    def field(self, block: int, t: float, h: np.ndarray) -> np.ndarray:
        for number in (1, 2):
            name = f"blocks.{block}.field.conv{number}"
            kernel = kernels(self.w[f"{name}.alpha.offset"], float(self.w[f"{name}.log2_sigma.offset"][0]))
            x = self.read(h, f"blocks.{block}.field.norm{number}")
            h = convolved(np.concatenate([np.full_like(x[:, :1], t), x], 1), kernel, kernel.shape[-1] // 2)
        return self.norm(h, f"blocks.{block}.field.norm3")

    def path(self, block: int, h: np.ndarray, end: float) -> list[np.ndarray]:
        """Give h at 0, half of the time and the end."""
        found, dt = [h], end / self.steps
        for step in range(self.steps):
            t = step * dt
            a = self.field(block, t, h)
            b = self.field(block, t + dt / 2, h + dt / 2 * a)
            c = self.field(block, t + dt / 2, h + dt / 2 * b)
            d = self.field(block, t + dt, h + dt * c)
            h = h + dt / 6 * (a + 2 * b + 2 * c + d)
            if step + 1 in (self.steps // 2, self.steps):
                found.append(h)
        return found

    def run(self, images: np.ndarray, first_end: float = END) -> tuple[list[list[np.ndarray]], np.ndarray]:
        h = convolved(images, self.w["stem.weight"], 0) + self.w["stem.bias"][:, None, None]
        paths = [self.path(0, h, first_end)]
        x = self.read(paths[0][-1], "transitions.0.norm")
        h = convolved(x, self.w["transitions.0.conv.weight"], 1, 2) + self.w["transitions.0.conv.bias"][:, None, None]
        paths.append(self.path(1, h, END))
        mean = self.read(paths[1][-1], "readout.norm").mean((2, 3))
        return paths, mean @ self.w["readout.linear.weight"].T + self.w["readout.linear.bias"]


def region(block: int, name: str) -> np.ndarray:
    """Say which positions see nothing but the 14 x 14 mask (pixels 9 to 22), some of it, or none, layer by layer."""
    low, high = np.arange(30), np.arange(30) + 2  # 3 x 3, no padding
    if block:
        place = np.arange(15)  # 4 x 4, stride 2, padding 1
        low, high = low[np.maximum(2 * place - 1, 0)], high[np.minimum(2 * place + 2, 29)]
    within, touched = (low >= 9) & (high <= 22), (high >= 9) & (low <= 22)
    inside, any_of_it = np.outer(within, within), np.outer(touched, touched)
    return {"whole": any_of_it | True, "inside": inside, "border": any_of_it & ~inside, "outside": ~any_of_it}[name]


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    rng = np.random.default_rng(3)
    smooth = rng.random((5, 3, 8, 8)).repeat(4, 2).repeat(4, 3)
    return np.ascontiguousarray(0.7 * smooth + 0.3 * rng.random((5, 3, 32, 32)), dtype=np.float32)


@pytest.fixture(scope="module")
def net() -> Any:
    return dcnbio.build("dcn-ode", seed=4, widths=WIDTHS, norm_groups=GROUPS, integration_time=END)


@pytest.fixture(scope="module")
def naive(net: Any, images: np.ndarray) -> tuple[Any, Any]:
    masked = images.astype(np.float64)
    masked[:, :, 9:23, 9:23] = 0
    second = Naive(net)
    return second.run(images.astype(np.float64)), second.run(masked)


@pytest.fixture(scope="module")
def found(net: Any, images: np.ndarray) -> Any:
    settings = CompletionSettings(masks=(14,), controls=False, times=3, rtol=1e-5, atol=1e-5, batch_size=8)
    return completion_experiment(net, images, settings)["flow"].sel(condition=["intact", *MASKED])


def test_paths_and_scores_are_those_of_the_second_network(found: Any, naive: Any) -> None:
    for condition, (paths, scores) in zip(("intact", "mask 14"), naive, strict=True):
        np.testing.assert_allclose(found["logits"].sel(condition=condition).isel(time=-1), scores, atol=1e-4)
        pairs = [zip(*both, strict=True) for both in zip(naive[0][0], paths, strict=True)]
        apart = [[np.abs(a - b).sum((1, 2, 3)) for a, b in pair] for pair in pairs]
        np.testing.assert_allclose(found["difference"].sel(condition=condition), np.swapaxes(apart, 1, 2), rtol=1e-3)


def test_completion_is_what_the_definitions_make_of_the_second_network(found: Any, naive: Any) -> None:
    (intact, _), (masked, _) = naive
    one = Resampler(0, 99)
    for block in (0, 1):
        z, zm = ([normed(h, GROUPS) for h in paths[block]] for paths in (intact, masked))
        for name in ("whole", "inside", "border", "outside"):
            at = region(block, name)
            own = [np.linalg.norm((a - b)[:, :, at].reshape(5, -1), axis=1) for a, b in zip(z, zm, strict=True)]
            pairs = [[np.linalg.norm((a[i] - a[j])[:, at]) for i in range(5) for j in range(5) if i != j] for a in z]
            rho = np.sum(own, 1) / 5 / np.mean(pairs, 1)
            index = completion_index(found, MASKED, block + 1, one, region=name)
            assert index.value == pytest.approx(1 - rho[-1] / rho[0], abs=1e-3)
        nearest = np.array([[np.linalg.norm(a - b) for b in z[-1]] for a in zm[-1]]).argmin(1) == np.arange(5)
        mine = found["nearer"].sel(condition="mask 14", block=block + 1).isel(time=-1) == 0
        assert mine.values.tolist() == nearest.tolist()
        size = np.array([np.abs(h).sum((1, 2, 3)) for h in intact[block]])
        apart = np.array([np.abs(a - b).sum((1, 2, 3)) for a, b in zip(intact[block], masked[block], strict=True)])
        curves = difference_curves(found, MASKED).sel(block=block + 1)
        np.testing.assert_allclose(curves["D"].sel(reading="A(t)"), (apart / size).mean(1), rtol=1e-3)
        np.testing.assert_allclose(curves["D"].sel(reading="A(0)"), (apart / size[0]).mean(1), rtol=1e-3)
        np.testing.assert_allclose(curves["null"], (size[0] / size).mean(1), rtol=1e-3)
        fall = difference_fall(found, MASKED, block + 1, one)
        assert fall.fall.value == pytest.approx((apart / size).mean(1)[-1] / (apart / size).mean(1)[0], rel=1e-3)


def test_contrast_is_what_the_definitions_make_of_the_second_network(net: Any, images: np.ndarray, naive: Any) -> None:
    c = 0.2
    settings = ContrastSettings(contrasts=(c,), rtol=1e-6, atol=1e-6)
    found = response(Experiment(net, torch.from_numpy(images), settings)).sel(contrast=c)
    (reference, scores), _ = naive
    spread = np.linalg.norm(scores - scores.mean(1, keepdims=True), axis=1)
    for protocol, end in (("fixed T", END), ("T-hat", c * END)):
        paths, changed = Naive(net, 5 * STEPS).run(c * images.astype(np.float64), end)
        difference = normed(paths[0][-1], GROUPS, 0) - normed(reference[0][-1], GROUPS, 0)
        mine = found.sel(protocol=protocol)
        deviation = np.sqrt((difference**2).mean((1, 2, 3)))
        np.testing.assert_allclose(mine["map_deviation"], deviation, rtol=0.01, atol=1e-4)
        assert mine["answer"].values.tolist() == changed.argmax(1).tolist()
        np.testing.assert_allclose(
            mine["logit_deviation"], np.linalg.norm(changed - scores, axis=1) / spread, rtol=0.01, atol=1e-4
        )
