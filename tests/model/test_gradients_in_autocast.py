"""Gradients of a solve are the same bits whether or not they are taken inside torch.autocast."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from dcnbio.model.network import build
from dcnbio.model.solve import solve, solve_times
from dcnbio.model.solver_settings import SolverSettings

WAYS = {
    "exact": {},
    "per-image": {"stepping": "per-image"},
    "adjoint": {"gradient": "adjoint", "rtol": 1e-4, "atol": 1e-4},
    "rk4": {"method": "rk4", "step_size": 0.1},
    "rk4-adjoint": {"method": "rk4", "step_size": 0.1, "gradient": "adjoint"},
    "bosh3-adjoint": {"method": "bosh3", "gradient": "adjoint"},
}


class Own(nn.Module):
    """A field whose derivatives are products of matrices, which autocast would take in half precision."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.mix = nn.Parameter(torch.randn(channels, channels, generator=generator) / 2)
        self.norm = nn.GroupNorm(2, channels)

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        return self.norm(torch.einsum("oi,niyx->noyx", self.mix, torch.tanh(h)))


def field_of(row: str) -> nn.Module:
    return Own(4) if row == "own" else build(row, widths=(4,), norm_groups=2, seed=1).blocks[0].field


def gradients(field: nn.Module, settings: SolverSettings, autocast: bool) -> tuple[dict[str, Tensor], int]:
    field.zero_grad()
    h0 = torch.randn(2, 4, 6, 6, generator=torch.Generator().manual_seed(0)).requires_grad_()
    found = solve(field, h0, solve_times(3, 0.3), settings)
    loss = found.final.square().sum() + found.path[:, 1].sum()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        loss.backward()
    work = found.work.backward_nfe
    found_at = {"h0": h0, **dict(field.named_parameters())}
    return {name: value.grad for name, value in found_at.items() if value.grad is not None}, work() if work else -1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", ["dcn-ode", "dcn-sigma-ji", "dcn-sigma-t", "own"])
@pytest.mark.filterwarnings("ignore:backward.. is called inside torch.autocast")
@pytest.mark.usefixtures("each_engine")
def test_autocast_does_not_reach_into_a_solves_gradients(row, way):
    if (row, way) == ("own", "rk4"):
        pytest.skip("torch's own graph, in which autocast holds as everywhere in torch")
    field, settings = field_of(row), SolverSettings(**WAYS[way])
    (outside, work), (inside, same_work) = (gradients(field, settings, autocast) for autocast in (False, True))
    assert (work > 0) == way.endswith("adjoint")
    assert work == same_work
    assert outside.keys() == inside.keys()
    for name, gradient in outside.items():
        assert inside[name].dtype == torch.float32
        # kernels are made of alpha and sigma by products in torch's own graph, for which there is the warning
        if row == "own" or name == "h0" or "norm" in name:
            assert torch.equal(inside[name], gradient), name
        else:
            assert float((inside[name] - gradient).norm()) < 0.1 * float(gradient.norm()), name


def test_a_backward_pass_inside_autocast_warns():
    with pytest.warns(UserWarning, match=r"inside torch.autocast, .* call it outside, as torch advises"):
        gradients(field_of("dcn-ode"), SolverSettings(), True)
