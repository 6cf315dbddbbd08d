"""Changed copies of a network change what they say, and nothing else."""

from __future__ import annotations

import pytest
import torch

from dcnbio.errors import InputError
from dcnbio.model.interventions import (
    freeze_norms,
    freeze_time,
    hold_norms,
    lend_norms,
    scale_sigma,
    silence_orders,
)
from dcnbio.model.interventions.separable_field import SeparableField, with_separable_filters
from dcnbio.model.network import build
from dcnbio.model.solver_settings import SolverSettings


def small(row="dcn-ode", **options):
    net = build(row, widths=(4, 6), norm_groups=2, **options)
    net.solver = SolverSettings(rtol=1e-6, atol=1e-6)
    return net


def images(n=1, seed=0):
    return torch.rand(n, 3, 32, 32, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("row", ["dcn-ode", "dcn-sigma-t", "resnet-srf-blocks"])
def test_frozen_at_its_own_statistics_an_image_is_answered_as_before(row):
    net, x = small(row), images()
    with torch.no_grad():
        expected, other = net(x), net(images(seed=1))
        frozen = freeze_norms(net, x, times=41)
        torch.testing.assert_close(frozen(x), expected, atol=5e-3, rtol=1e-2)
        assert (frozen(images(seed=1)) - other).abs().max() > 1e-3
        torch.testing.assert_close(net(x), expected, atol=0, rtol=0)


def test_held_statistics_change_gradients_and_no_values():
    net, x = small(), images().requires_grad_()
    held = hold_norms(net)
    torch.testing.assert_close(held(x), net(x), atol=1e-4, rtol=1e-3)
    whole, local = (torch.autograd.grad(one(x)[0, 0], x)[0] for one in (net, held))
    assert (whole - local).abs().max() > 0.01 * whole.abs().max()


def test_sigma_is_multiplied_at_every_time():
    net = small("dcn-sigma-t")
    wider = scale_sigma(net, 1.5)
    for t in (0.0, 1.0, 2.0):
        before, after = (n.blocks[1].field.conv2.sigma(torch.tensor(t)) for n in (net, wider))
        torch.testing.assert_close(after, 1.5 * before, rtol=1e-5, atol=0)
    with pytest.raises(InputError, match="factor is 0; sigma is multiplied by a finite number above 0"):
        scale_sigma(net, 0)
    with pytest.raises(InputError, match="ode-net has no SRF layers in its blocks"):
        scale_sigma(build("ode-net", widths=(4,), norm_groups=4), 2.0)


@pytest.mark.parametrize(("row", "time"), [("dcn-ode", 0.0), ("dcn-ode", 1.0), ("dcn-sigma-t", 0.5)])
def test_frozen_time_is_the_field_at_that_time(row, time):
    net = small(row)
    frozen = freeze_time(net, time)
    h = torch.rand(2, 4, 8, 8)
    with torch.no_grad():
        expected = net.blocks[0].field(torch.tensor(time), h)
        for t in (0.0, 1.7):
            torch.testing.assert_close(frozen.blocks[0].field(torch.tensor(t), h), expected)
    with pytest.raises(InputError, match="has residual blocks, in which there is no time"):
        freeze_time(small("resnet-srf-blocks"))


def test_without_any_order_the_blocks_see_nothing():
    net = silence_orders(small(), {0, 1, 2})
    h = torch.rand(2, 4, 8, 8)
    with torch.no_grad():
        slope = net.blocks[0].field(torch.tensor(0.3), h)
    torch.testing.assert_close(slope, torch.zeros_like(slope))
    with pytest.raises(InputError, match="give some from 0 to 2, the order of this network's filters"):
        silence_orders(net, {3})


@pytest.mark.parametrize("row", ["dcn-ode", "dcn-sigma-t"])
def test_the_first_part_lends_its_statistics_to_the_others(row):
    net, first, other = small(row), images(2), images(2, seed=5)
    with torch.no_grad():
        expected = net(first)
        logits = lend_norms(net, 3)(torch.cat([first, other, first]))
        torch.testing.assert_close(logits[:2], expected, atol=1e-3, rtol=1e-3)
        torch.testing.assert_close(logits[4:], expected, atol=1e-3, rtol=1e-3)
        alone = freeze_norms(net, first[1:], times=81)(other[1:])
        torch.testing.assert_close(logits[3:4], alone, atol=5e-3, rtol=1e-2)
        assert (logits[2:4] - net(other)).abs().max() > 1e-3
    with pytest.raises(InputError, match="parts is 1; a batch has a first part"):
        lend_norms(net, 1)


@pytest.mark.parametrize("row", ["dcn-ode", "dcn-sigma-t"])
def test_separable_filters_are_the_same_field(row):
    net = build(row, widths=(32,), norm_groups=4)
    with torch.no_grad():
        for conv in net.blocks[0].field.convs:
            conv.log2_sigma.offset.add_(1.0)  # wide enough for the separable form to be cheaper
    field = with_separable_filters(net.blocks[0].field)
    assert isinstance(field, SeparableField)
    h = torch.rand(2, 32, 12, 12, requires_grad=True)
    t = torch.tensor(0.7)
    got, expected = field(t, h), net.blocks[0].field(t, h)
    torch.testing.assert_close(got, expected, atol=1e-4, rtol=1e-4)
    weight = torch.rand_like(got)
    slopes = [torch.autograd.grad((one * weight).sum(), h)[0] for one in (got, expected)]
    torch.testing.assert_close(slopes[0], slopes[1], atol=1e-4, rtol=1e-3)
    assert with_separable_filters(build("ode-net", widths=(4,), norm_groups=4).blocks[0].field).convs


def test_a_reference_that_cannot_be_used_is_refused():
    net, shown = small(), images(3)
    with pytest.raises(InputError, match="times is 1: give a whole number of at least 2"):
        freeze_norms(net, shown, times=1)
    shown[1, 0, 0, 0] = torch.nan
    with pytest.raises(InputError, match="image 1 of the reference has NaN or infinite values"):
        freeze_norms(net, shown)
    with pytest.raises(InputError, match=r"images \(the reference\) are none; give one image or more"):
        freeze_norms(net, shown[:0])
    with pytest.raises(InputError, match=r"images are torch.float64 on cpu but the network is torch.float32"):
        freeze_norms(net, images().double())


def test_a_batch_without_equal_parts_is_refused():
    lent = lend_norms(small(), 2)
    with pytest.raises(InputError, match="a batch of 3 has no 2 equal parts"):
        lent(images(3))
    with pytest.raises(InputError, match=r"a batch of 1 has no 2 equal parts, .* shared stepping"):
        lent.run(images(2), SolverSettings(stepping="per-image"))
