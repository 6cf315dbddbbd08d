"""Units of blocks 2 and 3 are measured as those of block 1, on networks whose every stage is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dcnbio
from dcnbio.analysis.responses.contrast_measures import contrast_measures
from dcnbio.analysis.responses.field_measures import field_measures
from dcnbio.analysis.responses.rectified import response
from dcnbio.analysis.responses.size_measures import size_measures
from dcnbio.analysis.responses.tuning_measures import tuning_measures
from dcnbio.commands.measure_plan import MeasurePlan
from dcnbio.commands.measured_units import record_gratings
from dcnbio.commands.own_gratings import own_gratings
from dcnbio.images import white_noise
from dcnbio.model.gaussian import basis_orders, gaussian_taps, jet_basis
from dcnbio.model.network import build
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe.responses.fields import FieldSettings, record_fields
from dcnbio.probe.responses.own_stimuli import record_own
from dcnbio.probe.responses.unit_position import unit_position
from dcnbio.probe.responses.units import UnitSettings, record_units

PLAN = MeasurePlan(4, 8, 4, blocks=(3,))


class StillField(nn.Module):
    """h' = 0."""

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        return torch.zeros_like(h)


class FilterField(nn.Module):
    """h_0 stands still; h_k' = K_k * h_0."""

    def __init__(self, kernels: Tensor) -> None:
        super().__init__()
        self.register_buffer("kernels", kernels)

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        filtered = nn.functional.conv2d(h[:, :1], self.kernels.to(h), padding=self.kernels.shape[-1] // 2)
        return torch.cat([torch.zeros_like(h[:, :1]), filtered], 1)


def known_kernels() -> Tensor:
    """The x derivative of a Gaussian of 0.9 units of the map, a second difference along x, and that Gaussian."""
    taps = gaussian_taps(torch.tensor(0.9, dtype=torch.float64), 2, 3)
    kernels = torch.zeros(3, 1, 7, 7, dtype=torch.float64)
    kernels[0, 0] = jet_basis(taps)[basis_orders(2).index((0, 1))]
    kernels[1, 0, 3, 2:5] = torch.tensor([1.0, -2.0, 1.0])
    kernels[2, 0] = jet_basis(taps)[basis_orders(2).index((0, 0))]
    return kernels


@torch.no_grad()
def linear_network():
    """Luminance, twice averaged over 2 x 2 with stride 2, then filtered: every stage linear, no norm."""
    fields = [StillField(), StillField(), FilterField(known_kernels())]
    net = build("dcn-ode", widths=(4, 4, 4), integration_time=1.0, norm_groups=4, vector_field=fields).double()
    for conv in (net.stem, *(transition.conv for transition in net.transitions)):
        conv.weight.zero_()
        conv.bias.zero_()
    net.stem.weight[0, :, 1, 1] = 1 / 3
    for transition in net.transitions:
        transition.conv.weight[0, 0, 1:3, 1:3] = 0.25
        transition.norm, transition.activation = nn.Identity(), nn.Identity()
    net.readout.norm, net.activation = nn.Identity(), nn.Identity()
    net.solver = SolverSettings(method="rk4", step_size=0.5)
    return net


@pytest.fixture(scope="module")
def net():
    return linear_network()


@pytest.fixture(scope="module")
def gratings(net):
    return record_gratings(net, PLAN, UnitSettings(blocks=(3,)))


def test_tuning_in_block_3_is_the_product_of_all_stages(net, gratings):
    f = gratings["spatial_frequency"].values
    f = f[f <= 0.125]
    assert f[-1] == 0.125  # Nyquist's frequency of these maps is among those shown
    r = response(gratings, "h_change").isel(time=-1, unit=1).sel(orientation=90, spatial_frequency=f)
    turn = np.exp(2j * np.pi * np.arange(4) / 4)
    measured = np.abs(2 * (r.transpose("spatial_frequency", "phase").values @ turn) / 4)
    x = np.arange(-3, 4)
    kernel = known_kernels()[0, 0].numpy().sum(0)
    stages = np.cos(np.pi * f) * np.cos(2 * np.pi * f) * np.abs(np.exp(2j * np.pi * 4 * np.outer(f, x)) @ kernel)
    np.testing.assert_allclose(measured, 0.96 * 0.5 * stages / 2, atol=0.005 * measured.max())


def test_tuning_that_leaves_the_usable_range_is_censored(gratings):
    columns = tuning_measures(gratings, "h_change")
    assert gratings["highest_frequency"].values.tolist() == [0.125] * 4
    names = ("preferred_spatial_frequency", "spatial_frequency_bandwidth")
    peak, width = (columns[f"censored_{name}"].tolist() for name in names)
    # a derivative peaks inside; a second difference does too, but its upper cut is beyond the maps' Nyquist frequency
    assert peak == [False, False, False, True]
    assert width[2:] == [True, True]
    assert columns["preferred_spatial_frequency"][3] == pytest.approx(1 / 30)  # a blur prefers the lowest shown
    assert np.isnan(columns["preferred_spatial_frequency"][0])  # what stands still is silent


def test_size_contrast_and_timing_in_block_3_are_those_of_a_linear_unit(net, gratings):
    from dcnbio.analysis.responses.measures import Recordings

    fields = record_fields(net, white_noise(1, np.random.default_rng(0)), FieldSettings(3, channels=(0, 1, 2)))
    measured = field_measures(fields, shape=False)
    # an odd field's energy has two peaks beside its centre: the second moments know it, a blob's fit need not
    energy = fields["local"].isel(time=-1, unit=1).values ** 2
    centre = (np.arange(32) @ energy.sum(1) / energy.sum(), np.arange(32) @ energy.sum(0) / energy.sum())
    assert unit_position(net, 3).pixel == (14.5, 14.5)
    np.testing.assert_allclose(centre, (14.5, 14.5), atol=1e-6)
    assert measured["field_centre_y"][2] == pytest.approx(14.5, abs=0.05)
    own = own_gratings(Recordings(gratings.isel(unit=[0, 1, 2]), gratings, fields=None))
    assert own.centre_x.tolist() == [14.5] * 3
    settings = UnitSettings(blocks=(3,), times=5)
    shown = {"contrast": [0.06, 0.12, 0.24, 0.48, 0.96], "diameter": [math.inf]}
    contrast = record_own(net, own, shown, settings).isel(diameter=0, drop=True)
    assert contrast["channel"].values.tolist() == [0, 1, 2]
    found = contrast_measures(contrast, "h_change")
    assert found["censored_c50"][1]  # a line does not saturate
    assert found["peak_time"][1] == pytest.approx(1)
    assert found["censored_peak_time"][1]  # h grows at one speed until T
    assert found["half_rise_time"][1] == pytest.approx(0.5, abs=1e-6)
    diameters = (4.0, 8.0, 14.0, 20.0, 27.0)
    sizes = record_own(net, own, {"contrast": [0.24, 0.96], "diameter": diameters}, settings)
    r = response(sizes, "h_change").isel(time=-1, unit=1)
    np.testing.assert_allclose(4 * r.isel(contrast=0).values, r.isel(contrast=1).values, rtol=1e-5)
    # r is linear in the image, so the unit's own field says what each grating gives
    field = fields["local"].isel(time=-1, unit=1).values
    from dcnbio.images import render

    expected = [float((field * (render(own.grating(1, 0.96, d))[0] - 0.5)).sum()) for d in diameters]
    np.testing.assert_allclose(r.isel(contrast=1).values, np.maximum(expected, 0), atol=1e-4 * max(expected))
    tuned = size_measures(sizes, "h_change")
    assert tuned["summation_diameter"][1] == pytest.approx(tuned["summation_diameter_low_contrast"][1], abs=0.05)


def test_even_maps_are_read_as_the_mean_of_their_central_four():
    net = build("dcn-full", widths=(4, 4), norm_groups=4, integration_time=0.2)
    images = np.random.default_rng(0).random((2, 3, 32, 32), dtype=np.float32)
    found = record_units(net, images, UnitSettings(blocks=(2,), times=2, tolerance=None))
    h = dcnbio.probe(net, images, times=2, blocks=[2])["block2"]["h"].values
    np.testing.assert_allclose(found["h_start"].values, h[:, 0, :, 7:9, 7:9].mean((-2, -1)), rtol=1e-5, atol=1e-6)


def test_blocks_are_recorded_once_and_in_their_order_whatever_is_asked():
    net = build("dcn-ode", widths=(2, 2), norm_groups=2, integration_time=0.1)
    images = np.random.default_rng(0).random((1, 3, 32, 32), dtype=np.float32)
    usual, other = (record_units(net, images, UnitSettings(blocks=blocks, times=2)) for blocks in ((1, 2), (2, 1, 2)))
    assert other["block"].values.tolist() == [1, 1, 2, 2]
    np.testing.assert_array_equal(usual["z"].values, other["z"].values)
    assert MeasurePlan(blocks=(3, 1, 3)).blocks == (1, 3)


def test_chosen_units_are_those_of_all_units(net):
    images = np.random.default_rng(0).random((2, 3, 32, 32), dtype=np.float32)
    assert PLAN.channels(4).tolist() == [0, 1, 2, 3]
    assert MeasurePlan(units=2).channels(4).tolist() == [0, 3]
    assert record_units(net, images, UnitSettings(blocks=(2, 3), times=2)).sizes["unit"] == 8
