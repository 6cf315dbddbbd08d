"""Fixed steps and the adjoint in the compiled engine are torchdiffeq's in plain torch."""

from __future__ import annotations

import itertools

import pytest
import torch

from dcnbio.model import solve as solve_module
from dcnbio.model.engine import available
from dcnbio.model.fixed_steps import step_edges
from dcnbio.model.network import build
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import Status

pytestmark = [
    pytest.mark.skipif(not available(), reason="the compiled engine cannot be used here"),
    # torchdiffeq's fixed-step methods say that they show no accepted steps
    pytest.mark.filterwarnings("ignore:Solver '.*' does not support callbacks:UserWarning"),
]
TIMES = [0.0, 0.3, 0.75, 1.0]


def path_and_gradients(row: str, settings: SolverSettings, times: list[float] | int) -> list[torch.Tensor]:
    net = build(row, seed=1, widths=(4, 8), norm_groups=4, integration_time=1.2).double()
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(3, 3, 14, 14, generator=generator, dtype=torch.float64)
    run = net.run(images, settings, times)
    (run.logits.square().mean() + run.blocks[0].path.square().mean()).backward()
    gradients = [p.grad for p in net.parameters()]
    assert all(gradient is not None for gradient in gradients)
    return [run.logits.detach(), *(b.path.detach() for b in run.blocks), run.blocks[1].work.nfe, *gradients]


@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4"])
@pytest.mark.parametrize("row", ["dcn-ode", "ode-net", "dcn-sigma-ji", "dcn-sigma-t", "dcn-sigma-alpha-t"])
def test_fixed_steps_are_torchdiffeqs(monkeypatch, row, method):
    settings = SolverSettings(method=method, step_size=0.5)
    ours = path_and_gradients(row, settings, TIMES)
    monkeypatch.setattr(solve_module, "takes_fixed_steps", lambda *arguments: False)
    theirs = path_and_gradients(row, settings, TIMES)
    for one, other in zip(ours, theirs, strict=True):
        scale = max(float(other.abs().max()), 1e-3)
        assert float((one - other).abs().max()) < 1e-9 * scale


@pytest.mark.parametrize("row", ["dcn-ode", "dcn-sigma-t"])
def test_the_adjoint_in_the_engine_is_that_in_plain_torch(monkeypatch, row):
    settings = SolverSettings(gradient="adjoint", rtol=1e-4, atol=1e-4)
    exact = path_and_gradients(row, SolverSettings(rtol=1e-9, atol=1e-9), 2)
    ours = path_and_gradients(row, settings, 2)
    monkeypatch.setattr(solve_module, "suits_engine", lambda *arguments: False)
    theirs = path_and_gradients(row, settings, 2)
    torch.testing.assert_close(ours[:4], theirs[:4], rtol=1e-9, atol=1e-11)

    def distance(found: list[torch.Tensor]) -> float:
        return float(sum((a - b).square().sum() for a, b in zip(found[4:], exact[4:], strict=True)).sqrt())

    # both carry the adjoint's own error, and it is about the same
    assert distance(ours) < 3 * distance(theirs) + 1e-6


def test_evaluation_without_gradients_gives_the_same_bits():
    net = build("dcn-ode", widths=(4, 8), norm_groups=4)
    settings = SolverSettings(method="midpoint", step_size=0.7)
    images = torch.rand(2, 3, 14, 14, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        quiet = net.run(images, settings).logits
    assert torch.equal(quiet, net.run(images, settings).logits.detach())


def test_images_that_stop_being_finite_are_marked():
    net = build("dcn-ode", widths=(4,), norm_groups=4)
    images = torch.zeros(2, 3, 14, 14)
    images[1] = torch.inf
    work = net.run(images, SolverSettings(method="midpoint", step_size=1.0)).blocks[0].work
    assert work.status.tolist() == [Status.OK, Status.NON_FINITE]


@pytest.mark.parametrize(("end", "size", "count"), [(2.0, 2 / 3, 3), (2.0, 0.1, 20), (1.0, 5.0, 1), (2.0, 0.75, 3)])
def test_steps_leave_no_sliver_at_the_end(end, size, count):
    edges = step_edges(end, size)
    assert len(edges) == count + 1
    assert edges[-1] == end
    assert min(b - a for a, b in itertools.pairwise(edges)) > 0.01
