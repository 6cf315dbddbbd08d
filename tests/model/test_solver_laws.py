"""The solver against known solutions, and how it ends where there is none."""

import itertools
import math

import numpy as np
import pytest
import scipy.linalg
import torch
from torch import nn

import dcnbio
from dcnbio.errors import InputError
from dcnbio.model.dormand_prince import step
from dcnbio.model.solve import solve, solve_times
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.status import Status


class Linear(nn.Module):
    def __init__(self, matrix):
        super().__init__()
        self.matrix = nn.Parameter(matrix)

    def forward(self, t, h):
        return torch.einsum("ij,njyx->niyx", self.matrix, h)


class Field(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, t, h):
        return self.f(t, h)


def start(images=3, channels=4):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(images, channels, 2, 2, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("stepping", ["shared", "per-image"])
def test_a_linear_field_follows_the_matrix_exponential(stepping):
    matrix = torch.randn(4, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    h0 = start()
    settings = SolverSettings(rtol=1e-9, atol=1e-9, stepping=stepping)
    with torch.no_grad():
        found = solve(Linear(matrix), h0, solve_times(5, 2.0), settings)
    for position, time in enumerate(found.times.tolist()):
        exact = torch.einsum("ij,njyx->niyx", torch.from_numpy(scipy.linalg.expm(matrix.numpy() * time)), h0)
        assert float((found.path[:, position] - exact).abs().max()) < 1e-6 * float(exact.abs().max())


def test_the_method_is_of_fifth_order():
    errors = []
    for count in (8, 16, 32):
        y = torch.ones(1, 1, dtype=torch.float64)
        dt = torch.full((1,), 2.0 / count, dtype=torch.float64)
        for i in range(count):
            t = i * dt
            y = step(lambda t, y: y * torch.cos(t), (y, y * torch.cos(t)), t, dt, (1e-6, 1e-6)).y1
        errors.append(abs(float(y) - math.exp(math.sin(2.0))))
    orders = [math.log2(a / b) for a, b in itertools.pairwise(errors)]
    assert all(4.6 < order < 5.6 for order in orders), orders


def test_more_times_change_neither_evaluations_nor_the_end():
    field, h0 = Field(lambda t, h: torch.sin(h) - h * t), start()
    few, many = (solve(field, h0, solve_times(count, 2.0), SolverSettings()) for count in (2, 200))
    assert torch.equal(few.work.nfe, many.work.nfe)
    assert torch.equal(few.final, many.final)
    assert torch.equal(many.path[:, 0], h0)


def test_a_first_step_that_is_given_saves_one_evaluation():
    found = solve(Field(lambda t, h: -h), start(), solve_times(2, 1.0), SolverSettings(first_step=0.1))
    assert torch.equal(found.work.nfe, 1 + 6 * (found.work.accepted + found.work.rejected))


def test_a_blow_up_is_reported_where_it_happens_and_disturbs_no_other_image():
    h0 = torch.tensor([1.0, -1.0], dtype=torch.float64).reshape(2, 1, 1, 1)
    settings = SolverSettings(stepping="per-image", max_steps=500)
    found = solve(Field(lambda t, h: h * h), h0, solve_times([0.0, 0.5, 2.0], 2.0), settings)
    assert int(found.work.status[0]) != Status.OK
    assert float(found.work.reached[0]) == pytest.approx(1.0, abs=1e-2)
    assert float(found.path[0, 1]) == pytest.approx(2.0, rel=1e-2)
    assert torch.isnan(found.path[0, 2]).all()
    assert int(found.work.status[1]) == Status.OK
    assert float(found.path[1, 2]) == pytest.approx(-1 / 3, rel=2e-2)


def test_a_field_that_is_no_number_is_called_so_and_not_stiff():
    found = solve(Field(lambda t, h: h * torch.nan), start(), solve_times(2, 1.0), SolverSettings())
    assert (found.work.status == Status.NON_FINITE).all()
    assert torch.isnan(found.final).all()


@pytest.mark.parametrize(
    ("limit", "status"), [({"max_steps": 1}, Status.MAX_STEPS), ({"max_evaluations": 8}, Status.MAX_EVALUATIONS)]
)
def test_limits_end_a_solve_with_a_status(limit, status):
    settings = SolverSettings(rtol=1e-9, atol=1e-9, **limit)
    found = solve(Field(lambda t, h: torch.cos(5 * h)), start(), solve_times(2, 5.0), settings)
    assert (found.work.status == status).all()


def test_no_time_leaves_the_state_as_it_is():
    h0 = start()
    found = solve(Field(lambda t, h: -h), h0, torch.zeros(1, dtype=torch.float64), SolverSettings())
    assert torch.equal(found.final, h0)
    assert int(found.work.nfe[0]) == 0


@pytest.mark.parametrize(
    ("method", "step_size", "within"), [("rk4", 0.05, 1e-5), ("bosh3", None, 1e-3), ("dopri8", None, 1e-3)]
)
def test_other_methods_by_name_reach_the_same_end(method, step_size, within):
    settings = SolverSettings(method=method, step_size=step_size, rtol=1e-6, atol=1e-6)
    h0 = start()
    found = solve(Field(lambda t, h: -h), h0, solve_times(2, 1.0), settings)
    assert float((found.final - h0 * math.exp(-1)).abs().max()) < within
    assert int(found.work.nfe[0]) > 0


def test_a_fixed_step_method_needs_its_step():
    with pytest.raises(InputError, match="step_size is not given"):
        SolverSettings(method="midpoint")


class Normed(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, t, h):
        return self.norm(h)


DEFECTS = {
    "shape": (Field(lambda t, h: h[:, :1]), "has the shape and type of h"),
    "type": (Field(lambda t, h: h.double()), "has the shape and type of h"),
    "in place": (Field(lambda t, h: nn.functional.relu(h, inplace=True) * 2), "changed in place"),
    "coupled": (Normed(nn.BatchNorm2d(8)), "images are coupled"),
    "random": (Normed(nn.Dropout(0.5)), "differs between two calls"),
    "no gradient": (Field(lambda t, h: -h.detach()), "no gradient"),
    "raises": (Field(lambda t, h: h @ torch.zeros(5)), "raises"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_of_a_vector_field_is_found(defect):
    field, message = DEFECTS[defect]
    report = dcnbio.check_vector_field(field, (8, 6, 6))
    assert not report.ok
    assert any(message in problem for problem in report.problems), report


class Attention(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.attention = nn.MultiheadAttention(channels, 4, batch_first=True, dropout=0.0)

    def forward(self, t, h):
        pixels = h.flatten(2).transpose(1, 2)
        return self.attention(pixels, pixels, pixels, need_weights=False)[0].transpose(1, 2).reshape(h.shape)


class Deep(nn.Module):
    """Maps shrink from layer to layer, and the norm makes of rounding what they have lost."""

    def __init__(self, channels=32):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(10))
        self.norm = nn.GroupNorm(32, channels)

    def forward(self, t, h):
        for layer in self.layers:
            h = torch.tanh(layer(h))
        return self.norm(h)


class InSingle(nn.Module):
    """Has a constant in float32, so that it cannot be called in float64."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, t, h):
        return self.weight * nn.functional.conv2d(h, torch.ones(8, 8, 1, 1))


@pytest.mark.parametrize(
    ("make", "shape"), [(Attention, (8, 6, 6)), (Deep, (32, 7, 7)), (InSingle, (8, 6, 6))], ids=lambda one: str(one)
)
@pytest.mark.parametrize("seed", range(3))
def test_sound_fields_are_not_accused(make, shape, seed):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        field = make()
    assert str(dcnbio.check_vector_field(field, shape, seed=seed)) == "nothing wrong was found"


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.frozen = nn.BatchNorm2d(8), nn.BatchNorm2d(8).eval()
        self.calls = 0

    def forward(self, t, h):
        self.calls += 1
        return self.frozen(self.norm(h))


@pytest.mark.parametrize("training", [True, False])
def test_a_field_that_is_checked_stays_as_it_is(training):
    field = Counting()
    field.norm.train(training)
    modes = {name: module.training for name, module in field.named_modules()}
    before = {name: value.clone() for name, value in field.state_dict().items()}
    report = dcnbio.check_vector_field(field, (8, 6, 6))
    assert any("running statistics" in problem for problem in report.problems)
    assert {name: module.training for name, module in field.named_modules()} == modes
    assert all(torch.equal(value, before[name]) for name, value in field.state_dict().items())
    assert field.calls == 0
    assert all(p.grad is None for p in field.parameters())


def test_a_field_that_cannot_be_copied_is_a_finding():
    field = Normed(nn.Conv2d(8, 8, 3, padding=1))
    field.cache = field.norm.weight * 2
    assert "f cannot be copied" in str(dcnbio.check_vector_field(field, (8, 6, 6)))


@pytest.mark.parametrize("count", [np.int64(3), np.int32(3), np.uint8(3)])
def test_a_count_of_times_may_be_numpys(count):
    assert solve_times(count, 2.0).tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(InputError, match="times is 1; ask for 2 or more"):
        solve_times(type(count)(1), 2.0)


def test_a_sound_field_can_be_built_in_probed_and_saved(tmp_path):
    field = Normed(nn.Conv2d(8, 8, 3, padding=1))
    assert dcnbio.check_vector_field(field, (8, 6, 6)).ok
    net = dcnbio.build("dcn-ode", vector_field=field, widths=(8, 8), norm_groups=4)
    assert torch.equal(net.block(1).field.norm.weight, field.norm.weight)
    tree = dcnbio.probe(net, torch.rand(2, 3, 32, 32), times=3)
    assert (tree["block2"]["status"].values == 0).all()
    path = dcnbio.save(net, tmp_path / "own.safetensors")
    with pytest.raises(dcnbio.DcnbioError, match="pass vector_field="):
        dcnbio.load(path)
    again = dcnbio.load(path, vector_field=field)
    images = torch.rand(1, 3, 32, 32)
    with torch.no_grad():
        assert torch.equal(again(images), net(images))


def test_features_have_right_gradients():
    net = dcnbio.build("dcn-ode", widths=(4, 4), norm_groups=2, integration_time=0.2).double()
    field = dcnbio.features(net, block=1, t=0.1)
    x = torch.rand(1, 3, 8, 8, generator=torch.Generator().manual_seed(3), dtype=torch.float64).requires_grad_()
    weights = torch.randn(field(x).shape, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    (gradient,) = torch.autograd.grad((field(x) * weights).sum(), x)
    direction = torch.randn(x.shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    with torch.no_grad():
        up, down = ((field(x + s * direction) * weights).sum() for s in (1e-5, -1e-5))
    assert float((gradient * direction).sum()) == pytest.approx(float((up - down) / 2e-5), rel=1e-2)
