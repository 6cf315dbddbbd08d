"""Controls whose scales began elsewhere: found by name and by option, and what is said of what training alone made."""

import json
import math
import shutil

import numpy as np
import pytest
import torch

import dcnbio
from dcnbio.analysis.scales import analyze_scales
from dcnbio.analysis.scales.initialisation import INITIAL_OCTAVES, INITIAL_OCTAVES_IN_TIME, start_octaves
from dcnbio.commands.app import run
from dcnbio.model import initial, loading
from dcnbio.model.checkpoint import save_checkpoint
from dcnbio.model.scales import initial_log2_sigma
from dcnbio.probe.filters import checkpoint_filters, record_filters
from dcnbio.training.initial_scales import set_initial_sigma

TRAINED, UNTRAINED = {"passes": 1000}, {"passes": 0}


def uneven(shape, generator):
    """Changes that are no normal distribution: half of the filters stay where they were."""
    return torch.rand(shape, generator=generator).round() * torch.randn(shape, generator=generator).abs()


def normal(shape, generator):
    return 0.5 * torch.randn(shape, generator=generator)


def saved(path, start, move, seed=0, metrics=TRAINED, widths=(16,), recipe=None):
    """Save a network as a run of this start would be, its scales moved as if by training."""
    net, generator = dcnbio.build("dcn-sigma-ji", seed=seed, widths=widths, norm_groups=8), torch.Generator()
    generator.manual_seed(seed)
    set_initial_sigma(net, start, generator)
    before = initial_log2_sigma(net)
    with torch.no_grad():
        for name, value in net.named_parameters():
            if "log2_sigma" in name:
                value.add_(move(value.shape, generator))
    about = {"recipe": {"initial_sigma": start, **(recipe or {})}, "metrics": metrics, "initial_log2_sigma": before}
    save_checkpoint(net, path, **about)
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder of shipped data with a network, its two controls and an untrained one."""
    folder = tmp_path_factory.mktemp("data")
    nets = folder / "checkpoints"
    nets.mkdir()
    saved(nets / "dcn-sigma-ji.safetensors", "paper", normal)
    saved(nets / "dcn-sigma-ji-constant.safetensors", "constant", normal, 1)
    # enough filters that chance cannot make a log-normal of a uniform start
    little = {"seed": 2, "widths": (40,)}
    saved(nets / "dcn-sigma-ji-log2-uniform.safetensors", "log2-uniform", lambda s, g: 0.01 * normal(s, g), **little)
    saved(nets / "dcn-sigma-ji-untrained.safetensors", "paper", lambda s, g: torch.zeros(s), 3, UNTRAINED)
    dcnbio.save(dcnbio.build("dcn-ode", widths=(8,), norm_groups=8), nets / "dcn-ode.safetensors")
    return folder


@pytest.fixture
def shipped(data, monkeypatch):
    monkeypatch.setattr(loading, "data_root", lambda: data)
    monkeypatch.setattr(loading, "shipped", lambda name: data / name)
    return data / "checkpoints"


def answered(capsys, *arguments):
    assert run(["analyze", "scales", *arguments, "--resamples", "99", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def names(found):
    return [network["name"] for network in found["networks"]]


def test_shipped_controls_come_beside_their_network(shipped, capsys):
    found = answered(capsys, "dcn-sigma-ji")
    assert names(found) == ["dcn-sigma-ji", "dcn-sigma-ji-constant", "dcn-sigma-ji-log2-uniform"]
    assert [network["scales_began"] for network in found["networks"]] == ["paper", "constant", "log2-uniform"]
    asked = [claim for claim in found["claims"] if "training alone made log-normal" in claim["name"]]
    assert [claim["name"].split(":")[0] for claim in asked] == names(found)[1:]
    expected = "dcn-sigma-ji, whose scales began log-normal, trained on as many images"
    assert all(claim["control"]["name"] == expected for claim in asked)
    assert "dcn-sigma-ji-log2-uniform (one network, scales from log2-uniform, D 0.0" in found["conclusion"]
    assert "training alone makes no log-normal" in found["conclusion"]


def trained_longer(data, folder):
    """The same data, in which the network went on from one that ships beside it and was trained as its controls."""
    shutil.copytree(data, folder)
    nets = folder / "checkpoints"
    nets.joinpath("dcn-sigma-ji.safetensors").rename(nets / "dcn-sigma-ji-before.safetensors")
    went_on = {"begun_from": {"file": "dcn-sigma-ji-before", "passes": 1000}}
    saved(nets / "dcn-sigma-ji.safetensors", "paper", normal, 7, {"passes": 500, "seed": 0}, recipe=went_on)
    return folder


def test_controls_are_held_against_the_network_that_was_trained_as_long(data, tmp_path, monkeypatch, capsys):
    longer = trained_longer(data, tmp_path / "data")
    monkeypatch.setattr(loading, "data_root", lambda: longer)
    monkeypatch.setattr(loading, "shipped", lambda name: longer / name)
    found = answered(capsys, "dcn-sigma-ji")
    assert set(names(found)) == {
        "dcn-sigma-ji",
        "dcn-sigma-ji-before",
        "dcn-sigma-ji-constant",
        "dcn-sigma-ji-log2-uniform",
    }
    asked = [claim["control"]["name"] for claim in found["claims"] if "training alone made" in claim["name"]]
    assert asked == 2 * ["dcn-sigma-ji-before, whose scales began log-normal, trained on as many images"]
    # a control that is asked for by name is no match of the others
    assert "dcn-sigma-ji-before" in names(answered(capsys, "dcn-sigma-ji-constant"))
    alone = answered(capsys, "dcn-sigma-ji", "--controls", "dcn-sigma-ji-constant")
    asked = [claim["control"]["name"] for claim in alone["claims"] if "training alone made" in claim["name"]]
    assert asked == [
        "dcn-sigma-ji, whose scales began log-normal, trained on 1,500 images where this one was trained on 1,000"
    ]


@pytest.mark.parametrize(("seeds", "n"), [((0, 1), [2]), ((0, 0), [1, 1]), ((None, None), [2])])
def test_networks_of_one_seed_are_no_two_seeds_of_a_row(tmp_path, seeds, n):
    filters = {}
    for name, seed in zip(("first", "second"), seeds, strict=True):
        metrics = TRAINED if seed is None else {**TRAINED, "seed": seed}
        # the weights differ, as those of a network and of the one that it went on from do
        path = saved(tmp_path / f"{name}.safetensors", "paper", normal, len(filters), metrics, (8, 16))
        filters[name] = checkpoint_filters(path)
    rises = [
        claim
        for claim in analyze_scales(filters, resamples=99).claims
        if "slope of log2 sigma with depth" in claim.name
    ]
    assert [claim.n for claim in rises] == n
    expected = ["dcn-sigma-ji"] if len(n) == 1 else ["first", "second"]
    assert [claim.name.split(":")[0] for claim in rises] == expected


def test_what_is_said_of_a_network_does_not_depend_on_which_stand_beside_it(shipped, capsys):
    alone, beside = answered(capsys, "dcn-sigma-ji", "--controls", "none"), answered(capsys, "dcn-ode", "dcn-sigma-ji")
    own = {claim["name"]: claim for claim in alone["claims"]}
    assert len(own) > 20
    assert own == {claim["name"]: claim for claim in beside["claims"] if claim["name"] in own}


def test_all_that_ship_are_taken_with_their_controls(shipped, capsys):
    assert set(names(answered(capsys))) == {
        "dcn-ode",
        "dcn-sigma-ji",
        "dcn-sigma-ji-constant",
        "dcn-sigma-ji-log2-uniform",
    }
    assert names(answered(capsys, "dcn-ode")) == ["dcn-ode"]


def test_controls_can_be_left_out_and_named(shipped, capsys, tmp_path):
    found = answered(capsys, "dcn-sigma-ji", "--controls", "none")
    assert names(found) == ["dcn-sigma-ji"]
    assert (
        "a control that began elsewhere (dcnbio train --set initial_sigma=constant, or log2-uniform) is wanting"
        in (found["conclusion"])
    )
    mine = saved(tmp_path / "mine.safetensors", "constant", uneven, 5)
    assert names(answered(capsys, "dcn-sigma-ji", "--controls", str(mine))) == ["dcn-sigma-ji", "mine"]


@pytest.mark.parametrize(
    ("controls", "message"),
    [
        ("dcn-ode", "--controls names dcn-ode, a dcn-ode, and none of the networks is one (dcn-sigma-ji)"),
        ("dcn-sigma-ji-untrained", "whose scales began log-normal, as the paper's do, or which was never trained"),
        ("dcn-sigma-ji", "--controls names dcn-sigma-ji, which is analysed already"),
        ("no-such", "checkpoint is 'no-such'"),
    ],
)
def test_what_is_no_control_is_refused(shipped, controls, message, capsys):
    assert run(["analyze", "scales", "dcn-sigma-ji", "--controls", controls]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""


def test_the_report_fits_80_columns(shipped, capsys):
    assert run(["analyze", "scales", "dcn-sigma-ji", "--resamples", "99"]) == 0
    out = capsys.readouterr().out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "Scales began constant (all equal); after training" in " ".join(out.split())


def answer(tmp_path, start, move, widths=(96,), row="dcn-sigma-ji"):
    path = saved(tmp_path / f"{row}.safetensors", start, move, widths=widths)
    found = analyze_scales({"mine": checkpoint_filters(path)}, resamples=199)
    return next(claim for claim in found.claims if "training alone made" in claim.name)


def test_changes_that_are_normal_in_octaves_make_a_log_normal(tmp_path):
    found = answer(tmp_path, "constant", normal)
    assert (found.n, found.estimate, found.unit) == (2, 1.0, "convolutions")
    assert "In this network training alone makes a log-normal." in found.conclusion
    assert "Scales began constant (all equal)" in found.conclusion
    assert found.control.name == "no dcn-sigma-ji that began log-normal was given"


def test_changes_of_half_of_the_filters_make_none(tmp_path):
    found = answer(tmp_path, "constant", uneven, (48,))
    assert found.estimate == 0
    assert "In this network training alone makes no log-normal." in found.conclusion


def test_a_uniform_start_is_no_log_normal_and_is_seen_to_be_none(tmp_path):
    found = answer(tmp_path, "log2-uniform", lambda shape, generator: torch.zeros(shape), (48,))
    grid = np.linspace(-1, 1, 20_001)
    furthest = np.abs((grid + 1) / 2 - [0.5 * (1 + math.erf(x * math.sqrt(3 / 2))) for x in grid]).max()
    assert found.estimate == 0
    told = [float(part.split(")")[0].split(",")[0]) for part in found.conclusion.split("median D ")[1:]]
    assert told == pytest.approx([furthest, furthest], abs=0.01)  # before training and after
    assert "Training made 0 % of the variance" in found.conclusion


def test_scales_that_stay_equal_are_no_distribution(tmp_path):
    found = answer(tmp_path, "constant", lambda shape, generator: torch.zeros(shape), (8,))
    assert math.isnan(found.estimate)
    assert found.interval.reason == "all scales are equal"
    assert "training left all scales equal, so it makes no distribution" in found.conclusion


def test_starts_spread_as_the_network_draws_them():
    assert INITIAL_OCTAVES == initial.SIGMA_SD
    assert INITIAL_OCTAVES_IN_TIME == initial.SIGMA_OFFSET_SD
    assert start_octaves("log2-uniform", in_time=False) == initial.SIGMA_SD
    slopes = [
        float(layers["start_sd"][0])
        for layers in (
            analyze_scales({"a": record_filters(dcnbio.build(row, widths=(8,), norm_groups=8))}, resamples=99)
            .networks[0]
            .table
            for row in ("dcn-ode", "dcn-sigma-t")
        )
    ]
    assert slopes == [initial.SIGMA_SD, initial.SIGMA_OFFSET_SD]


def test_a_network_from_equal_scales_has_no_chance_slope(tmp_path):
    path = saved(tmp_path / "flat.safetensors", "constant", normal, widths=(8, 16))
    found = analyze_scales({"flat": checkpoint_filters(path)}, resamples=99)
    rise = next(claim for claim in found.claims if "slope of log2 sigma with depth" in claim.name)
    assert rise.conclusion.endswith("octaves per layer of depth, where all layers began with the same scale.")
