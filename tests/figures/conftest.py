"""Small results of every kind that figures are made of, each made once."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import dcnbio
from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.completion import analyze_completion
from dcnbio.analysis.contrast.analysis import analyze_contrast
from dcnbio.analysis.responses.result import ResponsesResult, analyze_responses
from dcnbio.analysis.result_file import open_result, write_result
from dcnbio.analysis.scales import analyze_scales
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.commands.analyze_responses import all_units
from dcnbio.commands.measured_growth import growth_of, record_fields_in_time
from dcnbio.commands.measured_units import MeasurePlan, measures_of, record_network
from dcnbio.figures.training_run import TrainingRun
from dcnbio.model.decoder import build_decoder
from dcnbio.model.loading import shipped_names
from dcnbio.model.scales import initial_log2_sigma
from dcnbio.probe.completion import CompletionSettings, completion_experiment
from dcnbio.probe.contrast.record import record_contrast
from dcnbio.probe.contrast.settings import ContrastSettings
from dcnbio.probe.filters import checkpoint_filters, record_filters
from dcnbio.probe.reconstructed_images import reconstruct
from dcnbio.probe.solver_check import check_solver

SMALL = {"widths": (8, 16), "norm_groups": 8}
BLOCKS = {"widths": (4, 4, 8), "norm_groups": 4}


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
def scales_of_several():
    """As the command gives it without arguments: the networks that ship, with their own names and three starts."""
    found = open_result(Path(__file__).parents[2] / "analyses/results/scales.nc")
    assert {node.attrs["name"] for name, node in found.children.items() if name.startswith("network")} <= set(
        shipped_names()
    )
    return found


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
def contrast_recording():
    settings = ContrastSettings(
        contrasts=(0.03, 0.3), attributed=(0.3,), whole=(0.3,), few=2, precise=1, looser=(1, 10), surface=(0.1, 1)
    )
    net = dcnbio.build("dcn-ode", integration_time=0.2, **SMALL)
    return record_contrast(net, dcnbio.load_images(limit=10), settings)


@pytest.fixture(scope="session")
def contrast(contrast_recording):
    return analyze_contrast({"small": contrast_recording}, resamples=99).to_tree()


@pytest.fixture(scope="session")
def contrast_of_several(contrast_recording):
    """As the command gives it: three networks, one of them with a long name."""
    names = ("dcn-ode", "resnet-blocks-black-borders", "dcn-ode-untrained")
    return analyze_contrast(dict.fromkeys(names, contrast_recording), resamples=99).to_tree()


@pytest.fixture(scope="session")
def solver_check():
    return check_solver(
        dcnbio.build("dcn-ode", integration_time=0.5, **SMALL), dcnbio.load_images(limit=2), (1e-2, 1e-3, 1e-4)
    )


PLAN = MeasurePlan(4, 4, 4, 5, (2.0, 5.0, 12.0, 30.0), contrasts=6, noise=0, field_images=1, reference=0)


@pytest.fixture(scope="session")
def units():
    return dcnbio.build("dcn-ode", widths=(4,), norm_groups=4, integration_time=0.3)


@pytest.fixture(scope="session")
def responses(units, tmp_path_factory):
    """As ``dcnbio analyze responses --out`` keeps it."""
    recordings = record_network(units, PLAN)
    measures = measures_of(units, recordings, PLAN, name="small", trained=True)
    untrained = measures.assign_attrs(network="untrained", trained=0)
    fields = record_fields_in_time(units, channels=2)
    curves = {"gratings": recordings.gratings, "fields": all_units(fields)}
    found = analyze_responses(ResponsesResult(measures, untrained, growth_of(units, fields), curves=curves))
    path = tmp_path_factory.mktemp("responses") / "responses.nc"
    return open_result(write_result(found.to_tree(), path, "responses"))


@pytest.fixture(scope="session")
def primate():
    share = Control("published, V1", 0.6)
    octaves = Control("macaque V1, histogram", 1.5, Interval(1.4, 1.6, 0.95, "stated"))
    none = Interval.none("one network")
    claims = [
        Claim(
            "small: bandwidth of spatial frequency, median (octaves)",
            32,
            "units",
            1.2,
            Interval(0.9, 1.5),
            octaves,
            "Within.",
        ),
        Claim("small: share of simple units", 32, "units", 0.9, none, share, "Cannot tell."),
        Claim("small: slope of size with area (octaves)", 3, "blocks", math.nan, none, share, "Not defined."),
    ]
    plain = [claim.to_dict() for claim in claims]
    plain[0]["controls"] = {"untrained_effect": 0.6, "untrained_n": 30, "njets": {"order 1": 2.6, "order 2": 1.8}}
    nothing = (math.nan, math.nan)
    limits = {
        "interval_90": [(-0.55, -0.05), (0.1, 0.5), nothing],
        "interval_holm": [(-0.7, 0.1), (0.0, 0.6), nothing],
    }
    numbers = {
        "effect": [-0.3, 0.3, math.nan],
        "data": [1.5, 0.6, math.nan],
        "bound": [0.4, math.nan, math.nan],
        "n_model": [32, 32, 3],
        "n_data": [150, math.nan, math.nan],
    }
    data = xr.Dataset(
        {name: ("comparison", values) for name, values in numbers.items()}
        | {name: (("comparison", "limit"), values) for name, values in limits.items()},
        {
            "comparison": ["bandwidth of spatial frequency, median", "share of simple units", "slope of size"],
            "verdict": ("comparison", ["like, built in", "cannot tell", ""]),
        },
        {"claims": json.dumps(plain), "name": "small"},
    )
    return xr.DataTree(data)


@pytest.fixture(scope="session")
def many_comparisons():
    """As ``dcnbio analyze primate`` gives them: many, with long names, five kinds of marks, three units."""
    names = [
        ("spatial-frequency bandwidth, mean", "octaves"),
        ("growth of the summation field at low contrast beyond the law's, against 2.3 times", "octaves"),
        ("growth of the summation field at low contrast beyond the law's, against 4 times", "octaves"),
        ("peak time at low contrast, median of log2(low / high)", "octaves"),
        ("slope of log2 linear bandwidth against log2 preferred frequency", "1"),
        ("bandwidth index 100 f_low / f_high, median", "percent"),
    ]
    controls = {"untrained_effect": 0.4, "untrained_n": 32, "njets": {"order 1": 1.0, "order 2": 0.2}}
    none = Control("the same network untrained", 0.4)
    claims = [
        Claim(f"{name} ({unit})", 32, "units", 0.3, Interval(-0.2, 0.8), none, "Cannot tell.").to_dict()
        | {"controls": controls}
        for name, unit in names
    ]
    count = len(names)
    data = xr.Dataset(
        {
            name: ("comparison", np.full(count, value))
            for name, value in (("effect", 0.3), ("data", 0.1), ("bound", 0.5))
        }
        | {name: (("comparison", "limit"), [(-0.2, 0.8)] * count) for name in ("interval_90", "interval_holm")}
        | {name: ("comparison", [32] * count) for name in ("n_model", "n_data")},
        {"comparison": [name for name, _ in names], "verdict": ("comparison", ["like, built in"] * count)},
        {"claims": json.dumps(claims), "name": "small"},
    )
    return xr.DataTree(data)


@pytest.fixture(scope="session")
def run_chain(run):
    """Make a run that went on from another's weights."""
    return TrainingRun("chain", (*run.rows, *run.rows[:2]))


@pytest.fixture(scope="session")
def completion_of_several():
    """Analyse networks with the names of shipped ones: of other integration times, without time, and twins."""
    settings = CompletionSettings(masks=(6, 14), controls=False, times=3, mechanism=0)
    images = dcnbio.load_images(limit=6)
    nets = {
        "dcn-ode": dcnbio.build("dcn-ode", integration_time=0.2, **BLOCKS),
        "dcn-ode-untrained": dcnbio.build("dcn-ode", integration_time=0.1, **BLOCKS),
        "ode-net-black-borders": dcnbio.build("dcn-ode", integration_time=0.2, **BLOCKS),
        "resnet-blocks-black-borders": dcnbio.build("resnet-blocks", **BLOCKS),
    }
    found = {name: completion_experiment(net, images, settings) for name, net in nets.items()}
    assert set(nets) <= set(shipped_names())
    assert max(shipped_names(), key=len) in nets
    return analyze_completion(found, resamples=99).to_tree()


@pytest.fixture(scope="session")
def spec(filters):
    return filters
