"""The network that dcnbio is timed against computes the same thing, by the paper's cost structure."""

import json

import pytest
import speed
import torch
from plain_network import PlainNetwork

from dcnbio.model.network import build
from dcnbio.model.solver_settings import SolverSettings


def images(count, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    return torch.rand(count, 3, 32, 32, generator=generator, dtype=dtype)


@pytest.mark.parametrize("row", ["dcn-ode", "ode-net", "dcn-sigma-ji", "dcn-sigma-t"])
def test_plain_and_ours_agree_and_take_the_same_evaluations(row):
    net = build(row, widths=(8, 16), norm_groups=8, seed=1)
    plain = PlainNetwork(net)
    x = images(3)
    with torch.no_grad():
        run, logits = net.run(x), plain(x)
    assert plain.nfe == [int(block.work.nfe[0]) for block in run.blocks]
    assert float((run.logits - logits).abs().max()) <= 1e-4 * float(logits.abs().max())


def test_gradients_of_plain_and_ours_agree_at_tight_tolerance():
    net = build("dcn-ode", widths=(4, 8), norm_groups=4, integration_time=0.1, seed=1).double()
    net.solver = SolverSettings(rtol=1e-7, atol=1e-7)
    x = images(2, torch.float64)
    found = []
    for variant in (net, PlainNetwork(net)):
        net.zero_grad()
        variant(x).square().sum().backward()
        found.append([p.grad.clone() for p in net.parameters()])
    largest = max(float(g.abs().max()) for g in found[0])
    for ours, plain in zip(*found, strict=True):
        assert float((ours - plain).abs().max()) <= 1e-4 * largest


def test_every_scale_is_set_to_the_value_that_is_timed():
    net = speed.with_sigma("dcn-ode", 2.0)
    sigmas = {float(m.sigma(torch.zeros(())).detach()) for m in net.modules() if hasattr(m, "log2_sigma")}
    assert sigmas == {2.0}


def test_results_are_json_with_what_was_not_measured_as_null():
    row = speed.Row("dcn-ode", 1.0, "ours", 8, 0.1, [44, 32, 32], 10.0, float("nan"))
    written = json.loads(
        json.dumps(speed.results_json({"cpu": "x"}, [{"pass": "forward", **vars(row)}]), allow_nan=False)
    )
    assert written["rows"][0]["share"] is None
    assert written["rows"][0]["nfe"] == [44, 32, 32]
