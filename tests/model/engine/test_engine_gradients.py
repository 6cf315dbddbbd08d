from __future__ import annotations

import pytest
import torch

from dcnbio.errors import InputError
from dcnbio.model.dormand_prince import COUPLING, MIDPOINT, NODES
from dcnbio.model.engine import (
    AttemptGradients,
    CompiledField,
    Tolerance,
    attempt_vjp,
    differentiable_attempt,
    differentiable_evaluate,
    evaluate,
    evaluate_vjp,
    new_gradients,
)

pytestmark = pytest.mark.usefixtures("compiled")

LOOSE = Tolerance(1e-3, 1e-3)
T0 = torch.tensor([0.0, 0.3, 1.7], dtype=torch.float64)
DT = torch.tensor([0.1, 0.2, 0.05], dtype=torch.float64)


def difference(found, wanted):
    # a bias before instance norm has gradient zero: what is left of it is rounding
    return float((found - wanted).abs().max() / wanted.abs().max().clamp(min=1e-5))


def attempt_plainly(slope_at_stage, y0, f0):
    slopes, y1 = [f0], y0
    dt = DT.reshape(-1, 1, 1, 1)
    for stage, (node, weights) in enumerate(zip(NODES, COUPLING, strict=True), 1):
        y1 = y0 + dt * sum(w * k for w, k in zip(weights, slopes, strict=True))
        slopes.append(slope_at_stage(stage, T0 + node * DT, y1))
    return y1, slopes[-1], y0 + dt * sum(w * k for w, k in zip(MIDPOINT, slopes, strict=True))


def tracked(tensors):
    return [tensor.clone().requires_grad_() for tensor in tensors]


@pytest.mark.parametrize("kinds", [("separable", "separable"), ("pixel", "pixel")])
@pytest.mark.parametrize("activation", ["celu", "identity"])
def test_gradcheck_of_an_evaluation(draw, case, kinds, activation):
    drawn = draw(case(4, 3, 4, 2, 3, 2, kinds, activation=activation, images=2))
    field, state = drawn.field(), drawn.maps().requires_grad_()
    tensors = tracked(field.tensors())

    def evaluate_field(state, *tensors):
        return differentiable_evaluate(field.with_tensors(tensors), T0[:2], state)

    assert torch.autograd.gradcheck(evaluate_field, (state, *tensors))


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize(
    ("channels", "height", "width", "size"), [(5, 6, 9, 5), (3, 4, 3, 15), (33, 9, 20, 7), (4, 2, 2, 25)]
)
def test_gradients_of_an_evaluation_equal_autograd(draw, case, plain, order, channels, height, width, size):
    drawn = draw(case(channels, height, width, order, size, 1))
    field, state, outside = drawn.field(), drawn.maps().requires_grad_(), drawn.maps()
    tensors = tracked(field.tensors())
    ours = differentiable_evaluate(field.with_tensors(tensors), T0, state)
    theirs = plain(field.with_tensors(tensors), T0, state)
    found = torch.autograd.grad(ours, [state, *tensors], outside)
    wanted = torch.autograd.grad(theirs, [state, *tensors], outside)
    assert max(map(difference, found, wanted)) < 1e-9


@pytest.mark.parametrize(
    ("channels", "side", "kind"), [(32, 30, "separable"), (64, 15, "separable"), (128, 7, "pixel")]
)
def test_gradients_in_float32_at_the_sizes_of_the_networks(draw, case, plain, channels, side, kind):
    drawn = draw(case(channels, side, side, 2, 7 if kind == "separable" else 3, 32, (kind, kind), images=2))
    field, state, outside = drawn.field(), drawn.maps().requires_grad_(), drawn.maps()
    tensors = tracked(field.tensors())
    wanted = torch.autograd.grad(plain(field.with_tensors(tensors), 0.5, state), [state, *tensors], outside)
    single = tracked(tensor.detach().float() for tensor in tensors)
    state32 = state.detach().float().requires_grad_()
    ours = differentiable_evaluate(field.with_tensors(single), 0.5, state32)
    found = torch.autograd.grad(ours, [state32, *single], outside.float())
    assert max(map(difference, found, wanted)) < 1e-4


@pytest.mark.parametrize(
    ("kinds", "taps_sets", "weight_sets"),
    [
        (("separable", "separable"), (), ()),
        (("separable", "separable"), (7,), (7,)),
        (("separable", "separable"), (3, 7), ()),
        (("pixel", "separable"), (1,), (7,)),
        (("pixel", "pixel"), (), ()),
    ],
)
def test_gradients_of_a_step_equal_autograd(draw, case, plain_stage, kinds, taps_sets, weight_sets):
    drawn = draw(case(kinds=kinds, taps_sets=taps_sets, weight_sets=weight_sets))
    field, outside = drawn.field(), [drawn.maps() for _ in range(3)]
    tensors, state = tracked(field.tensors()), tracked([drawn.maps(), drawn.maps()])
    live = field.with_tensors(tensors)
    theirs = attempt_plainly(lambda stage, t, y: plain_stage(live, stage, t, y), *state)
    compiled = CompiledField.of(field, 5, 4)
    ours = differentiable_attempt(compiled, live, (state[0], state[1]), (T0, DT, LOOSE))
    wanted = torch.autograd.grad(theirs, [*state, *tensors], outside)
    found = torch.autograd.grad(ours[:3], [*state, *tensors], outside)
    assert max(map(difference, found, wanted)) < 1e-9


@pytest.mark.parametrize("dense", [False, True])
def test_a_step_that_makes_its_own_first_slope(draw, case, plain_stage, dense):
    drawn = draw(case())
    field = drawn.field()
    tensors, (state,) = tracked(field.tensors()), tracked([drawn.maps()])
    live = field.with_tensors(tensors)
    f0 = plain_stage(live, 0, T0, state)
    y1, f1, y_mid = attempt_plainly(lambda stage, t, y: plain_stage(live, stage, t, y), state, f0)
    known = AttemptGradients(*(drawn.maps() for _ in range(4))) if dense else AttemptGradients(y1=drawn.maps())
    pairs = [(y1, known.y1), (f1, known.f1), (y_mid, known.y_mid), (f0, known.f0)]
    outputs, outside = zip(*((value, gradient) for value, gradient in pairs if gradient is not None), strict=True)
    wanted = torch.autograd.grad(outputs, [state, *tensors], outside)
    compiled = CompiledField.of(field, 5, 4)
    gradients = new_gradients(compiled)
    y0_gradient, f0_gradient = attempt_vjp(compiled, (state, None), T0, DT, known, gradients)
    assert f0_gradient is None
    assert max(map(difference, [y0_gradient, *gradients], wanted)) < 1e-9


def test_an_evaluation_with_taps_of_each_image_equals_autograd(draw, case, plain_stage):
    drawn = draw(case(taps_sets=(3, 1)))
    field, outside = drawn.field(), drawn.maps()
    tensors, (state,) = tracked(field.tensors()), tracked([drawn.maps()])
    live = field.with_tensors(tensors)
    ours, theirs = differentiable_evaluate(live, T0, state), plain_stage(live, 0, T0, state)
    assert difference(ours.detach(), theirs.detach()) < 1e-10
    found = torch.autograd.grad(ours, [state, *tensors], outside)
    assert max(map(difference, found, torch.autograd.grad(theirs, [state, *tensors], outside))) < 1e-9


def test_two_chained_steps_equal_autograd(draw, case, plain):
    drawn = draw(case())
    field, outside = drawn.field(), drawn.maps()
    tensors, (y0,) = tracked(field.tensors()), tracked([drawn.maps()])
    live = field.with_tensors(tensors)

    def slope(_stage, t, y):
        return plain(live, t, y)

    first = attempt_plainly(slope, y0, plain(live, T0, y0))
    wanted = torch.autograd.grad(attempt_plainly(slope, first[0], first[1])[0], [y0, *tensors], outside)
    compiled = CompiledField.of(field, 5, 4)
    start = differentiable_evaluate(live, T0, y0)
    step = differentiable_attempt(compiled, live, (y0, start), (T0, DT, LOOSE))
    step = differentiable_attempt(compiled, live, (step.y1, step.f1), (T0, DT, LOOSE))
    found = torch.autograd.grad(step.y1, [y0, *tensors], outside)
    assert max(map(difference, found, wanted)) < 1e-9


def test_parameter_gradients_do_not_depend_on_threads(draw, case):
    drawn = draw(case(32, 9, 9, images=37, dtype=torch.float32, groups=8))
    field, y0, outside = CompiledField.of(drawn.field(), 9, 9), drawn.maps(), drawn.maps()
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 5, 1):
            torch.set_num_threads(count)
            gradients = new_gradients(field)
            known = AttemptGradients(y1=outside)
            y0_gradient, _ = attempt_vjp(field, (y0, None), 0.0, 0.1, known, gradients)
            results.append([y0_gradient, *gradients])
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_gradients_add_up_and_unwanted_ones_cost_nothing(draw, case):
    drawn = draw(case())
    field, state, outside = CompiledField.of(drawn.field(), 5, 4), drawn.maps(), drawn.maps()
    once, twice = new_gradients(field), new_gradients(field)
    slope, first = evaluate_vjp(field, 0.3, state, outside, once)
    assert torch.equal(slope, evaluate(field, 0.3, state))
    for _ in range(2):
        evaluate_vjp(field, 0.3, state, outside, twice)
    assert all(torch.allclose(b, 2 * a, rtol=1e-12) for a, b in zip(once, twice, strict=True))
    only_alphas = [gradient if i in (1, 3) else None for i, gradient in enumerate(new_gradients(field))]
    assert torch.equal(evaluate_vjp(field, 0.3, state, outside, only_alphas)[1], first)
    assert torch.equal(only_alphas[1], once[1])
    assert torch.equal(only_alphas[3], once[3])


def test_autograd_asks_for_what_needs_a_gradient(draw, case):
    drawn = draw(case())
    field, state = drawn.field(), drawn.maps()
    tensors = list(field.tensors())
    tensors[5] = tensors[5].clone().requires_grad_()  # the first norm's bias alone
    differentiable_evaluate(field.with_tensors(tensors), 0.3, state).square().sum().backward()
    assert tensors[5].grad is not None
    assert tensors[4].grad is None


def test_gradients_that_do_not_fit_are_refused(draw, case):
    drawn = draw(case())
    field, state = CompiledField.of(drawn.field(), 5, 4), drawn.maps()
    with pytest.raises(InputError, match=r"gradients holds 1 tensors; this field has 10 parameters"):
        evaluate_vjp(field, 0.3, state, state, [None])
    wrong = new_gradients(field)
    wrong[0] = torch.zeros(3, 7, dtype=torch.float64)
    with pytest.raises(InputError, match=r"a gradient is \(3, 7\)"):
        evaluate_vjp(field, 0.3, state, state, wrong)
