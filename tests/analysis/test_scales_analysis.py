"""The scales analysis on records of real and built networks: its numbers, nulls, degenerate input and files."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import torch
import xarray as xr
from safetensors.numpy import load_file

from dcnbio.analysis.result_file import open_result, write_result
from dcnbio.analysis.scales import analyze_scales
from dcnbio.analysis.scales.change import scale_change
from dcnbio.analysis.scales.depth import depth_trend
from dcnbio.analysis.scales.distribution import scale_distribution
from dcnbio.analysis.scales.initialisation import against_start
from dcnbio.analysis.scales.measures import filter_measures
from dcnbio.analysis.scales.network import measure_network
from dcnbio.errors import InputError
from dcnbio.images.shipped import shipped
from dcnbio.model.network import build
from dcnbio.model.scales import initial_log2_sigma, layer_scales
from dcnbio.probe.filters import checkpoint_filters, record_filters

PARTS = {"name", "n", "unit", "estimate", "interval", "interval_method", "control", "conclusion"}


def untrained(row="dcn-ode", seed=0, **overrides):
    net = build(row, seed=seed, widths=(8, 16), norm_groups=8, **overrides)
    return net, record_filters(net, initial_log2_sigma(net))


@pytest.fixture(scope="module")
def pairs():
    """A sigma^{ji} network whose scales have moved by -0.2 octaves and a little noise."""
    net = build("dcn-sigma-ji", widths=(16, 32), norm_groups=16)
    start = initial_log2_sigma(net)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, value in net.named_parameters():
            if "log2_sigma" in name:
                value.add_(0.3 * torch.randn(value.shape, generator=generator) - 0.2)
    return net, record_filters(net, start)


def checked(result):
    for claim in result.claims:
        values = claim.to_dict()
        assert set(values) == PARTS
        assert values["n"] > 0
        assert values["conclusion"].endswith(".")
        assert values["interval"] is not None or values["interval_method"]
        json.dumps(values, allow_nan=False)
    return {claim.name.split(": ", 1)[1]: claim for claim in result.claims}


def test_the_record_holds_what_the_network_has():
    net, tree = untrained()
    conv = net.blocks[0].field.conv1
    node = tree["block1_conv1"]
    assert node["alpha"].values[0] == pytest.approx(conv.alpha.offset.detach().numpy())
    assert float(node["log2_sigma"][0]) == pytest.approx(float(conv.log2_sigma.offset.detach()))
    assert float(node["log2_sigma_initial"]) == pytest.approx(float(conv.log2_sigma.offset.detach()))
    assert (node.attrs["time_channel"], node.attrs["block"]) == (1, 1)
    full = untrained("dcn-full")[1]
    assert list(full.children) == [
        "stem",
        "block1_conv1",
        "block1_conv2",
        "transition1",
        "block2_conv1",
        "block2_conv2",
    ]
    assert full["stem"].attrs["time_channel"] == 0
    assert untrained("resnet-srf-blocks")[1]["block1_conv1"].attrs["time_channel"] == 0


def test_layers_that_change_in_time_are_recorded_over_it():
    net, tree = untrained("dcn-sigma-t")
    node = tree["block1_conv2"]
    assert node["time"].values.tolist() == [0, 1, 2]
    at = torch.tensor(2.0, dtype=torch.float64)
    assert float(node["log2_sigma"][-1]) == pytest.approx(float(net.blocks[0].field.conv2.log2_sigma(at).detach()))
    found = checked(analyze_scales({"a": tree}, resamples=99))
    assert "change of scale from solver time 0 to T (octaves, mean over layers)" in found


def test_networks_without_scales_are_refused():
    with pytest.raises(InputError, match="ode-net has no SRF layers"):
        record_filters(build("ode-net"))


def test_foreign_initial_values_are_refused():
    net, _ = untrained()
    with pytest.raises(InputError, match="has 2 values where the layer has 1"):
        record_filters(net, {"blocks.0.field.conv1": [0.0, 1.0]})


def test_measures_agree_with_the_networks_own_scales(pairs):
    net, tree = pairs
    for own, (name, node) in zip(layer_scales(net), tree.children.items(), strict=True):
        found = filter_measures(node.to_dataset())
        assert found["sigma"].dims == ("output", "input")
        assert found["sigma"].values == pytest.approx(own.sigma[1:].T.numpy()), name
        assert found["effective_sigma"].values == pytest.approx(own.effective[1:].T.numpy(), abs=1e-6)
        assert (found["kernel_size"] == own.kernel_size).all()
        assert found["energy"].attrs["units"] == "1"


def test_a_foreign_record_is_refused():
    with pytest.raises(InputError, match="the record of filters lacks alpha"):
        filter_measures(xr.Dataset())
    node = untrained()[1]["block1_conv1"].to_dataset()
    with pytest.raises(InputError, match="the basis functions come in the order"):
        filter_measures(node.isel(function=slice(None, None, -1)))
    with pytest.raises(InputError, match="filters names no network"):
        analyze_scales({})
    with pytest.raises(InputError, match="b has the same weights as a; one network counts once"):
        analyze_scales({name: untrained()[1] for name in "ab"})


def test_the_shipped_network():
    result = analyze_scales({"dcn-ode": checkpoint_filters("dcn-ode")}, resamples=99)
    found = checked(result)
    rise = found["slope of log2 sigma with depth (octaves per layer)"]
    # as they lie in the file
    tensors = load_file(shipped("checkpoints/dcn-ode.safetensors"))
    log2_sigma = [
        float(tensors[f"blocks.{b}.field.conv{c}.log2_sigma.offset"].item()) for b in range(3) for c in (1, 2)
    ]
    expected = np.polyfit(range(1, 7), log2_sigma, 1)[0]
    assert rise.estimate == pytest.approx(expected, abs=1e-6)
    assert (rise.n, rise.unit) == (1, "networks")
    assert "one network" in rise.interval.reason
    few = found["s of the log-normal fitted to the layers' scales"]
    assert "n too small (6 of at least 20)" in few.conclusion
    assert result.conclusion.startswith(f"dcn-ode (n = 1): scale {expected:+.2f}")


def test_training_seeds_are_the_unit_of_a_row():
    trees = {f"seed{seed}": untrained(seed=seed)[1] for seed in range(4)}
    found = checked(analyze_scales(trees, resamples=99))
    rise = found["slope of log2 sigma with depth (octaves per layer)"]
    assert rise.n == 4
    assert rise.interval.method == "t interval, n = 4"
    turned = found["slope of log2(sigma_T / sigma_0) with depth (octaves per layer)"]
    assert turned.estimate == pytest.approx(0, abs=1e-6)
    few = found["s of the log-normal fitted to the layers' scales"]
    assert (few.n, few.unit, few.interval.method) == (4, "networks of 4 layers", "t interval, n = 4")
    assert few.conclusion.startswith("The 4 layers of each of 4 networks have median ")


def test_a_row_may_be_called_as_a_sentence_begins():
    """Names that hold what other sentences say: a conclusion is made of numbers and not of other sentences."""
    tree = untrained()[1]
    name = "before: slope of log2 sigma with depth"
    tree.attrs["row"] = name
    told, plain = (analyze_scales({"mine": one}, resamples=99).conclusion for one in (tree, untrained()[1]))
    assert told == plain.replace("dcn-ode (n = 1)", f"{name} (n = 1)")


def test_chance_slopes_of_the_start():
    rng = np.random.default_rng(0)
    table = measure_network("a", untrained()[1]).table
    tables = [table.assign(log2_sigma=("layer", rng.normal(0, 2 / 3, size=4))) for _ in range(400)]
    trend = depth_trend(tables)
    assert trend.chance == pytest.approx(1.96 * trend.slopes.std(), rel=0.1)
    with pytest.raises(InputError, match="a trend with depth needs at least one network"):
        depth_trend([])


def test_scales_per_pair_are_described_beside_their_start(pairs):
    result = analyze_scales({"ji": pairs[1]}, resamples=199)
    found = {name.removeprefix("ji "): claim for name, claim in ((c.name, c) for c in result.claims)}
    checked(result)
    assert found["block2_conv2: largest distance D from the fitted log-normal"].n == 32 * 32
    r = found["block2_conv2: correlation of log sigma before and after training"]
    assert r.estimate == pytest.approx(1 / math.sqrt(1 + (0.3 / (2 / 3)) ** 2), abs=0.03)
    assert r.estimate in r.interval
    assert abs(r.control.estimate) < 0.1
    shift = found["block2_conv2: shift of the median of log2 sigma by training (octaves)"]
    assert -0.2 in shift.interval
    apart = found["block2_conv2: standard deviation of log2 sigma in the time channel (octaves)"]
    assert apart.n == 32
    families = [name for name in found if "held-out" in name and name.startswith("block2_conv2")]
    assert len(families) == 4


def test_an_unknown_start_is_said_to_be_unknown(pairs):
    result = analyze_scales({"ji": record_filters(pairs[0])}, resamples=99)
    checked(result)
    skew = next(claim for claim in result.claims if claim.name == "ji block1_conv1: skewness of sigma")
    assert skew.control.estimate == pytest.approx(1.575, abs=0.01)
    assert "not known" in skew.control.name
    assert "start unknown" in result.conclusion


def test_too_few_channels_to_resample_are_said():
    net = build("dcn-sigma-ji", widths=(4, 4), norm_groups=4)
    result = analyze_scales({"small": record_filters(net, initial_log2_sigma(net))}, resamples=99)
    shares = [claim for claim in result.claims if "share of" in claim.name and "kind" not in claim.name]
    checked(result)
    assert "4 clusters are too few to resample (at least 6)" in {claim.interval.reason for claim in shares}


def test_the_start_is_recognised():
    sigma = 2 ** np.random.default_rng(0).normal(0, 2 / 3, size=10_000)
    found = against_start(sigma)
    assert found.sentence.startswith("not distinguishable from initialisation (n = 10000")
    assert found.spread * 2 / 3 * math.log(2) == pytest.approx(0.462, abs=0.01)
    assert against_start(1.3 * sigma).sentence.startswith("differs from initialisation: mean shift +0.3")
    assert against_start([1.0]).n == 1


def test_a_few_scales_are_not_said_to_be_like_the_start():
    # as many as a dcn-ode has, three times too wide: the test rejects in a minority of seeds, and never agrees
    rng = np.random.default_rng(7)
    said = [against_start(2 ** rng.normal(0, 2, size=6)).sentence for _ in range(50)]
    assert not any("not distinguishable" in sentence for sentence in said)
    assert 5 < sum(sentence.startswith("differs") for sentence in said) < 45
    few = against_start([0.5, 0.6, 0.7, 0.9, 1.0, 1.8])
    assert few.sentence == (
        "n too small to tell from initialisation (6 of at least 20): mean shift -0.26 octaves "
        "(95 % interval -0.95 to +0.43), spread 0.98 times the initial (0.61 to 2.41)"
    )
    assert against_start([1.0]).sentence == "n too small to tell from initialisation (1 of at least 20)"


def test_the_comparison_with_the_start_keeps_its_level():
    rng = np.random.default_rng(0)
    found = [against_start(2 ** rng.normal(0, 2 / 3, size=50)) for _ in range(600)]
    assert 0.03 <= np.mean([one.p < 0.05 for one in found]) <= 0.07
    assert 0.92 <= np.mean([one.shift_interval[0] <= 0 <= one.shift_interval[1] for one in found]) <= 0.98
    assert 0.92 <= np.mean([one.spread_interval[0] <= 1 <= one.spread_interval[1] for one in found]) <= 0.98


def test_training_from_a_constant_start_made_everything():
    rng = np.random.default_rng(0)
    found = scale_change(np.ones((8, 9)), rng.lognormal(size=(8, 9)), rng, 199)
    assert (found.share.value, found.reason) == (1, "all scales start equal: no correlation")
    assert math.isnan(found.correlation.value)
    flat = scale_change(rng.lognormal(size=(8, 9)), np.full((8, 9), 2.0), rng, 199)
    assert (flat.share.value, flat.spread.value, flat.reason) == (0, 0, "all scales are equal after training")
    with pytest.raises(InputError, match=r"shapes \(2, 3\) and \(3, 2\)"):
        scale_change(np.ones((2, 3)), np.ones((3, 2)), rng)


def test_equal_scales_have_an_answer():
    found = scale_distribution(np.full((12, 13), 2.0), np.random.default_rng(0), 199, np.ones((12, 13)))
    assert found.fit.degenerate
    assert found.against == []
    assert found.fit_test.reason == "all 156 values are equal"
    assert found.filters["largest"].value == 0
    assert found.filters["l_skewness"].interval.to_list() is None
    with pytest.raises(InputError, match=r"energy has shape \(2,\)"):
        scale_distribution(np.ones((12, 13)), np.random.default_rng(0), 199, np.ones(2))


def test_a_constant_network_is_analysed_without_nan_in_silence():
    net = build("dcn-sigma-ji", widths=(8, 16), norm_groups=8)
    with torch.no_grad():
        for name, value in net.named_parameters():
            if "log2_sigma" in name:
                value.zero_()
    result = analyze_scales({"flat": record_filters(net, initial_log2_sigma(net))}, resamples=99)
    checked(result)
    misfit = next(claim for claim in result.claims if "largest distance D" in claim.name)
    assert misfit.conclusion.startswith("every scale is equal, so there is no distribution that could be log-normal")
    assert math.isnan(misfit.estimate)
    assert "D < 0.02" not in result.conclusion
    assert "flat: all scales of each convolution are equal, so there is no distribution" in result.conclusion
    skewness = next(claim for claim in result.claims if claim.name.endswith("skewness of sigma"))
    assert "not defined (all scales are equal)" in skewness.conclusion


def test_a_start_of_equal_scales_is_not_called_log_normal():
    net = build("dcn-sigma-ji", widths=(8, 16), norm_groups=8)
    start = {name: [0.0] * len(values) for name, values in initial_log2_sigma(net).items()}
    result = analyze_scales({"from-constant": record_filters(net, start)}, resamples=99)
    checked(result)
    assert ", all equal before training)" in result.conclusion
    misfit = next(claim for claim in result.claims if "largest distance D" in claim.name)
    assert math.isnan(misfit.control.estimate)
    assert misfit.control.name.endswith("whose scales are all equal: they have no distribution")
    memory = next(claim for claim in result.claims if "correlation of log sigma" in claim.name)
    assert (
        memory.conclusion
        == "Scales remember their start with r = not defined (all scales start equal: no correlation)."
    )


def test_results_survive_a_file(pairs, tmp_path):
    tree = analyze_scales({"ji": pairs[1]}, resamples=99).to_tree()
    path = write_result(tree, tmp_path / "scales.nc", "scales")
    again = open_result(path)
    assert again["network1/block1_conv1/sigma"].dims == ("output", "input")
    xr.testing.assert_equal(again["network1"].to_dataset(), tree["network1"].to_dataset())
    assert json.loads(again.attrs["claims"]) == json.loads(tree.attrs["claims"])
    with pytest.raises(InputError, match="exists already"):
        write_result(tree, path, "scales")
    (tmp_path / "mine.nc").write_text("not ours")
    with pytest.raises(InputError, match="is no result of dcnbio's, so it is left alone"):
        write_result(tree, tmp_path / "mine.nc", "scales", overwrite=True)
    with pytest.raises(InputError, match="there is no folder"):
        write_result(tree, tmp_path / "no" / "a.nc", "scales")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.nc", "scales.nc"]


def test_the_same_seed_gives_the_same_numbers(pairs):
    a, b = (analyze_scales({"ji": pairs[1]}, seed=3, resamples=99) for _ in range(2))
    assert [c.to_dict() for c in a.claims] == [c.to_dict() for c in b.claims]


def test_the_analysis_needs_no_torch():
    code = "import sys, dcnbio.analysis.scales, dcnbio.analysis.result_file; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
