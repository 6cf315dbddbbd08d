"""All ten rows against the paper's own code: logits, NFE, maps after every layer, paths and losses.

In float32 two programs differ by rounding; at the same tolerance they then still take the same steps.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from torch import nn

from dcnbio.model.network import Run
from dcnbio.model.solver_settings import SolverSettings

ROWS = (
    "ode-net",
    "resnet-blocks",
    "resnet-srf-blocks",
    "resnet-srf-full",
    "dcn-ode",
    "dcn-full",
    "dcn-sigma-ji",
    "dcn-sigma-t",
    "dcn-sigma-t2",
    "dcn-sigma-alpha-t",
)
ODE_ROWS = tuple(row for row in ROWS if not row.startswith("resnet"))


def values_of(row, reference_values):
    return reference_values(row.replace("-", "_"))


def apart(found: torch.Tensor, wanted: np.ndarray) -> float:
    """The largest difference, of the largest value."""
    assert tuple(found.shape) == wanted.shape
    return float(np.abs(found.detach().numpy() - wanted).max() / np.abs(wanted).max())


@pytest.fixture(scope="module")
def runs(reference_network, reference_images):
    """Every row's run on the eight images at the paper's tolerance, made once."""
    made: dict[str, tuple[nn.Module, Run]] = {}

    def run(row: str) -> tuple[nn.Module, Run]:
        if row not in made:
            net = reference_network(row)
            with torch.no_grad():
                made[row] = net, net.run(reference_images)
        return made[row]

    return run


@pytest.mark.parametrize("row", ROWS)
def test_logits_equal_the_papers_code(row, runs, reference_values):
    assert apart(runs(row)[1].logits, values_of(row, reference_values)["logits_tol1e-3_float32"]) < 1e-4


@pytest.mark.parametrize("row", ODE_ROWS)
def test_function_evaluations_equal_the_papers_code(row, runs, reference_values):
    blocks = runs(row)[1].blocks
    wanted = values_of(row, reference_values)["nfe_tol1e-3"]
    assert [block.work.nfe.tolist() for block in blocks] == [[int(nfe)] * 8 for nfe in wanted]


@pytest.mark.parametrize("row", ROWS)
def test_maps_after_every_layer_equal_the_papers_code(row, runs, reference_values, reference_images):
    """Layers of the public nn.Sequential: 0 stem, 1, 5, 9 blocks, 4, 8 convolutions between them."""
    net, run = runs(row)
    values = {k.split("_")[1]: v for k, v in values_of(row, reference_values).items() if k.startswith("features")}
    with torch.no_grad():
        found = {"layer0": net.stem(reference_images)}
        for i, block in enumerate(run.blocks):
            found[f"layer{4 * i + 1}"] = block.final
            if i < 2:
                found[f"layer{4 * i + 4}"] = net.transitions[i](block.final)
    assert set(found) == set(values)
    assert {name: apart(found[name][:2], values[name]) < 1e-4 for name in values} == dict.fromkeys(values, True)


@pytest.mark.parametrize("row", ODE_ROWS)
def test_paths_at_tight_tolerance_equal_the_papers_code(row, reference_network, reference_values, reference_images):
    values = values_of(row, reference_values)
    net = reference_network(row).double()
    times = {block: values[f"times_layer{4 * block - 3}"].tolist() for block in (1, 2, 3)}
    with torch.no_grad():
        run = net.run(reference_images[:2].double(), SolverSettings(rtol=1e-7, atol=1e-7), times)
    for number, block in enumerate(run.blocks, 1):
        wanted = values[f"trajectory_layer{4 * number - 3}"]  # [time, image, eight channels, y, x]
        assert apart(block.path[:, :, :8].transpose(0, 1), wanted) < 1e-4


@pytest.mark.parametrize("row", ROWS)
def test_loss_in_float64_equals_the_papers_code(
    row, reference_network, reference_values, reference_images, reference_labels
):
    values = values_of(row, reference_values)
    net = reference_network(row).double()
    net.solver = SolverSettings(rtol=1e-6, atol=1e-6)
    with torch.no_grad():
        logits = net(reference_images[:2].double())
        loss = nn.functional.cross_entropy(logits, reference_labels[:2])
    np.testing.assert_allclose(logits.numpy(), values["logits_float64"], rtol=0, atol=1e-9)
    assert float(loss) == pytest.approx(float(values["loss_float64"]), abs=1e-9)


@pytest.mark.parametrize("row", ["dcn-ode", "dcn-full", "resnet-srf-blocks", "ode-net"])
def test_plain_torch_equals_the_papers_code_too(
    row, reference_network, reference_values, reference_images, monkeypatch
):
    monkeypatch.setenv("DCNBIO_ENGINE", "off")
    values = values_of(row, reference_values)
    with torch.no_grad():
        run = reference_network(row).run(reference_images)
    assert apart(run.logits, values["logits_tol1e-3_float32"]) < 1e-4
    if row in ODE_ROWS:
        assert [int(block.work.nfe[0]) for block in run.blocks] == values["nfe_tol1e-3"].tolist()


def test_every_row_of_the_summary_is_tested(reference):
    summary = json.loads((reference / "summary.json").read_text())
    assert {name.replace("_", "-") for name in summary} == set(ROWS)
