"""``dcnbio analyze responses``: every measure with its flags, interventions beside it, and refusals in one sentence."""

import json

import numpy as np
import pytest

import dcnbio
from dcnbio.analysis.responses.measure_names import MEASURES
from dcnbio.analysis.result_file import open_result
from dcnbio.commands.app import run
from dcnbio.commands.measured_units import MeasurePlan, measure_network


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    net = dcnbio.build("dcn-ode", widths=(4,), norm_groups=4, integration_time=0.3)
    return dcnbio.save(net, tmp_path_factory.mktemp("nets") / "small.safetensors")


def test_every_measure_is_there_and_what_is_missing_is_flagged():
    net = dcnbio.build("dcn-ode", widths=(4, 4), norm_groups=4, integration_time=0.2)
    plan = MeasurePlan(4, 6, 4, 5, (2.0, 6.0, 12.0, 24.0), 5, 20, 1, 10, blocks=(1, 2), units=3)
    found = measure_network(net, plan, seed=3, name="small")
    assert found["block"].values.tolist() == [1] * 3 + [2] * 3
    assert found["channel"].values.tolist() == [0, 2, 3] * 2
    assert found["highest_frequency"].values.tolist() == [0.5] * 3 + [0.25] * 3
    assert set(MEASURES) <= set(found.data_vars)
    for name in MEASURES:
        values = found[name]
        assert values.attrs["units"]
        if np.isnan(values).any():
            np.testing.assert_array_equal(found[f"undefined_{name}"], np.isnan(values))
            assert values.attrs["undefined_when"]
    assert found.attrs["trained"] == 0
    assert json.loads(found.attrs["settings"])["seed"] == 3


def test_a_result_with_an_intervention(checkpoint, tmp_path, capsys):
    out = tmp_path / "responses.nc"
    arguments = ["analyze", "responses", str(checkpoint), "--size", "quick", "--limit", "10", "--units", "2"]
    assert run([*arguments, "--intervention", "orders=1", "--out", str(out)]) == 0
    text, err = capsys.readouterr()
    assert max(len(line) for line in text.splitlines() if str(out) not in line) <= 80
    assert text.count("Conclusion: ") == 1
    assert "small, orders=1 ..." in err or "orders=1 ..." in err
    tree = open_result(out)
    assert tree["intervention1"].attrs["intervention"] == "orders=1"
    assert dict(tree["growth"].sizes) == {"block": 1, "time": 3}
    assert tree["untrained_intervention1"].attrs["intervention"] == "orders=1"
    predictions = json.loads(tree.attrs["predictions"])
    assert {one["predicted_by"] for one in predictions} == {"contrast-time law"}  # quick freezes no statistics
    assert all(one["block"] == 1 and "trained_minus_untrained" in one for one in predictions)
    claims = json.loads(tree.attrs["claims"])
    change = next(claim for claim in claims if claim["name"].startswith("orders=1: change of circular_variance"))
    assert change["control"]["name"] == "the same in the untrained network"
    assert any(claim["name"] == "orders=1: change of accuracy" and claim["n"] == 10 for claim in claims)
    changes = json.loads(tree.attrs["changes"])
    assert {one["intervention"] for one in changes} == {"orders=1"}
    accuracy = next(one for one in changes if one["measure"] == "accuracy")
    assert accuracy["block"] is None
    assert accuracy["trained_minus_untrained"] == pytest.approx(accuracy["change"] - accuracy["untrained"])
    units = [one for one in changes if one["block"] == 1]
    assert {"preferred_spatial_frequency", "peak_time", "c50"} <= {one["measure"] for one in units}
    without = ("few", "no unit", "a median is a limit")  # 2 units each
    assert all(any(reason in one["interval_method"] for reason in without) for one in units)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--size", "huge"], "size is 'huge'; sizes are quick, small, default, full"),
        (["--intervention", "sigma"], "--intervention is 'sigma'; give sigma=FACTOR"),
        (["--intervention", "orders=1.5"], "orders takes whole numbers"),
        (["--blocks", "7"], "block is 7; dcn-ode has blocks 1 to 1"),
        (["--intervention", "norm=nan"], "norm takes whole numbers"),
        (["--intervention", "orders=inf"], "orders takes whole numbers"),
        (["--intervention", "sigma=1000000"], "a scale is positive and under 1000 pixels"),
        (["--intervention", "time=0", "--limit", "1000000"], "limit is 1000000, but there are 1000 images"),
        (["--seed", "-1"], "--seed is -1; give a whole number of 0 or more"),
        (["--signal", "h"], "--signal is 'h'; a unit is read by z or h_change"),
        (["--units", "0"], "--units is 0; at least 1 unit of each block is needed"),
        (["--limit", "0"], "--limit is 0; at least 1 image is needed"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(checkpoint, arguments, message, capsys):
    assert run(["analyze", "responses", str(checkpoint), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in " ".join(err.split())
