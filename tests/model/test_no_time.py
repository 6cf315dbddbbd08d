"""Where no time passes, every way of solving hands the state on, and gradients with it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import dcnbio
from dcnbio.model.interventions import freeze_norms
from dcnbio.model.network import Network, build
from dcnbio.model.patch import Patch
from dcnbio.model.solver_settings import SolverSettings

METHODS = {
    "dopri5": {},
    "rk4": {"method": "rk4", "step_size": 0.5},
    "euler": {"method": "euler", "step_size": 0.5},
    "bosh3": {"method": "bosh3"},
    "dopri8": {"method": "dopri8"},
    "implicit_adams": {"method": "implicit_adams", "step_size": 0.5},
}


class Own(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.rate = nn.Parameter(torch.full((channels, 1, 1), 0.5))

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        return -self.rate * h


def network(field: str, time: tuple[float, ...] = (0.0, 0.25)) -> Network:
    own = Own if field == "own" else None
    return build("dcn-ode", widths=(4, 4), norm_groups=2, integration_time=time, vector_field=own)


def images() -> Tensor:
    return torch.rand(2, 3, 8, 8, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("stepping", ["shared", "per-image"])
@pytest.mark.parametrize("gradient", ["exact", "adjoint", "straight"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("field", ["dcn-ode", "own"])
def test_a_block_without_time_hands_its_input_on(field, method, gradient, stepping):
    settings = SolverSettings(**METHODS[method], gradient=gradient, stepping=stepping)
    net, shown = network(field), images().requires_grad_()
    run = net.run(shown, settings)
    first = run.blocks[0]
    torch.testing.assert_close(first.final, net.stem(shown), rtol=0, atol=1e-6)
    assert (first.work.nfe.tolist(), first.work.status.tolist(), first.work.reached.tolist()) == (
        [0, 0],
        [0, 0],
        [0, 0],
    )
    (found,) = torch.autograd.grad(first.final.sum(), shown, retain_graph=True)
    (wanted,) = torch.autograd.grad(net.stem(shown).sum(), shown)
    torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-6)
    run.logits.square().sum().backward()
    assert shown.grad.abs().max() > 0
    with torch.no_grad():
        assert torch.equal(net.run(images(), settings).blocks[0].final, first.final)


@pytest.mark.parametrize("gradient", ["exact", "adjoint"])
@pytest.mark.parametrize("method", METHODS)
def test_a_patch_at_the_end_is_what_the_next_layer_reads(method, gradient):
    net, settings = network("dcn-ode", (0.25, 0.25)), SolverSettings(**METHODS[method], gradient=gradient)
    patched = net.run(images(), settings, patches=[Patch(1, 0.25, "set", 3.0, channels=[1])]).blocks[0]
    assert (patched.final[:, 1] == 3).all()
    assert patched.work.status.tolist() == [0, 0]


def test_norms_are_frozen_in_a_network_with_a_block_without_time():
    net = network("dcn-ode")
    frozen = freeze_norms(net, images()[:1], times=41)
    assert torch.allclose(frozen(images()[:1]), net(images()[:1]), atol=1e-2)


def test_features_and_logits_pass_blocks_without_time():
    net = network("dcn-ode", (0.0, 0.0))
    net.solver = SolverSettings(method="rk4", step_size=0.5)
    torch.testing.assert_close(dcnbio.features(net, 1)(images()), net.stem(images()), rtol=0, atol=1e-6)
    assert torch.isfinite(net(images())).all()
