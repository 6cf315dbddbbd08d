"""Dense kernels multiplied as frequencies along x: the same numbers as torch and as the direct form."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from dcnbio.model.engine import CompiledField, PixelKernel, attempt_vjp, differentiable_evaluate, evaluate
from dcnbio.model.engine import parameters as parameters_module
from dcnbio.model.engine.calls import AttemptGradients
from dcnbio.model.engine.differentiable import new_gradients

pytestmark = pytest.mark.usefixtures("compiled")

DENSE = ("pixel", "pixel")
AGREEMENT = {torch.float32: 1e-5, torch.float64: 1e-12}
# odd and even lengths of the transform, maps narrower than the kernel, one pixel, padded channels
SHAPES = [(32, 30, 30, 7), (64, 15, 15, 7), (128, 7, 7, 7), (6, 5, 8, 5), (5, 3, 4, 7), (6, 9, 2, 3), (16, 1, 1, 5)]


def relative(found: torch.Tensor, wanted: torch.Tensor) -> float:
    found, wanted = found.detach(), wanted.detach()
    return float((found - wanted).norm() / wanted.norm().clamp_min(1e-30))


@pytest.fixture(params=["direct", "spectral"])
def form(request, monkeypatch) -> str:
    monkeypatch.setattr(parameters_module, "SPECTRAL_WEIGHT", 0.0 if request.param == "spectral" else float("inf"))
    return request.param


def test_the_form_is_chosen_by_the_kernel_and_the_width():
    def of(size: int, channels: int = 32, sets: tuple[int, ...] = ()) -> PixelKernel:
        return PixelKernel(torch.zeros(*sets, channels, channels + 1, size, size))

    assert [of(size).spectral(30) for size in (1, 3, 7, 15)] == [False, True, True, True]
    assert [of(size, 4).spectral(30) for size in (3, 5)] == [False, False]
    assert of(3, 128).spectral(7)
    assert not of(7, sets=(7,)).spectral(30)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("channels", "height", "width", "size"), SHAPES)
def test_an_evaluation_and_its_gradients_equal_torch(form, plain, draw, case, channels, height, width, size, dtype):
    groups = 1 if channels == 5 else channels // 2
    drawn = draw(case(channels, height, width, size=size, groups=groups, kinds=DENSE, dtype=dtype))
    field, maps = drawn.field(), drawn.maps()
    tensors = [tensor.requires_grad_() for tensor in (maps, *field.tensors())]
    field = field.with_tensors(tensors[1:])
    weights = drawn.normal(*maps.shape)
    found = differentiable_evaluate(field, 0.7, maps)
    exact = [tensor.detach().double().requires_grad_() for tensor in tensors]
    wanted = plain(field.with_tensors(exact[1:]), 0.7, exact[0])
    assert relative(found, wanted) < AGREEMENT[dtype]
    gradients = torch.autograd.grad((found * weights).sum(), tensors)
    for one, other in zip(gradients, torch.autograd.grad((wanted * weights).sum(), exact), strict=True):
        # one pixel makes the norm's gradient nothing but rounding
        assert float((one - other).norm()) < AGREEMENT[dtype] * max(1.0, float(other.norm())) * 10


def test_both_forms_agree_over_a_whole_step(monkeypatch, draw, case):
    drawn = draw(case(8, 6, 9, size=7, groups=4, kinds=DENSE, images=37))
    field, maps, above = drawn.field(), drawn.maps(), drawn.maps()
    results = []
    for weight in (0.0, float("inf")):
        monkeypatch.setattr(parameters_module, "SPECTRAL_WEIGHT", weight)
        compiled = CompiledField.of(field, 6, 9)
        gradients = new_gradients(compiled)
        known = AttemptGradients(y1=above, f1=None, y_mid=maps)
        state, _ = attempt_vjp(compiled, (maps, None), 0.2, 0.3, known, gradients)
        results.append([state, *gradients])
    for spectral, direct in zip(*results, strict=True):
        assert relative(spectral, direct) < 1e-12
        assert float(direct.norm()) > 1e-3


def test_an_image_has_the_same_bits_alone_and_in_any_batch(draw, case):
    drawn = draw(case(32, 15, 15, size=7, groups=8, kinds=DENSE, images=5, dtype=torch.float32))
    maps, compiled = drawn.maps(), CompiledField.of(drawn.field(), 15, 15)
    together = evaluate(compiled, 0.4, maps)
    for i in range(5):
        assert torch.equal(evaluate(compiled, 0.4, maps[i : i + 1]), together[i : i + 1])


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_non_finite_image_spoils_no_other(draw, case, bad):
    drawn = draw(case(8, 6, 9, size=7, groups=4, kinds=DENSE, images=3))
    maps, compiled = drawn.maps(), CompiledField.of(drawn.field(), 6, 9)
    good = evaluate(compiled, 0.4, maps)
    maps[1, 2, 3, 4] = bad
    spoilt = evaluate(compiled, 0.4, maps)
    assert torch.equal(spoilt[[0, 2]], good[[0, 2]])
    assert not torch.isfinite(spoilt[1]).all()


def test_the_frequencies_of_a_shift_are_exact(draw, case):
    """A kernel with a single one at (dy, dx) shifts the map, with zeros from outside."""
    drawn = draw(case(4, 5, 6, size=7, groups=4, kinds=DENSE, activation="identity", images=2))
    field, maps = drawn.field(), drawn.maps()
    weight = torch.zeros_like(field.kernels[0].weight)
    weight[torch.arange(4), torch.arange(4) + 1, 3 - 2, 3 + 1] = 1.0
    shift = PixelKernel(weight)
    centre = torch.zeros_like(weight)
    centre[torch.arange(4), torch.arange(4) + 1, 3, 3] = 1.0
    ones = [type(norm)(torch.ones(4, dtype=maps.dtype), torch.zeros(4, dtype=maps.dtype)) for norm in field.norms]
    built = type(field)((shift, PixelKernel(centre)), (ones[0], ones[1], ones[2]), 4, "identity")
    once = functional.group_norm(maps, 4)
    shifted = torch.zeros_like(once)
    shifted[:, :, 2:, :-1] = once[:, :, :-2, 1:]
    wanted = functional.group_norm(functional.group_norm(shifted, 4), 4)
    found = evaluate(CompiledField.of(built, 5, 6), 0.5, maps)
    assert relative(found, wanted) < 1e-12
