"""The adjoint method takes torchdiffeq's steps and gives its numbers, obeys the equation, and says where it cannot."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from dcnbio.errors import SolverError
from dcnbio.model import solve as solve_module
from dcnbio.model.adjoint_state import PIECE, AdjointLayout
from dcnbio.model.network import Network, build
from dcnbio.model.solution import Solution
from dcnbio.model.solve import solve
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.steps import DifferentiableField
from dcnbio.model.torchdiffeq_methods import solve_by_torchdiffeq

ROWS = ["dcn-ode", "ode-net", "dcn-sigma-ji", "dcn-sigma-t", "dcn-sigma-alpha-t"]
ADJOINT = SolverSettings(gradient="adjoint")


def small(row: str) -> Network:
    # a short way: backwards a network runs apart from rounding alone, and its steps with it
    return build(row, seed=1, widths=(4, 8), norm_groups=4, integration_time=0.4).double()


def images(count: int = 3) -> Tensor:
    return torch.rand(count, 3, 14, 14, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


class Timeless:
    """A field whose slope has no derivative with respect to t, the error of which torchdiffeq would control too."""

    def __init__(self, field: DifferentiableField) -> None:
        self.field, self.tensors = field, field.tensors

    def __call__(self, t: Tensor, h: Tensor) -> Tensor:
        return self.field(t.detach(), h)


def by_torchdiffeq(monkeypatch) -> None:
    """Have torchdiffeq solve and differentiate, evaluating what ours evaluates."""

    def run(field: nn.Module, h0: Tensor, times: Tensor, settings: SolverSettings, start: float = 0.0) -> Solution:
        prepared = Timeless(solve_module.prepared_for_adjoint(field, h0))
        return solve_by_torchdiffeq(prepared, h0, times, settings, adjoint=True, start=start)

    monkeypatch.setattr("dcnbio.model.ode_block.solve", run)


def gradients(net: Network, settings: SolverSettings, times: int | list[float]) -> tuple[list[int], list[Tensor]]:
    net.zero_grad()
    run = net.run(images(), settings, times)
    (run.logits.square().mean() + run.blocks[0].path.square().mean()).backward()
    work = [int(block.work.nfe[0]) for block in run.blocks] + [block.work.backward_nfe() for block in run.blocks]
    return work, [p.grad.clone() for p in net.parameters() if p.grad is not None]


@pytest.mark.parametrize("engine", [True, False])
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("times", [2, [0.0, 0.1, 0.25, 0.4], [0.2, 0.4]])
def test_steps_and_gradients_are_those_of_torchdiffeq(monkeypatch, row, engine, times):
    if not engine:
        monkeypatch.setattr(solve_module, "suits_engine", lambda *arguments: False)
    net = small(row)
    our_work, ours = gradients(net, ADJOINT, times)
    by_torchdiffeq(monkeypatch)
    their_work, theirs = gradients(net, ADJOINT, times)
    assert our_work == their_work
    assert len(ours) == len(theirs) == len(list(net.parameters()))
    for one, other in zip(ours, theirs, strict=True):
        assert float((one - other).norm()) < 1e-9 * max(float(other.norm()), 1e-3)


def test_a_given_first_step_is_taken_both_ways_as_in_torchdiffeq(monkeypatch):
    net = small("dcn-ode")
    settings = SolverSettings(gradient="adjoint", first_step=0.1)
    ours = gradients(net, settings, 2)
    by_torchdiffeq(monkeypatch)
    theirs = gradients(net, settings, 2)
    assert ours[0] == theirs[0]
    torch.testing.assert_close(ours[1], theirs[1], rtol=1e-8, atol=1e-12)


def test_what_is_frozen_gets_no_gradient_and_moves_no_step(monkeypatch):
    net = small("dcn-ode")
    for name, parameter in net.named_parameters():
        parameter.requires_grad_("conv2" in name or "linear" in name)
    ours = gradients(net, ADJOINT, 2)
    by_torchdiffeq(monkeypatch)
    theirs = gradients(net, ADJOINT, 2)
    assert ours[0] == theirs[0]
    assert len(ours[1]) == sum(p.requires_grad for p in net.parameters())
    torch.testing.assert_close(ours[1], theirs[1], rtol=1e-8, atol=1e-12)


class Decay(nn.Module):
    """dh/dt = -k h, whose gradients are known; with k = -1 the slope is the state itself."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = nn.Parameter(torch.tensor(rate, dtype=torch.float64))

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        return -self.rate * h


@pytest.mark.parametrize("rate", [0.7, -1.0])
def test_gradients_are_those_of_the_exact_solution(rate):
    field, end = Decay(rate), 1.5
    h0 = torch.tensor([[0.5, -2.0]], dtype=torch.float64, requires_grad=True)
    times = torch.tensor([0.0, 1.0, end], dtype=torch.float64)
    found = solve(field, h0, times, SolverSettings(gradient="adjoint", rtol=1e-10, atol=1e-10))
    (found.path[:, 1].sum() + 2 * found.final.sum()).backward()
    ends = math.exp(-rate), math.exp(-rate * end)
    assert h0.grad.tolist()[0] == pytest.approx([ends[0] + 2 * ends[1]] * 2, rel=1e-8)
    assert float(field.rate.grad) == pytest.approx(1.5 * (ends[0] + 2 * end * ends[1]), rel=1e-8)


class Itself(nn.Module):
    """dh/dt = h: the slope is the very tensor that was given."""

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        return h


def test_a_slope_that_is_the_state_is_not_written_over():
    h0 = torch.tensor([[0.5]], dtype=torch.float64, requires_grad=True)
    settings = SolverSettings(gradient="adjoint", rtol=1e-10, atol=1e-10)
    solve(Itself(), h0, torch.tensor([0.0, 1.0], dtype=torch.float64), settings).final.sum().backward()
    assert float(h0.grad) == pytest.approx(math.e, rel=1e-8)


def test_an_image_with_steps_of_its_own_has_the_gradient_that_it_has_alone():
    net, settings = small("dcn-ode"), SolverSettings(gradient="adjoint", stepping="per-image")
    together = images().requires_grad_()
    net.run(together, settings).logits.square().sum().backward()
    for i in range(3):
        alone = images()[i : i + 1].requires_grad_()
        net.run(alone, ADJOINT).logits.square().sum().backward()
        torch.testing.assert_close(together.grad[i], alone.grad[0], rtol=1e-10, atol=1e-14)


def test_a_solve_backwards_that_cannot_go_on_says_so():
    field = Decay(0.7)
    times = torch.tensor([0.0, 1.0], dtype=torch.float64)
    h0 = torch.ones(1, 1, dtype=torch.float64, requires_grad=True)
    # enough steps forwards, and too few for the longer state backwards
    forward = solve(field, h0, times, SolverSettings(rtol=1e-9, atol=1e-9)).work
    settings = SolverSettings(gradient="adjoint", rtol=1e-9, atol=1e-9, max_steps=int(forward.accepted[0]))
    found = solve(field, 1 * h0, times, settings)
    with pytest.raises(SolverError, match=r"could not be solved back past t = .* choose gradient='exact'"):
        found.final.mul(1e6).sum().backward()


@pytest.mark.parametrize(("limit", "said"), [("max_steps", "attempted steps"), ("max_evaluations", "evaluations")])
@pytest.mark.parametrize("method", ["bosh3", "dopri8"])
def test_other_methods_backwards_say_so_too(method, limit, said):
    field, times = Decay(0.7), torch.tensor([0.0, 1.0], dtype=torch.float64)
    h0 = torch.ones(1, 1, dtype=torch.float64, requires_grad=True)
    tight = {"method": method, "gradient": "adjoint", "rtol": 1e-7, "atol": 1e-7}
    work = solve(field, 1 * h0, times, SolverSettings(**tight)).work
    enough = int(work.accepted[0] + work.rejected[0]) if limit == "max_steps" else int(work.nfe[0])
    found = solve(field, 1 * h0, times, SolverSettings(**tight, **{limit: enough}))
    assert found.ok
    with pytest.raises(SolverError, match=rf"back past t = .*: limit on .*{said} reached \(.*choose gradient='exact'"):
        found.final.mul(1e6).sum().backward()


@pytest.mark.parametrize("method", ["rk4", "midpoint"])
def test_a_limit_counts_one_way_and_not_both(method):
    field, times = Decay(0.7), torch.tensor([0.0, 1.0], dtype=torch.float64)
    h0 = torch.ones(1, 1, dtype=torch.float64, requires_grad=True)
    settings = {"method": method, "step_size": 0.1, "gradient": "adjoint"}
    nfe = int(solve(field, h0, times, SolverSettings(**settings)).work.nfe[0])
    found = solve(field, h0, times, SolverSettings(**settings, max_evaluations=nfe, max_steps=10))
    for passes in (1, 2):
        found.final.sum().backward(retain_graph=True)
        assert found.work.backward_nfe() == passes * nfe
    assert float(h0.grad) == pytest.approx(2 * math.exp(-0.7), rel=1e-3)
    with torch.no_grad():
        field.rate.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        found.final.sum().backward()


class Blowing(nn.Module):
    """dh/dt = k h, whose derivative is no number."""

    def __init__(self) -> None:
        super().__init__()
        self.rate = nn.Parameter(torch.ones((), dtype=torch.float64))

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        return self.rate * h + 0 * (h - h.detach()).sqrt()


def test_a_gradient_that_is_no_number_ends_in_words():
    h0 = torch.ones(1, 1, dtype=torch.float64, requires_grad=True)
    times = torch.tensor([0.0, 1.0], dtype=torch.float64)
    found = solve(Blowing(), h0, times, SolverSettings(method="bosh3", gradient="adjoint"))
    with pytest.raises(SolverError, match=r"back past t = .*: non-finite right-hand side \(.* choose gradient='exact'"):
        found.final.sum().backward()


@pytest.mark.parametrize("numbers", [1, PIECE, PIECE + 1])
def test_the_norm_is_the_largest_root_mean_square_of_the_parts(numbers):
    layout = AdjointLayout(torch.Size([1, 1, 1, numbers]), (torch.Size([0]), torch.Size([3, 2])))
    generator = torch.Generator().manual_seed(0)
    row = torch.randn(2 * numbers + 6, generator=generator, dtype=torch.float64)
    parts = [row[:numbers], row[numbers : 2 * numbers], row[2 * numbers :]]
    expected = max(float(part.square().mean().sqrt()) for part in parts)
    assert float(layout.norm(lambda piece: row[piece])) == pytest.approx(expected, rel=1e-12)


def test_two_processes_find_the_norm_of_one():
    layout = AdjointLayout(torch.Size([2, 1, 1, 5]), (torch.Size([4]),))
    rows = [torch.randn(24, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) for seed in (0, 1)]
    sent: list[list[Tensor]] = [[], []]
    layout.norm(lambda piece: rows[1][piece], lambda values: sent[1].append(values) or values)
    other = iter(sent[1])
    found = layout.norm(lambda piece: rows[0][piece], lambda values: values + next(other))
    h, adjoint = (torch.cat([row[part] for row in rows]) for part in (slice(0, 10), slice(10, 20)))
    gradient = rows[0][20:] + rows[1][20:]
    expected = max(float(part.square().mean().sqrt()) for part in (h, adjoint, gradient))
    assert float(found) == pytest.approx(expected, rel=1e-12)
