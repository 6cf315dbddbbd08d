"""The time from which a flow stays at rest: decays with a known one, flows without one, and recordings of both."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import xarray as xr
from torch import nn

import dcnbio
from dcnbio.analysis.settling import settling_time
from dcnbio.errors import InputError


class Decay(nn.Module):
    """dh/dt = -rate h, whose slope is e^(-rate t) of its start."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, t: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        return -self.rate * h


def slope(values, time):
    return xr.DataArray(np.atleast_2d(values), dims=("stimulus", "time"), coords={"time": time})


@pytest.mark.parametrize(("rate", "share"), [(1.0, 0.01), (2.0, 0.01), (1.0, 0.1)])
def test_a_recorded_decay_settles_when_it_must(rate, share):
    net = dcnbio.build("dcn-ode", widths=(4,), norm_groups=4, integration_time=6.0, vector_field=Decay(rate))
    settings = {"times": 61, "reductions": "slope_norm", "maps": False, "rtol": 1e-6, "atol": 1e-6}
    tree = dcnbio.probe(net, dcnbio.load_images(limit=2), **settings)
    found = settling_time(tree["block1"]["slope_norm"], share)
    exact = -np.log(share) / rate
    assert (found["settling"].values == 0).all()
    late = found["settling_time"].values - exact
    assert ((late > -1e-3) & (late < 0.1)).all()
    assert found["settling_time"].dims == ("stimulus",)
    assert found["settling_time"].attrs["units"] == "solver time"


def test_a_deep_continuous_network_is_still_moving():
    net = dcnbio.build("dcn-ode", widths=(4,), norm_groups=4)
    tree = dcnbio.probe(net, dcnbio.load_images(limit=2), times=5, reductions="slope_norm", maps=False)
    found = settling_time(tree["block1"]["slope_norm"], 0.1)
    assert (found["settling"].values == 1).all()
    assert np.isnan(found["settling_time"].values).all()


def test_a_rest_that_ends_again_does_not_count():
    time = np.arange(6.0)
    found = settling_time(slope([1, 0.001, 0.5, 0.001, 0.001, 0.001], time))
    assert found["settling_time"].values.tolist() == [3.0]


def test_no_slope_at_all_is_rest_from_the_start_and_a_lost_one_is_not_known():
    found = settling_time(slope([[0, 0, 0], [1, np.nan, np.nan]], np.arange(3.0)))
    assert found["settling_time"].values[0] == 0.0
    assert np.isnan(found["settling_time"].values[1])
    assert found["settling"].values.tolist() == [0, 2]


def test_what_has_no_times_or_no_share_is_refused():
    with pytest.raises(InputError, match="slope has the dimensions channel; give it with two or more times"):
        settling_time(xr.DataArray(np.ones(3), dims="channel"))
    with pytest.raises(InputError, match=r"share is 1; it is a part of the slope at the start"):
        settling_time(slope([1, 1], [0.0, 1.0]), 1)
