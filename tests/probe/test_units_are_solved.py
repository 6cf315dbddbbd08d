"""Recorded units are those of the solution of the vector field, found by plain code that shares nothing with ours."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
import torch
from torch import Tensor
from torchdiffeq import odeint

from dcnbio.errors import InputError
from dcnbio.images import Blank, Grating, battery
from dcnbio.model.network import Network, build
from dcnbio.probe.responses.blank_error import blank_error
from dcnbio.probe.responses.blank_solve import BlankTolerance, solve_blank
from dcnbio.probe.responses.own_stimuli import OwnGratings, record_own
from dcnbio.probe.responses.units import UnitSettings, record_units

ORDERS = [(0, 2), (0, 1), (0, 0), (1, 1), (1, 0), (2, 0)]
TIMES = 5
CHANNELS, GROUPS = 6, 6


def derivative(sigma: float, order: int) -> np.ndarray:
    """The paper's sampled derivative of a Gaussian, times sigma^order."""
    half = math.ceil(2 * sigma + 0.5)
    x = np.arange(-half, half + 1) / sigma
    gauss = np.exp(-(x**2) / 2)
    return gauss / gauss.sum() * [np.ones_like(x), -x, x**2 - 1][order]


def plain_kernel(weights: dict[str, Tensor], name: str) -> Tensor:
    alpha, sigma = weights[f"{name}.alpha.offset"], float(2 ** weights[f"{name}.log2_sigma.offset"])
    basis = torch.tensor(np.stack([np.outer(derivative(sigma, a), derivative(sigma, b)) for a, b in ORDERS]))
    return torch.einsum("fio,fyx->oiyx", alpha, basis)


def normalised(weights: dict[str, Tensor], name: str, h: Tensor, eps: float = 1e-5) -> Tensor:
    grouped = h.reshape(len(h), GROUPS, -1)
    spread = torch.sqrt(((grouped - grouped.mean(-1, keepdim=True)) ** 2).mean(-1, keepdim=True) + eps)
    maps = ((grouped - grouped.mean(-1, keepdim=True)) / spread).reshape(h.shape)
    return maps * weights[f"{name}.weight"][:, None, None] + weights[f"{name}.bias"][:, None, None]


def celu(x: Tensor) -> Tensor:
    return torch.where(x > 0, x, torch.expm1(torch.minimum(x, torch.zeros_like(x))))


def plain_units(
    net: Network, image: np.ndarray, tolerance: float = 1e-8, early: float | None = None, method: str = "dopri5"
) -> tuple[np.ndarray, np.ndarray]:
    """z(t) and h(t) - h(0) of the units of block 1, (time, channel), in float64; until 0.006 to `early`."""
    weights = {name: value.detach().double() for name, value in net.state_dict().items()}
    kernels = [plain_kernel(weights, f"blocks.0.field.conv{i}") for i in (1, 2)]

    def field(t: Tensor, h: Tensor) -> Tensor:
        for i, kernel in enumerate(kernels, 1):
            maps = celu(normalised(weights, f"blocks.0.field.norm{i}", h))
            with_time = torch.cat([torch.full_like(maps[:, :1], float(t)), maps], 1)
            h = torch.nn.functional.conv2d(with_time, kernel, padding=kernel.shape[-1] // 2)
        return normalised(weights, "blocks.0.field.norm3", h)

    start = torch.nn.functional.conv2d(torch.tensor(image, dtype=torch.float64)[None], weights["stem.weight"])
    start = start + weights["stem.bias"][:, None, None]
    times = torch.linspace(0, float(net.block(1).integration_time), TIMES, dtype=torch.float64)
    if early is None:
        path = odeint(field, start, times, rtol=tolerance, atol=tolerance, method=method)
    else:
        begun = odeint(field, start, torch.tensor([0.0, 0.006]).double(), rtol=early, atol=early, method=method)[-1]
        later = torch.cat([torch.tensor([0.006]).double(), times[1:]])
        rest = odeint(field, begun, later, rtol=tolerance, atol=tolerance, method=method)
        path = torch.cat([start[None], rest[1:]])
    z = torch.stack([celu(normalised(weights, "readout.norm", h)) for h in path])
    middle = path.shape[-1] // 2
    return z[:, 0, :, middle, middle].numpy(), (path - path[:1])[:, 0, :, middle, middle].numpy()


@pytest.fixture(scope="module")
def net() -> Network:
    """One block as the paper's, of six channels, at its tolerance; its norms have offsets, as after training."""
    made = build("dcn-ode", widths=(CHANNELS,), norm_groups=GROUPS, seed=3)
    draw = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for norm in (*made.block(1).field.norms, made.readout.norm):
            norm.bias.normal_(0, 0.3, generator=draw)
    return made


STIMULI = {
    "a grating": Grating(30.0, 0.15, 40.0, 0.96),
    "a faint grating": Grating(30.0, 0.15, 40.0, 0.12),
    "a small grating": Grating(30.0, 0.15, 40.0, 0.96, 3.0, 0.0, 16.0, 16.0),
    "a small faint grating": Grating(30.0, 0.15, 40.0, 0.24, 2.0, 0.0, 16.0, 16.0),
}


@torch.no_grad()
@pytest.mark.parametrize("name", STIMULI)
def test_units_are_those_of_the_solution_whatever_the_contrast(net, name):
    image = battery(STIMULI[name], {}).image.values
    found = record_units(net, image, UnitSettings(times=TIMES))
    z, change = plain_units(net, image[0])
    assert np.abs(found.z.values[0] - z).max() < 0.02 * np.abs(z).max()
    assert np.abs(found.h_change.values[0] - change).max() < 0.02 * np.abs(change).max()


@torch.no_grad()
def test_the_blank_is_that_of_the_solution_and_that_of_the_networks_tolerance_is_not(net):
    z, change = plain_units(net, np.full((3, 32, 32), 0.5), 1e-10)
    image = battery(Blank(), {}).image.values
    found = record_units(net, image, UnitSettings(times=TIMES))
    assert np.abs(found.z_blank.values - z).max() < 1e-3
    assert np.abs(found.h_change_blank.values - change).max() < 1e-3
    loose = record_units(net, image, UnitSettings(times=TIMES, tolerance=None))
    assert np.abs(loose.h_change_blank.values - change).max() > 0.1 * np.abs(change).max()


def test_uniform_light_of_any_luminance_moves_no_unit_behind_an_unpadded_stem(net):
    """The norm takes a constant away, so dh/dt is the blank's: r is 0, and what else is found is the solver's."""
    levels = np.array([0.02, 0.3, 0.98], dtype=np.float32)[:, None, None, None]
    found = record_units(net, levels * np.ones((1, 3, 32, 32), dtype=np.float32), UnitSettings(times=TIMES))
    assert np.abs(found.z.values - found.z_blank.values).max() < 1e-3


def test_stimuli_with_and_without_contrast_keep_their_places(net):
    images = battery(Grating(contrast=0.9), {"phase": [0.0, 90.0]}).image.values
    mixed = np.stack([images[0], np.full((3, 32, 32), 0.7, dtype=np.float32), images[1]])
    apart = record_units(net, images, UnitSettings(times=3, batch_size=1))
    found = record_units(net, mixed, UnitSettings(times=3, batch_size=2))
    assert np.allclose(found.z.values[[0, 2]], apart.z.values, atol=1e-5)
    assert np.allclose(found.z.values[1], found.z_blank.values, atol=1e-3)


def test_own_gratings_take_the_same_blank(net):
    own = OwnGratings(*(np.full(CHANNELS, value) for value in (90.0, 0.25, 0.0, 16.0, 16.0)))
    shown = record_own(net, own, {"contrast": [0.24], "diameter": [2.0, 30.0]}, UnitSettings(times=TIMES))
    z, _ = plain_units(net, np.full((3, 32, 32), 0.5), 1e-10)
    assert np.abs(shown.z_blank.values - z).max() < 1e-3


@pytest.fixture(scope="module")
def untrained() -> Network:
    """Its norms have no offsets, so that dh/dt is 0 at the blank: a place where errors grow a millionfold."""
    return build("dcn-ode", widths=(CHANNELS,), norm_groups=GROUPS, seed=3)


@torch.no_grad()
def test_the_blank_of_an_untrained_network_is_that_of_the_solution(untrained):
    """By a method of another order, in plain code, with another moment at which the tolerance is let go."""
    image = battery(Blank(), {}).image.values
    found = record_units(untrained, image, UnitSettings(times=TIMES))
    z, change = plain_units(untrained, np.full((3, 32, 32), 0.5), 1e-9, early=1e-14, method="dopri8")
    assert np.abs(found.z_blank.values - z).max() < 2e-3
    assert np.abs(found.h_change_blank.values - change).max() < 2e-3


def test_the_error_of_the_blank_is_that_of_the_start(net, untrained, monkeypatch):
    assert blank_error(net).max() < 1e-5
    assert blank_error(untrained).max() < 2e-3
    module = sys.modules["dcnbio.probe.responses.blank_error"]
    monkeypatch.setattr(module, "BLANK", BlankTolerance(1e-9, 1e-9))
    assert blank_error(untrained).max() > 0.02


@torch.no_grad()
@pytest.mark.parametrize("end", [0.0, 0.002, 0.1])
def test_a_blank_has_the_times_of_any_other_image(untrained, end):
    short = build("dcn-ode", widths=(CHANNELS,), norm_groups=GROUPS, seed=3, integration_time=end).double()
    h = torch.zeros(1, CHANNELS, 30, 30, dtype=torch.float64)
    found, plain = solve_blank(short.block(1), h, short.solver, 5), short.block(1).run(h, short.solver, 5)
    assert torch.equal(found.times, plain.times)
    assert found.path.shape == plain.path.shape
    assert found.ok
    assert torch.equal(found.path[:, 0], h)


def test_a_double_copy_leaves_the_network_as_it_is(net):
    before = {name: value.clone() for name, value in net.state_dict().items()}
    record_units(net, battery(Blank(), {}).image.values)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert net.solver.rtol == 1e-3


@pytest.mark.parametrize("tolerance", [0.0, -1e-6, 1.0, math.nan])
def test_a_tolerance_that_is_none_is_refused(tolerance):
    with pytest.raises(InputError, match=r"tolerance is .*give a number between 0 and 1"):
        UnitSettings(tolerance=tolerance)
