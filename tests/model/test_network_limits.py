"""What a network does with odd batches, frozen or edited weights, and with torch's transforms: right, or refused."""

import copy
import io
import pickle
from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn.utils import prune

import dcnbio
from dcnbio.errors import InputError, SolverError
from dcnbio.model.decoder import build_decoder
from dcnbio.model.network import build
from dcnbio.model.network_input import check_images, least_side
from dcnbio.model.rows import row_spec

ROWS = ("dcn-ode", "dcn-sigma-ji", "dcn-sigma-t", "dcn-sigma-alpha-t", "ode-net", "dcn-full", "resnet-srf-full")
MOVING = ("dcn-ode", "dcn-sigma-ji", "dcn-sigma-t", "dcn-sigma-alpha-t", "ode-net")
WAYS = {
    "dopri5": {},
    "per-image": {"stepping": "per-image"},
    "rk4": {"method": "rk4", "step_size": 0.7},
    # its steps follow the parameters that it is to give gradients of, so it agrees within its tolerance alone
    "adjoint": {"gradient": "adjoint", "rtol": 1e-4, "atol": 1e-4},
    "straight": {"gradient": "straight"},
}


def small(row="dcn-ode", widths=(4, 8), **settings):
    settings = {"integration_time": 0.5, "norm_groups": 2, **settings}
    if row.startswith("resnet"):
        del settings["integration_time"]
    return build(row, seed=1, widths=widths, **settings)


def images(count=2, side=8):
    return torch.rand(count, 3, side, side, generator=torch.Generator().manual_seed(0))


def apart(found, wanted):
    """The largest difference, as a share of the largest value."""
    return float((found - wanted).detach().abs().max() / wanted.detach().abs().max())


def gradients(net):
    net.zero_grad()
    net(images()).square().sum().backward()
    return {name: weight.grad for name, weight in net.named_parameters()}


@pytest.mark.parametrize("row", ROWS)
def test_copies_and_weights_that_went_through_a_file_give_the_same_bits(row):
    net = small(row)
    with torch.no_grad():
        logits = net(images())
        assert torch.equal(copy.deepcopy(net)(images()), logits)
        assert torch.equal(pickle.loads(pickle.dumps(net))(images()), logits)
        file = io.BytesIO()
        torch.save(net.state_dict(), file)
        for weight in net.parameters():
            weight.mul_(1.5)
        assert not torch.equal(net(images()), logits)
        file.seek(0)
        net.load_state_dict(torch.load(file))
        assert torch.equal(net(images()), logits)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", MOVING)
@pytest.mark.usefixtures("each_engine")
def test_weights_held_fixed_leave_the_other_gradients_as_they_are(row, way):
    net = small(row)
    net.solver = dcnbio.SolverSettings(**WAYS[way])
    whole = gradients(net)
    for name, weight in net.named_parameters():
        weight.requires_grad_("sigma" not in name and "norm1" not in name)
    part = gradients(net)
    assert {name for name, gradient in part.items() if gradient is None} == {
        name for name in whole if "sigma" in name or "norm1" in name
    }
    for name, gradient in part.items():
        if gradient is not None:
            assert apart(gradient, whole[name]) < (0.1 if way == "adjoint" else 1e-4), name


@pytest.mark.parametrize("way", ["dopri5", "rk4"])
@pytest.mark.parametrize("row", MOVING)
@pytest.mark.usefixtures("each_engine")
def test_images_have_their_gradient_where_every_weight_is_held_fixed(row, way):
    net = small(row)
    net.solver = dcnbio.SolverSettings(**WAYS[way])
    (wanted,) = torch.autograd.grad(net(shown := images().requires_grad_()).sum(), shown)
    net.requires_grad_(False)
    (found,) = torch.autograd.grad(net(shown := images().requires_grad_()).sum(), shown)
    assert apart(found, wanted) < 1e-5


@pytest.mark.parametrize("way", ["dopri5", "rk4", "adjoint", "straight"])
@pytest.mark.parametrize("row", ["dcn-ode", "ode-net", "dcn-sigma-t"])
def test_weights_that_are_edited_between_solve_and_gradient_are_refused(row, way):
    net = small(row)
    net.solver = dcnbio.SolverSettings(**WAYS[way])
    loss = net(images()).sum()
    with torch.no_grad():
        for weight in net.blocks.parameters():
            weight.mul_(1.5)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("way", ["dopri5", "rk4"])
def test_states_of_a_solve_are_freed_with_its_graph(way):
    net = small()
    net.solver = dcnbio.SolverSettings(**WAYS[way])
    loss = net(images()).sum()
    loss.backward(retain_graph=True)
    first = {name: weight.grad.clone() for name, weight in net.named_parameters()}
    net.zero_grad()
    loss.backward()
    assert all(torch.equal(weight.grad, first[name]) for name, weight in net.named_parameters())
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_second_derivatives_need_gradients_straight_through_the_solver():
    net = small().double()

    def slope(shown):
        (first,) = torch.autograd.grad(net(shown).sum(), shown, create_graph=True)
        return first

    net.solver = dcnbio.SolverSettings(gradient="straight", rtol=1e-6, atol=1e-6)
    shown, way = images(1).double().requires_grad_(), images(1).double() - 0.5
    (curvature,) = torch.autograd.grad((slope(shown) * way).sum(), shown)
    ahead, behind = (slope((shown + step * way).detach().requires_grad_()) for step in (1e-4, -1e-4))
    assert apart(curvature, (ahead - behind) / 2e-4) < 1e-2
    net.solver = dcnbio.SolverSettings()
    with pytest.raises(RuntimeError, match="differentiate twice"):
        slope(shown).sum().backward()


@pytest.mark.parametrize("stepping", ["shared", "per-image"])
@pytest.mark.parametrize("row", ROWS)
def test_a_batch_without_images_gives_no_logits(row, stepping):
    net = small(row)
    net.solver = replace(net.solver, stepping=stepping)
    shown = images(0).requires_grad_()
    logits = net(shown)
    logits.sum().backward()
    assert logits.shape == (0, 10)
    assert shown.grad.shape == shown.shape
    assert dcnbio.features(net, 1)(images(0)).shape[:2] == (0, 4)
    assert net.run(images(0), times="accepted" if row == "dcn-ode" else 3).logits.shape == (0, 10)


@pytest.mark.parametrize("widths", [(4,), (4, 4), (4, 4, 4)])
@pytest.mark.parametrize("row", ["dcn-ode", "dcn-full", "resnet-blocks"])
def test_the_smallest_image_is_solved_and_a_smaller_one_refused(row, widths):
    net = small(row, widths)
    least = least_side(net.spec)
    assert torch.isfinite(net(images(1, least))).all()
    with pytest.raises(InputError, match=rf"images are {least} x {least - 1} pixels; {row} .* at least {least} x"):
        net(torch.rand(1, 3, least, least - 1))


def test_images_of_other_kinds_are_refused_in_words():
    net = small()
    with pytest.raises(InputError, match=r"images are a ndarray; a network takes a torch tensor"):
        check_images(images().numpy(), net.spec, torch.zeros(()))
    with pytest.raises(InputError, match=r"type torch.uint8; a network takes floating-point"):
        dcnbio.features(net, 1)(images().byte())
    with pytest.raises(InputError, match=r"images are torch.float64 on cpu but the network is torch.float32 on cpu"):
        dcnbio.features(net, 1)(images().double())
    with pytest.raises(InputError, match=r"are torch.float16; .* use net.float\(\)"):
        copy.deepcopy(net).half()(images().half())
    with pytest.raises(InputError, match="meta device, which holds no values"):
        copy.deepcopy(net).to("meta")(images().to("meta"))


def test_the_image_that_stops_a_batch_is_named():
    shown = images(4)
    shown[2, 0, 3, 3] = torch.nan
    with pytest.raises(
        SolverError, match=r"image 0 .* in block 1 at t = 0; NaN or infinite values are in image 2, and"
    ):
        small()(shown)
    with pytest.raises(SolverError, match=r"image 2 of the batch was not solved"):
        dcnbio.features(small(), 1)(shown)
    with pytest.raises(SolverError, match=r"non-finite right-hand side .*; check the images and weights"):
        small()(images() * 1e38)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("row", ["dcn-ode", "resnet-blocks"])
def test_autocast_does_not_reach_into_a_network(row, dtype):
    net = small(row)
    alone, h = net(images()), dcnbio.features(net, 2)(images())
    with torch.autocast("cpu", dtype=dtype):
        assert torch.equal(net(images()), alone)
        assert torch.equal(dcnbio.features(net, 2)(images()), h)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_transforms_of_torch_func_are_refused_and_functional_calls_are_not():
    net, shown = small(), images()
    tangent = torch.ones_like(shown)
    for transformed in (
        lambda: torch.func.vmap(lambda one: net(one[None])[0])(shown),
        lambda: torch.func.jvp(net, (shown,), (tangent,)),
        lambda: torch.func.grad(lambda x: net(x).sum())(shown),
        lambda: torch.func.grad(lambda w: torch.func.functional_call(net, w, (shown,)).sum())(
            dict(net.named_parameters())
        ),
        lambda: torch.func.jacrev(dcnbio.features(net, 1))(shown),
    ):
        with pytest.raises(InputError, match=r"under a transform of torch.func \(vmap, grad, vjp, jvp, ...\)"):
            transformed()
    weights = {name: 1.1 * weight for name, weight in net.named_parameters()}
    given = torch.func.functional_call(net, weights, (shown,))
    net.load_state_dict(weights)
    assert torch.equal(given, net(shown))


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_tracing_is_refused():
    with pytest.raises(InputError, match=r"torch.jit.trace cannot follow a network"):
        torch.jit.trace(small(), images())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # torch's own, where a graph is broken
def test_a_compiled_network_gives_the_same_bits_and_export_is_refused(tmp_path):
    net = small()
    compiled = torch.compile(net, backend="eager")
    assert torch.equal(compiled(images()), net(images()))
    h, decoder = net.stem(images()).detach(), build_decoder(net.spec)
    maps, solver, plain = torch.rand(1, 8, 7, 7), net.solver, small("resnet-blocks")
    for call, given in (
        (lambda shown: net.run(shown).logits, images()),
        (lambda state: net.run_on(state, 1), h),
        (lambda state: net.block(1).run(state, solver).final, h),
        (lambda state: net.block(1)(state, solver), h),
        (lambda state: plain.block(1).run(state, solver).final, h),
        (lambda state: decoder.run(state)[0], maps),
        (dcnbio.features(net, 1), images()),
    ):
        torch._dynamo.reset()
        assert torch.equal(torch.compile(call, backend="eager")(given), call(given))
    again = dcnbio.load(dcnbio.save(compiled, tmp_path / "net.safetensors"))
    assert torch.equal(again(images()), net(images()))
    with pytest.raises(InputError, match=r"torch.export cannot follow a network"):
        torch.export.export(net, (images(),))


def test_hooks_that_a_solve_would_pass_over_are_refused():
    net = small("ode-net")
    for module, name in ((net.blocks[0].field.norm1, r"blocks.0.field.norm1"), (net.blocks[1], r"blocks.1")):
        hook = module.register_forward_hook(lambda *seen: None)
        with pytest.raises(InputError, match=rf"^{name} has a hook, which would never be called"):
            net(images())
        hook.remove()
    calls = []
    hook = net.stem.register_forward_hook(lambda *seen: calls.append(seen))
    net(images())
    assert len(calls) == 1
    prune.l1_unstructured(net.blocks[0].field.conv1, "weight", 0.5)
    with pytest.raises(InputError, match=r"make pruning or weight norm permanent first"):
        net(images())
    prune.remove(net.blocks[0].field.conv1, "weight")
    assert torch.isfinite(net(images())).all()


@pytest.mark.parametrize("norm", [nn.GroupNorm(4, 4), nn.GroupNorm(2, 4, eps=0.1), nn.GroupNorm(2, 4, affine=False)])
@pytest.mark.parametrize("place", ["norm1", "norm2", "norm3"])
def test_a_norm_in_the_place_of_ours_is_the_one_that_is_computed(monkeypatch, place, norm):
    net = small()
    for ours in net.blocks[0].field.norms:
        nn.init.uniform_(ours.weight, 0.5, 1.5, generator=torch.Generator().manual_seed(2))
    before = net(images())
    setattr(net.blocks[0].field, place, norm)
    found = net(images())
    monkeypatch.setenv("DCNBIO_ENGINE", "off")
    assert apart(found, net(images())) < 1e-3
    assert apart(found, before) > 0.01


def test_an_integration_time_that_is_set_on_a_block_is_in_spec_and_file(tmp_path):
    net = small()
    net.block(1).integration_time = 0.25
    assert net.spec.integration_time == (0.25, 0.5)
    again = dcnbio.load(dcnbio.save(net, tmp_path / "net.safetensors"))
    assert again.spec.integration_time == (0.25, 0.5)
    assert torch.equal(again(images()), net(images()))


def test_a_decoder_says_what_it_cannot_decode():
    decoder = build_decoder(row_spec("dcn-ode", widths=(4, 8), norm_groups=2, integration_time=0.1))
    with pytest.raises(InputError, match=r"maps have shape \(1, 4, 7, 7\); this decoder takes .* \(n, 8, y, x\)"):
        decoder(torch.zeros(1, 4, 7, 7))
    with pytest.raises(SolverError, match=r"in the decoder's block 1 at t = 0; NaN or infinite values are in image 0"):
        decoder(torch.full((1, 8, 7, 7), torch.nan))
    with pytest.raises(InputError, match=r"has 1 block; a decoder goes back over the last two"):
        build_decoder(row_spec("dcn-ode", widths=(4,), norm_groups=2))
