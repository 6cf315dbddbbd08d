"""The solver check names what moves: a smooth field does not, a stiff one does with coarse steps."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from torch import nn

from dcnbio.commands.app import run
from dcnbio.errors import InputError
from dcnbio.images import load_images
from dcnbio.model.network import build
from dcnbio.probe.solver_check import check_solver
from dcnbio.probe.solver_rows import solver_rows


class Decay(nn.Module):
    """dh/dt = -rate h, whose solution is known."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, t: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        return -self.rate * h


def decaying(rate: float):
    return build("dcn-ode", widths=(4,), norm_groups=4, integration_time=1.0, vector_field=Decay(rate))


@pytest.fixture(scope="module")
def images():
    return load_images(limit=10)


def test_changes_are_those_of_the_known_solution(images):
    found = check_solver(decaying(1.0), images, (1e-2, 1e-7))
    # one Euler step of 1/32 multiplies h by (1 - 1/32)
    euler, exact = (1 - 1 / 32) ** 32, np.exp(-1.0)
    change = found["end_change"].sel(solver="euler x 32", block=1)
    assert float(change) == pytest.approx(abs(euler - exact) / exact, rel=1e-4)
    apart = found["d_change"].sel(solver="euler x 32", block=1)
    assert float(apart) == pytest.approx((euler - exact) / exact, rel=1e-4)
    assert float(found["nfe"].sel(solver="euler x 32", block=1)) == 32


def test_tighter_tolerances_come_nearer_and_the_reference_is_itself(images):
    found = check_solver(decaying(5.0), images, (1e-1, 1e-3, 1e-6))
    ours = found.sel(solver=found["method"] == "dopri5")
    change = ours["end_change"].isel(block=0).values
    assert (np.diff(change) < 0).all()
    assert change[-1] == 0
    assert found.attrs["reference"] == "dopri5 1e-06"
    assert (np.diff(ours["nfe"].isel(block=0).values) > 0).all()


def test_a_method_that_blows_up_is_told_from_one_that_does_not(images):
    found = check_solver(decaying(80.0), images, (1e-3, 1e-6))
    assert float(found["end_change"].sel(solver="midpoint x 16", block=1)) > 1
    off = found["logits_largest"]
    assert float(off.sel(solver="dopri5 0.001")) < 0.1 * float(off.sel(solver="midpoint x 16"))


def test_types_are_double_where_rounding_would_show():
    types = {row.label: row.dtype for row in solver_rows()}
    assert types["dopri5 0.0001"] == "float32"
    assert types["dopri5 1e-05"] == types["dopri5 1e-07"] == "float64"


@pytest.mark.parametrize("tolerances", [(1e-3,), (1e-3, 0.0), (2.0, 1e-3)])
def test_tolerances_that_compare_nothing_are_refused(tolerances):
    with pytest.raises(InputError, match="give two or more between 0 and 1"):
        solver_rows(tolerances)


def test_residual_blocks_have_no_solver(images):
    with pytest.raises(InputError, match="residual blocks and no solver"):
        check_solver(build("resnet-blocks"), images)


def test_the_command_prints_a_table_and_json(capsys):
    arguments = ["check-solver", "--limit", "10", "--integration-time", "0.2", "--tolerances", "1e-2,1e-4"]
    assert run(arguments) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines()[2:])) <= 80
    assert "rk4 x 8" in shown
    assert run([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n"] == 10
    assert {row["solver"] for row in found["solvers"]} >= {"dopri5 0.01", "dopri5 0.0001", "bosh3 0.001"}
    assert run(["check-solver", "--tolerances", "1e-3,x"]) == 2
    assert "--tolerances has 'x'" in capsys.readouterr().err
