from __future__ import annotations

import pytest
import torch
from torchdiffeq._impl.dopri5 import _DORMAND_PRINCE_SHAMPINE_TABLEAU as TABLEAU
from torchdiffeq._impl.dopri5 import DPS_C_MID
from torchdiffeq._impl.rk_common import _runge_kutta_step

from dcnbio.model.engine import CompiledField, Tolerance, attempt, evaluate

pytestmark = pytest.mark.usefixtures("compiled")

LOOSE = Tolerance(1e-3, 1e-3)


def difference(found, wanted):
    return float((found - wanted).abs().max() / wanted.abs().max())


def torchdiffeq_attempt(slope_at_stage, start, t0, dt):
    """One step of one image by torchdiffeq itself."""
    y0, f0 = start
    calls = iter(range(1, 7))
    y1, f1, error, slopes = _runge_kutta_step(
        lambda t, y, perturb: slope_at_stage(next(calls), t, y), y0, f0, t0, dt, t0 + dt, TABLEAU
    )
    middle = y0 + (slopes * (DPS_C_MID.to(y0) * dt.to(y0))).sum(-1)
    allowed = LOOSE.atol + LOOSE.rtol * torch.maximum(y0.abs(), y1.abs())
    return y1, f1, middle, (error / allowed).double().square().sum().reshape(1)


@pytest.mark.parametrize(
    ("kinds", "taps_sets", "weight_sets"),
    [
        (("separable", "separable"), (), ()),
        (("separable", "separable"), (7,), ()),
        (("separable", "separable"), (7,), (7,)),
        (("separable", "separable"), (3, 7), ()),
        (("pixel", "separable"), (), (7,)),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_step_equals_torchdiffeq(draw, case, plain_stage, kinds, taps_sets, weight_sets, dtype):
    drawn = draw(case(kinds=kinds, taps_sets=taps_sets, weight_sets=weight_sets, dtype=dtype))
    field, y0, f0 = drawn.field(), drawn.maps(), drawn.maps()
    t0 = torch.tensor([0.0, 0.3, 1.7], dtype=torch.float64)
    dt = torch.tensor([0.1, 0.01, 0.4], dtype=torch.float64)
    found = attempt(CompiledField.of(field, 5, 4), (y0, f0), t0, dt, LOOSE)
    one_by_one = []
    for i in range(3):

        def slope(stage, t, y, i=i):
            times, states = torch.zeros(3, dtype=dtype), torch.zeros_like(y0)
            times[i], states[i] = t, y[0]
            return plain_stage(field, stage, times, states)[i : i + 1]

        one_by_one.append(torchdiffeq_attempt(slope, (y0[i : i + 1], f0[i : i + 1]), t0[i], dt[i]))
    wanted = [torch.cat(parts) for parts in zip(*one_by_one, strict=True)]
    tolerance = 1e-5 if dtype == torch.float32 else 1e-10
    for name, ours, theirs in zip(("y1", "f1", "y_mid"), found, wanted, strict=False):
        assert difference(ours, theirs) < tolerance, name
    # the error is a difference of nearly equal terms, so float32 leaves it fewer digits
    assert difference(found.squares, wanted[3]) < (1e-3 if dtype == torch.float32 else 1e-9)


@pytest.mark.parametrize(("channels", "side"), [(32, 30), (64, 15), (128, 7)])
def test_first_slope_of_the_next_step_is_the_last_of_this_one(draw, case, channels, side):
    drawn = draw(case(channels, side, side, dtype=torch.float32, images=2, groups=32))
    field, y0 = CompiledField.of(drawn.field(), side, side), drawn.maps()
    step = attempt(field, (y0, evaluate(field, 0.0, y0)), 0.0, 0.25, LOOSE)
    assert torch.equal(step.f1, evaluate(field, 0.25, step.y1))


@pytest.mark.parametrize(("channels", "side", "kind"), [(32, 30, "separable"), (128, 7, "pixel"), (9, 6, "separable")])
def test_a_step_has_the_same_bits_alone_and_in_any_batch(draw, case, channels, side, kind):
    drawn = draw(case(channels, side, side, images=16, dtype=torch.float32, groups=1, kinds=(kind, kind)))
    field, y0, f0 = CompiledField.of(drawn.field(), side, side), drawn.maps(), drawn.maps()
    t0, dt = torch.linspace(0, 1, 16).double(), torch.linspace(0.01, 0.2, 16).double()
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        parts = [attempt(field, (y0[i : i + 1], f0[i : i + 1]), t0[i], dt[i], LOOSE) for i in range(16)]
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            together = attempt(field, (y0, f0), t0, dt, LOOSE)
            for index, whole in enumerate(together):
                assert torch.equal(whole, torch.cat([part[index] for part in parts]))
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_non_finite_state_shows_in_the_error_of_its_image_alone(draw, case, bad):
    drawn = draw(case(dtype=torch.float32))
    field, y0, f0 = CompiledField.of(drawn.field(), 5, 4), drawn.maps(), drawn.maps()
    clean = attempt(field, (y0, f0), 0.0, 0.1, LOOSE)
    y0[1, 0, 0, 0] = bad
    step = attempt(field, (y0, f0), 0.0, 0.1, LOOSE)
    assert not bool(step.squares[1].isfinite())
    assert torch.equal(step.squares[[0, 2]], clean.squares[[0, 2]])


def test_a_step_that_overflows_shows_in_its_error(draw, case):
    drawn = draw(case(dtype=torch.float32))
    field, y0, f0 = CompiledField.of(drawn.field(), 5, 4), drawn.maps(), drawn.maps()
    assert not bool(attempt(field, (y0, f0 * 1e38), 0.0, 1e3, LOOSE).squares.isfinite().any())


def test_an_exact_step_has_no_error_even_without_tolerance(draw, case):
    drawn = draw(case())
    field, y0, f0 = CompiledField.of(drawn.field(), 5, 4), drawn.maps(), drawn.maps()
    step = attempt(field, (y0, f0), 0.0, 0.0, Tolerance(0.0, 0.0))
    assert torch.equal(step.squares, torch.zeros(3, dtype=torch.float64))
    assert torch.equal(step.y1, y0)
