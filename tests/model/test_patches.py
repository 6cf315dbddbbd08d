"""Interventions on h: exact solutions after a change, two solves by hand, and what may not change anything."""

import numpy as np
import pytest
import torch
from scipy.linalg import expm
from torch import nn

import dcnbio
from dcnbio.errors import InputError
from dcnbio.model.patch import Patch
from dcnbio.model.patched_solve import solve_patched
from dcnbio.model.solve import solve, solve_times
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import Status

TIGHT = {"rtol": 1e-9, "atol": 1e-9}
SOLVERS = [
    SolverSettings(stepping="per-image", **TIGHT),
    SolverSettings(stepping="shared", **TIGHT),
    SolverSettings(method="bosh3", stepping="per-image", rtol=1e-8, atol=1e-8),
    SolverSettings(method="rk4", step_size=0.01),
]


class Field(nn.Module):
    """Any function of t and h."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, t, h):
        return self.function(t, h)


def start(n=2, channels=3, size=2):
    generator = torch.Generator().manual_seed(3)
    return torch.randn(n, channels, size, size, generator=generator, dtype=torch.float64)


@pytest.fixture(scope="module")
def net():
    return dcnbio.build("dcn-ode", widths=(8, 16), norm_groups=4).double().eval()


@pytest.fixture(scope="module")
def images():
    return torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


# torchdiffeq reads bosh3 between its steps from a cubic
CLOSE = {"dopri5": 1e-6, "bosh3": 1e-3, "rk4": 1e-6}


@pytest.mark.parametrize("settings", SOLVERS, ids=lambda s: f"{s.method}-{s.stepping}")
def test_a_linear_field_has_its_exact_solution_after_the_patch(settings):
    matrix = torch.tensor([[-0.3, 1.0, 0.0], [-1.0, -0.1, 0.2], [0.4, 0.0, -0.5]], dtype=torch.float64)
    field = Field(lambda t, h: torch.einsum("ij,njyx->niyx", matrix, h))
    h0, times = start(), solve_times([0.2, 0.7, 1.1, 2.0], 2.0)
    patch = Patch(1, 0.7, "set", value=[2.0, -1.0], channels=[2, 0])
    found = solve_patched(field, h0, times, settings, [patch])

    def flow(t, h):
        return torch.einsum("ij,njyx->niyx", torch.from_numpy(expm(matrix.numpy() * t)), h)

    changed = flow(0.7, h0)
    changed[:, 2], changed[:, 0] = 2.0, -1.0
    expected = [flow(0.2, h0), changed, flow(0.4, changed), flow(1.3, changed)]
    for position, values in enumerate(expected):
        torch.testing.assert_close(found.path[:, position], values, rtol=0, atol=CLOSE[settings.method])
    assert found.ok


@pytest.mark.parametrize("settings", SOLVERS, ids=lambda s: f"{s.method}-{s.stepping}")
def test_time_goes_on_where_the_patch_was(settings):
    field = Field(lambda t, h: t - h)  # h(t) = (h(s) - s + 1) exp(s - t) + t - 1, here 0 and 1
    found = solve_patched(field, start(), solve_times([1.0, 2.0], 2.0), settings, [Patch(1, 1.0, "ablate")])
    torch.testing.assert_close(found.final, torch.full_like(found.final, 1.0), rtol=0, atol=CLOSE[settings.method])
    assert (found.path[:, 0] == 0).all()


def test_it_is_two_solves_and_their_evaluations():
    field, settings = Field(lambda t, h: torch.cos(5 * t) - h), SolverSettings(stepping="per-image")
    h0, patch = start(), Patch(1, 0.5, "scale", 3.0, region=(slice(0, 1), slice(None)))
    first = solve(field, h0, solve_times([0.5], 0.5), settings)
    changed = first.final.clone()
    changed[:, :, :1] *= 3
    second = solve(field, changed, solve_times([0.5, 1.2, 2.0], 2.0), settings, 0.5)
    whole = solve_patched(field, h0, solve_times([0.0, 0.5, 1.2, 2.0], 2.0), settings, [patch])
    assert torch.equal(whole.path[:, 1:], second.path)
    assert torch.equal(whole.path[:, 0], h0)
    for name in ("nfe", "accepted", "rejected"):
        assert torch.equal(getattr(whole.work, name), getattr(first.work, name) + getattr(second.work, name))
    for steps, accepted in zip(whole.work.step_times, whole.work.accepted.tolist(), strict=True):
        assert len(steps) == accepted
        assert list(steps) == sorted(steps)
        assert 0.5 in steps


def test_patches_are_applied_in_the_order_of_time_and_then_as_given():
    still = Field(lambda t, h: torch.zeros_like(h))
    patches = [Patch(1, 1.5, "scale", 10.0), Patch(1, 0.5, "set", 1.0), Patch(1, 0.5, "scale", 3.0)]
    found = solve_patched(still, start(), solve_times([0.5, 1.0, 1.5, 2.0], 2.0), SolverSettings(), patches)
    assert found.path[0, :, 0, 0, 0].tolist() == pytest.approx([3.0, 3.0, 30.0, 30.0])


def test_what_failed_before_a_patch_is_not_revived_by_it():
    field = Field(lambda t, h: torch.where(h > 5, torch.nan, -h))
    h0 = torch.tensor([1.0, 9.0, 2.0], dtype=torch.float64).reshape(3, 1, 1, 1)
    settings = SolverSettings(stepping="per-image")
    found = solve_patched(field, h0, solve_times([0.0, 0.5, 1.0], 1.0), settings, [Patch(1, 0.5, "set", 1.0)])
    assert found.work.status.tolist() == [Status.OK, Status.NON_FINITE, Status.OK]
    assert torch.isnan(found.path[1, 1:]).all()
    torch.testing.assert_close(found.final[0], found.final[2])
    alone = solve_patched(field, h0[:1], found.times, settings, [Patch(1, 0.5, "set", 1.0)])
    assert torch.equal(alone.path[0], found.path[0])
    assert (alone.work.nfe[0], found.work.reached[1]) == (found.work.nfe[0], 0.0)


def test_gradients_flow_through_a_patch():
    class Decay(nn.Module):
        def __init__(self):
            super().__init__()
            self.rate = nn.Parameter(torch.tensor([0.7], dtype=torch.float64))

        def forward(self, t, h):
            return -self.rate * h

    field, h0 = Decay(), start().requires_grad_()
    patches = [Patch(1, 0.5, "scale", 2.0, channels=[1]), Patch(1, 1.0, "ablate", channels=[2])]
    solve_patched(field, h0, solve_times([2.0], 2.0), SolverSettings(**TIGHT), patches).final.sum().backward()
    decay = float(torch.exp(torch.tensor(-1.4)))
    expected = torch.tensor([decay, 2 * decay, 0.0], dtype=torch.float64)[:, None, None].expand_as(h0)
    torch.testing.assert_close(h0.grad, expected, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(field.rate.grad[0], -2 * (h0 * expected).sum().detach(), rtol=1e-6, atol=1e-8)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("stepping", ["per-image", "shared"])
def test_a_patch_that_changes_nothing_moves_h_by_less_than_the_solvers_error(net, images, stepping):
    rough, fine = (SolverSettings(rtol=tol, atol=tol, stepping=stepping) for tol in (1e-6, 1e-8))
    patches = [Patch(2, 0.8, "scale", 1.0), Patch(1, 1.3, "scale", 1.0)]
    with torch.no_grad():
        plain, exact = net.run(images, rough, 5), net.run(images, fine, 5)
        patched = net.run(images, rough, 5, patches)
    for one, other, true in zip(plain.blocks, patched.blocks, exact.blocks, strict=True):
        error = (one.path - true.path).abs().max()
        assert 0 < (one.path - other.path).abs().max() < error < 1e-3
        assert (other.work.nfe > one.work.nfe).all()


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_fixed_steps_go_on_from_a_patch_at_a_step_as_if_nothing_were(net, images, method):
    solver = SolverSettings(method=method, step_size=0.25)
    patches = [Patch(1, 0.5, "scale", 1.0), Patch(2, 1.25, "scale", 1.0)]
    with torch.no_grad():
        plain, patched = net.run(images, solver, 5), net.run(images, solver, 5, patches)
        halved = net.run(images, solver, 5, [Patch(1, 0.5, "scale", 0.5)])
    for one, other in zip(plain.blocks, patched.blocks, strict=True):
        torch.testing.assert_close(one.path, other.path, rtol=1e-10, atol=1e-10)
        assert torch.equal(one.work.nfe, other.work.nfe)
    torch.testing.assert_close(halved.blocks[0].path[:, 1], plain.blocks[0].path[:, 1] / 2, rtol=1e-10, atol=1e-10)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("row", ["dcn-sigma-t", "dcn-sigma-alpha-t"])
def test_filters_that_change_in_time_are_those_of_the_time_after_a_patch(row, images):
    net = dcnbio.build(row, widths=(4,), norm_groups=2, seed=1, integration_time=1.0).double().eval()
    for name, value in net.named_parameters():
        if name.endswith("slope"):
            value.data += 0.3
    solver = SolverSettings(stepping="per-image", rtol=1e-6, atol=1e-6)
    with torch.no_grad():
        plain = net.run(images[:1], solver).blocks[0]
        patched = net.run(images[:1], solver, 2, [Patch(1, 0.6, "scale", 1.0)]).blocks[0]
        half = net.run(images[:1], solver, [0.6]).blocks[0].path[:, 0]
        restarted = solve(net.block(1).field, half, solve_times([0.4], 0.4), solver)
    assert (plain.final - patched.final).abs().max() < 0.01
    assert (plain.final - restarted.final).abs().max() > 0.1


@pytest.mark.usefixtures("each_engine")
def test_at_the_ends_a_patch_is_a_change_of_input_or_output(net, images):
    solver = SolverSettings(stepping="per-image")
    block = net.block(1)
    with torch.no_grad():
        h0 = torch.cat([net.stem(images[i : i + 1]) for i in range(2)])
        by_hand = block.run(Patch(1, 0.0, "ablate", channels=[3]).applied(h0), solver, 3)
        at_start = net.run(images, solver, 3, [Patch(1, 0.0, "ablate", channels=[3])])
        plain = net.run(images, solver, 3)
        at_end = net.run(images, solver, 3, [Patch(2, 2.0, "ablate")])
    assert torch.equal(at_start.blocks[0].path, by_hand.path)
    assert torch.equal(at_start.blocks[0].work.nfe, by_hand.work.nfe)
    assert torch.equal(at_end.blocks[1].path[:, :2], plain.blocks[1].path[:, :2])
    assert (at_end.blocks[1].final == 0).all()
    assert torch.equal(at_end.logits[0], at_end.logits[1])


@pytest.mark.usefixtures("each_engine")
def test_replacing_puts_the_other_run_into_the_region_alone(net, images):
    solver = SolverSettings(stepping="per-image", rtol=1e-8, atol=1e-8)
    region = torch.zeros(30, 30, dtype=torch.bool)
    region[9:21, 9:21] = True
    masked = images.clone()
    masked[:, :, 9:23, 9:23] = 0
    with torch.no_grad():
        intact = net.run(images, solver, [1.0, 2.0]).blocks[0]
        without = net.run(masked, solver, [1.0, 2.0]).blocks[0]
        part = net.run(masked, solver, [1.0, 2.0], [Patch(1, 1.0, "replace", intact.path[:, 0], region=region)])
        whole = net.run(masked, solver, [1.0, 2.0], [Patch(1, 1.0, "replace", intact.path[:, 0])])
    patched = part.blocks[0].path[:, 0]
    assert torch.equal(patched[..., region], intact.path[:, 0][..., region])
    torch.testing.assert_close(patched[..., ~region], without.path[:, 0][..., ~region], rtol=0, atol=1e-4)
    torch.testing.assert_close(whole.blocks[0].final, intact.final, rtol=0, atol=1e-4)


def test_residual_blocks_are_patched_at_their_ends(images):
    net = dcnbio.build("resnet-blocks", widths=(8, 16), norm_groups=4).double()
    with torch.no_grad():
        run = net.run(images, patches=[Patch(1, 0.0, "set", 0.5), Patch(1, 1.0, "ablate", channels=[0])])
    assert (run.blocks[0].path[:, 0] == 0.5).all()
    assert (run.blocks[0].final[:, 0] == 0).all()
    with pytest.raises(InputError, match="a residual block has an input"):
        net.run(images, patches=[Patch(1, 0.5, "ablate")])


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("stepping", ["per-image", "shared"])
def test_the_accepted_steps_are_on_the_path_and_change_nothing(net, images, stepping):
    solver = SolverSettings(stepping=stepping)
    with torch.no_grad():
        plain, accepted = net.run(images, solver), net.run(images, solver, "accepted")
    assert torch.equal(plain.logits, accepted.logits)
    for before, found in zip(plain.blocks, accepted.blocks, strict=True):
        assert torch.equal(found.work.nfe, before.work.nfe)
        assert torch.equal(found.final, before.final)
        for image in range(2):
            steps = before.work.step_times[image]
            own = found.times[image][torch.isfinite(found.times[image])]
            assert own.tolist() == [0.0, *steps[:-1], 2.0]
            assert torch.isfinite(found.path[image, : len(own)]).all()
            assert torch.isnan(found.path[image, len(own) :]).all()
    first = accepted.blocks[0]
    own = first.times[0][torch.isfinite(first.times[0])]
    with torch.no_grad():
        dense = net.run(images if stepping == "shared" else images[:1], solver, {1: own}).blocks[0]
    torch.testing.assert_close(first.path[0, : len(own)], dense.path[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0.5, "nudge", 1.0), "how of a patch is 'nudge'; allowed are set, scale, ablate, replace"),
        ((1, 0.5, "ablate", 1.0), "'ablate' takes no value"),
        ((1, 0.5, "set"), "'set' needs a value"),
        ((1, float("nan"), "ablate"), "must be a solver time"),
        ((1, 0.5, "ablate", None, [1, 1]), "each once"),
        ((1, 0.5, "ablate", None, [0.5]), "whole numbers"),
    ],
)
def test_patches_that_mean_nothing_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Patch(*arguments)


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (Patch(3, 0.5, "ablate"), "has blocks 1 to 2"),
        (Patch(1, 2.5, "ablate"), "block 1 runs from 0 to 2"),
        (Patch(1, 0.5, "ablate", channels=[8]), "block 1 has channels 0 to 7"),
        (Patch(1, 0.5, "set", np.zeros((3, 3))), "does not broadcast to the maps it changes"),
        (Patch(1, 0.5, "ablate", region=np.ones((4, 4), bool)), "block 1 has maps of 30 x 30"),
        (Patch(1, 0.5, "ablate", region=(slice(20, 10), slice(None))), "one position at least"),
        (Patch(1, 0.5, "ablate", region=(slice(8, 31), slice(None))), "is 8:31, None:None, but block 1"),
        (Patch(1, 0.5, "ablate", region=(1, 2)), "give two slices"),
    ],
)
def test_patches_that_do_not_fit_the_network_are_refused(net, images, patch, message):
    with pytest.raises(InputError, match=message), torch.no_grad():
        net.run(images, patches=[patch])


def test_accepted_steps_are_refused_where_there_are_none_to_see(net, images):
    with pytest.raises(InputError, match="only dopri5 records its own steps"):
        net.run(images, SolverSettings(method="bosh3"), "accepted")
    with pytest.raises(InputError, match="a patch is given, which begins a new solve"):
        net.run(images, None, "accepted", [Patch(1, 0.5, "ablate")])
    with pytest.raises(InputError, match="times is 'all'"):
        net.run(images, None, "all")
