"""Small results of every kind that figures are made of, each made once."""

from __future__ import annotations

import numpy as np
import pytest

import dcnbio
from dcnbio.analysis.completion import analyze_completion
from dcnbio.analysis.contrast.analysis import analyze_contrast
from dcnbio.analysis.scales import analyze_scales
from dcnbio.figures.training_curves import TrainingRun
from dcnbio.model.decoder import build_decoder
from dcnbio.model.scales import initial_log2_sigma
from dcnbio.probe.completion import CompletionSettings, completion_experiment
from dcnbio.probe.contrast.record import record_contrast
from dcnbio.probe.contrast.settings import ContrastSettings
from dcnbio.probe.filters import checkpoint_filters, record_filters
from dcnbio.probe.reconstructed_images import reconstruct
from dcnbio.probe.solver_check import check_solver

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
def completion():
    settings = CompletionSettings(masks=(6, 14), controls=False, times=3, mechanism=0)
    net = dcnbio.build("dcn-ode", integration_time=0.2, **SMALL)
    experiment = completion_experiment(net, dcnbio.load_images(limit=10), settings)
    return analyze_completion({"small": experiment}, resamples=99).to_tree()


@pytest.fixture(scope="session")
def contrast():
    settings = ContrastSettings(
        contrasts=(0.03, 0.3), attributed=(0.3,), whole=(0.3,), few=2, precise=1, looser=(1, 10), surface=(0.1, 1)
    )
    net = dcnbio.build("dcn-ode", integration_time=0.2, **SMALL)
    return analyze_contrast(
        {"small": record_contrast(net, dcnbio.load_images(limit=10), settings)}, resamples=99
    ).to_tree()


@pytest.fixture(scope="session")
def solver_check():
    return check_solver(
        dcnbio.build("dcn-ode", integration_time=0.5, **SMALL), dcnbio.load_images(limit=2), (1e-2, 1e-3, 1e-4)
    )


@pytest.fixture(scope="session")
def results(filters, scales, recording, run, reconstructions, completion, contrast, solver_check):
    """Of each kind of result, one."""
    return {
        "filters": filters,
        "scales": scales,
        "recording": recording,
        "run": run,
        "spec": filters,
        "reconstructions": reconstructions,
        "completion": completion,
        "contrast": contrast,
        "solver_check": solver_check,
    }
