from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dcnbio.errors import InputError
from dcnbio.model.engine import CompiledField, FieldParameters, SeparableKernel, evaluate
from dcnbio.model.gaussian import basis_orders

pytestmark = pytest.mark.usefixtures("compiled")

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


def difference(found, wanted):
    return float((found - wanted).abs().max() / wanted.abs().max())


def check(plain, draw):
    field, state = draw.field(), draw.maps()
    time = torch.linspace(-0.3, 1.7, draw.case.images, dtype=torch.float64)
    found = evaluate(CompiledField.of(field, draw.case.height, draw.case.width), time, state)
    assert found.is_contiguous(memory_format=torch.channels_last)
    assert difference(found, plain(field, time, state)) < TOLERANCE[draw.case.dtype]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", ["separable", "pixel"])
@pytest.mark.parametrize(("channels", "side"), [(32, 30), (64, 15), (128, 7), (32, 32), (64, 16), (128, 8)])
def test_maps_of_the_networks_equal_torch(plain, draw, case, channels, side, kind, dtype):
    size = 7 if kind == "separable" else 3
    check(plain, draw(case(channels, side, side, 2, size, 32, (kind, kind), images=2, dtype=dtype)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("order", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("size", [1, 3, 11, 25])
def test_any_order_and_filters_wider_than_the_map_equal_torch(plain, draw, case, order, size, dtype):
    check(plain, draw(case(5, 6, 9, order, size, 5, dtype=dtype)))


@settings(max_examples=40, deadline=None)
@given(
    channels=st.integers(1, 70),
    height=st.integers(1, 12),
    width=st.integers(2, 40),
    half=st.integers(0, 6),
    kinds=st.sampled_from([("separable", "pixel"), ("pixel", "separable"), ("separable", "separable")]),
    activation=st.sampled_from(["celu", "relu", "identity"]),
    seed=st.integers(0, 100),
)
def test_any_shape_equals_torch(plain, draw, case, channels, height, width, half, kinds, activation, seed):
    groups = max(g for g in range(1, channels + 1) if channels % g == 0 and g <= 8)
    shape = case(channels, height, width, 2, 2 * half + 1, groups, kinds, activation=activation, images=2)
    check(plain, draw(shape, seed))


@pytest.mark.parametrize("groups", [1, 2, 16, 32])
def test_every_number_of_groups_equals_torch(plain, draw, case, groups):
    check(plain, draw(case(32, 6, 7, groups=groups, dtype=torch.float32)))


def test_a_large_common_offset_does_not_cancel(plain, draw, case):
    drawn = draw(case(16, 9, 9, groups=16, dtype=torch.float32))
    field, state = drawn.field(), drawn.maps() + 300
    exact = field.with_tensors([tensor.double() for tensor in field.tensors()])
    wanted = plain(exact, 0.5, state.double())
    found = evaluate(CompiledField.of(field, 9, 9), 0.5, state)
    # float32 holds 300 + x to 3e-5: the input itself is no better than this
    assert difference(found.double(), wanted) < 1e-4


def test_pairs_may_come_in_any_order(draw, case):
    drawn = draw(case())
    field, state = drawn.field(), drawn.maps()
    order = [3, 0, 5, 1, 4, 2]
    pairs = tuple(basis_orders(2)[i] for i in order)
    kernels = tuple(SeparableKernel(kernel.taps, kernel.alphas[order], pairs) for kernel in field.kernels)
    shuffled = FieldParameters(kernels, field.norms, field.groups)
    assert torch.equal(
        evaluate(CompiledField.of(field, 5, 4), 0.3, state), evaluate(CompiledField.of(shuffled, 5, 4), 0.3, state)
    )


@pytest.mark.parametrize(("channels", "side"), [(32, 30), (128, 7), (9, 6)])
def test_an_image_has_the_same_bits_alone_and_in_any_batch(draw, case, channels, side):
    drawn = draw(case(channels, side, side, images=64, dtype=torch.float32, groups=1))
    field, state = CompiledField.of(drawn.field(), side, side), drawn.maps()
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = torch.cat([evaluate(field, 0.4, state[i : i + 1]) for i in range(64)])
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            assert torch.equal(evaluate(field, 0.4, state), alone)
            assert torch.equal(evaluate(field, 0.4, state[8:16]), alone[8:16])
    finally:
        torch.set_num_threads(threads)


def test_memory_order_of_the_state_does_not_matter(draw, case):
    drawn = draw(case())
    field, state = CompiledField.of(drawn.field(), 5, 4), drawn.maps()
    last = state.contiguous(memory_format=torch.channels_last)
    assert torch.equal(evaluate(field, 0.3, state), evaluate(field, 0.3, last))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("activation", ["celu", "relu"])
def test_a_non_finite_state_gives_a_non_finite_slope(draw, case, bad, activation):
    drawn = draw(case(activation=activation, dtype=torch.float32))
    field, state = CompiledField.of(drawn.field(), 5, 4), drawn.maps()
    clean = evaluate(field, 0.3, state)
    state[1, 2, 3, 1] = bad
    slope = evaluate(field, 0.3, state)
    assert not torch.isfinite(slope[1]).any()
    assert torch.equal(slope[[0, 2]], clean[[0, 2]])


def test_no_images_give_no_slopes(draw, case):
    field = CompiledField.of(draw(case()).field(), 5, 4)
    assert evaluate(field, 0.3, torch.empty(0, 6, 5, 4, dtype=torch.float64)).shape == (0, 6, 5, 4)


def test_input_that_does_not_fit_is_refused(draw, case):
    drawn = draw(case())
    parameters, state = drawn.field(), drawn.maps()
    field = CompiledField.of(parameters, 5, 4)
    with pytest.raises(InputError, match=r"state has shape \(3, 6, 4, 5\)"):
        evaluate(field, 0.3, state.transpose(2, 3))
    with pytest.raises(InputError, match=r"state is torch.float32 on cpu"):
        evaluate(field, 0.3, state.float())
    with pytest.raises(InputError, match=r"time has 2 values"):
        evaluate(field, torch.zeros(2), state)
    with pytest.raises(InputError, match=r"groups is 4; it must divide the 6 channels"):
        CompiledField.of(draw(case(groups=4)).field(), 5, 4)
    with pytest.raises(InputError, match=r"activation is 'tanh'; allowed are"):
        CompiledField.of(draw(case(activation="tanh")).field(), 5, 4)
    with pytest.raises(InputError, match=r"taps has shape \(3, 4\)"):
        CompiledField.of(draw(case(size=4)).field(), 5, 4)
    with pytest.raises(InputError, match=r"weight has shape \(6, 7, 4, 4\)"):
        CompiledField.of(draw(case(size=4, kinds=("pixel", "pixel"))).field(), 5, 4)
    broken = SeparableKernel(parameters.kernels[0].taps, parameters.kernels[0].alphas, ((0, 0),) * 6)
    with pytest.raises(InputError, match=r"allowed is each \(k, l\)"):
        CompiledField.of(FieldParameters((broken, broken), parameters.norms, 3), 5, 4)
    with pytest.raises(InputError, match=r"the maps are 0 x 4 pixels"):
        CompiledField.of(parameters, 0, 4)
    mixed = [tensor.float() if i else tensor for i, tensor in enumerate(parameters.tensors())]
    with pytest.raises(InputError, match=r"the same for all"):
        CompiledField.of(parameters.with_tensors(mixed), 5, 4)


def test_stages_that_do_not_fit_are_refused(draw, case):
    per_stage = draw(case(taps_sets=(7,)))
    with pytest.raises(InputError, match=r"taps are given for \(7,\)"):
        evaluate(CompiledField.of(per_stage.field(), 5, 4), 0.3, per_stage.maps())
    weights = draw(case(weight_sets=(2,)))
    with pytest.raises(InputError, match=r"there are 2 sets of weights"):
        evaluate(CompiledField.of(weights.field(), 5, 4), 0.3, weights.maps())
    images = draw(case(taps_sets=(2, 1)))
    with pytest.raises(InputError, match=r"this call has 3 image\(s\)"):
        evaluate(CompiledField.of(images.field(), 5, 4), 0.3, images.maps())
