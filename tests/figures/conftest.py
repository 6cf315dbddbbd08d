"""Small results of every kind that figures are made of, each made once."""

from __future__ import annotations

import numpy as np
import pytest

import dcnbio
from dcnbio.analysis.scales import analyze_scales
from dcnbio.figures.training_curves import TrainingRun
from dcnbio.model.decoder import build_decoder
from dcnbio.model.scales import initial_log2_sigma
from dcnbio.probe.filters import checkpoint_filters, record_filters
from dcnbio.probe.reconstruction import reconstruct

SMALL = {"widths": (8, 16), "norm_groups": 8}


@pytest.fixture(scope="session")
def filters():
    return checkpoint_filters("dcn-ode")


@pytest.fixture(scope="session")
def scales(filters):
    net = dcnbio.build("dcn-sigma-ji", seed=1, **SMALL)
    return analyze_scales(
        {"pairs": record_filters(net, initial_log2_sigma(net)), "dcn-ode": filters}, resamples=99
    ).to_tree()


@pytest.fixture(scope="session")
def recording():
    return dcnbio.probe(dcnbio.build("dcn-ode", **SMALL), dcnbio.load_images(limit=4), times=5)


@pytest.fixture(scope="session")
def run():
    rng = np.random.default_rng(0)
    rows = [
        {
            "step": str(10 * epoch),
            "epoch": str(epoch),
            "passes": str(1280 * epoch),
            "solver": "dopri5",
            "loss": repr(float(2.3 / epoch)),
            "accuracy": repr(float(0.1 * epoch)),
            "held_out_n": "100",
            "held_out_accuracy": repr(float(0.09 * epoch)),
            "held_out_loss": repr(float(2.4 / epoch)),
            "nfe_backward": "20.0",
            "nfe_forward": "20.5",
            **{f"log2_sigma/blocks.{b}.field.conv{c}": repr(float(rng.normal())) for b in range(3) for c in (1, 2)},
        }
        for epoch in range(1, 6)
    ]
    return TrainingRun("small", tuple(rows))


@pytest.fixture(scope="session")
def reconstructions():
    net = dcnbio.build("dcn-ode", widths=(4, 8, 16), norm_groups=4, integration_time=0.1)
    return reconstruct(net, build_decoder(net.spec), dcnbio.load_images(limit=4))


@pytest.fixture(scope="session")
def results(filters, scales, recording, run, reconstructions):
    """Of each kind of result, one."""
    return {
        "filters": filters,
        "scales": scales,
        "recording": recording,
        "run": run,
        "spec": filters,
        "reconstructions": reconstructions,
    }
