"""``dcnbio analyze contrast``: table within 80 columns, complete claims, files, and errors that are one sentence."""

import json

import numpy as np
import pytest

import dcnbio
from dcnbio.analysis.contrast.saving import verdict
from dcnbio.analysis.result_file import open_result
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.commands.app import run

SMALL = ["--limit", "6", "--few", "2", "--contrasts", "0.06,1", "--resamples", "99", "--batch-size", "3"]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    net = dcnbio.build("dcn-ode", widths=(4, 8), integration_time=0.5)
    return dcnbio.save(net, tmp_path_factory.mktemp("nets") / "small.safetensors")


def test_a_table_within_80_columns_one_conclusion_and_a_file(checkpoint, tmp_path, capsys):
    target = tmp_path / "contrast.nc"
    assert run(["analyze", "contrast", str(checkpoint), *SMALL, "--out", str(target)]) == 0
    out, _ = capsys.readouterr()
    said = [line for line in out.splitlines() if not line.startswith("written to")]
    assert max(len(line) for line in said) <= 80
    assert out.count("Conclusion: ") == 1
    assert "small: 6 images, 2 for what follows" in out
    tree = open_result(target)
    cells = tree["network1/recorded/factorial"]["nfe"]
    assert cells.dims[:4] == ("contrast", "eps", "time_term", "solver_tolerance")
    # every level can be chosen by name: a dimension called "tolerance" is not, and nothing says so
    assert cells.sel(eps=0, time_term=0, solver_tolerance=1).dims == ("contrast", "first_stimulus", "block")
    for node in tree["network1"].subtree:
        variables = {name: v for name, v in node.to_dataset().variables.items() if name != "bound"}
        assert all({"long_name", "units"} <= set(v.attrs) for v in variables.values()), node.path
    assert run(["analyze", "contrast", str(checkpoint), *SMALL, "--out", str(target)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_a_network_that_has_no_time_is_refused_before_another_is_run(checkpoint, tmp_path, capsys):
    residual = dcnbio.save(dcnbio.build("resnet-blocks", widths=(4,), norm_groups=4), tmp_path / "res.safetensors")
    assert run(["analyze", "contrast", str(checkpoint), str(residual), *SMALL]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1  # no bar was begun
    assert "resnet-blocks has residual blocks, which have no integration time to scale with contrast" in err


def test_images_of_another_size_are_resized_where_asked(checkpoint, tmp_path, capsys):
    pixels = np.random.default_rng(0).integers(0, 255, (6, 3, 40, 40), dtype=np.uint8)
    np.savez(tmp_path / "large.npz", images=pixels, labels=np.arange(6))
    arguments = ["analyze", "contrast", str(checkpoint), *SMALL, "--images", str(tmp_path / "large.npz")]
    assert run(arguments) == 2
    assert "(--resize)" in capsys.readouterr().err
    assert run([*arguments, "--resize", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["networks"][0]["n"] == 6


def test_json_holds_complete_claims(checkpoint, capsys):
    assert run(["analyze", "contrast", str(checkpoint), "--json", *SMALL]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["networks"][0]["n"] == 6
    for claim in found["claims"]:
        assert {"name", "n", "estimate", "interval", "control", "conclusion"} <= set(claim)
        assert claim["estimate"] is not None
        assert claim["interval"] or claim["interval_method"]
    equal = [claim for claim in found["claims"] if "equal logit error" in claim["name"]]
    assert len(equal) == 2
    assert all(claim["control"]["name"] == "the same with eps and the time term scaled along" for claim in equal)
    total = next(claim for claim in found["claims"] if "total evaluations" in claim["name"])
    assert (total["n"], total["unit"]) == (2, "batches")
    assert total["conclusion"].startswith("In 2 batches of 3 images that share their steps total evaluations go from")
    law = next(claim for claim in found["claims"] if "eps = 0" in claim["name"])
    assert law["estimate"] < 1e-5
    assert "evaluations equal" in law["conclusion"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-net"], "checkpoint is 'no-such-net'"),
        (["--contrasts", "0"], "contrasts has 0; a contrast lies between"),
        (["--contrasts", "0.1,-2"], "contrasts has -2"),
        (["--contrasts", "nan"], "contrasts has nan"),
        (["--contrasts", "many"], "--contrasts is 'many'"),
        (["--limit", "0"], "--limit is 0; at least 1"),
        (["--out", "a.csv"], "results are netCDF files"),
        (["dcn-ode", "dcn-ode"], "a checkpoint is named twice"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(arguments, message, capsys):
    assert run(["analyze", "contrast", *arguments]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert (out, len(err.strip().splitlines())) == ("", 1)


@pytest.mark.parametrize(
    ("saved", "kept", "said"),
    [
        (3.0, 0.0, "nothing is saved"),
        (-30.0, 0.0, "so it may be a looser tolerance and nothing else"),
        (-30.0, 6.0, "a looser tolerance and nothing else"),
        (-30.0, -15.0, "a looser tolerance makes 50 % of the saving"),
    ],
)
def test_what_a_saving_is_put_down_to(saved, kept, said):
    assert said in verdict(saved, kept, Interval(kept - 1, kept + 1), Interval(saved - 1, saved + 1), 10)


def test_a_saving_that_may_be_chance_is_put_down_to_nothing():
    none = Interval.none("all 10 images give the same")
    assert verdict(-18.0, 0.0, none, Interval(-20, -16), 10) == "the saving is a looser tolerance and nothing else"
    assert verdict(-18.0, 0.0, none, none, 10) == "the saving is a looser tolerance and nothing else"
    assert verdict(-1.0, 0.0, none, Interval(-3, 1), 10) == "whether that saves any cannot be told"
    assert verdict(0.5, 0.0, none, Interval(-2, 3), 10) == "no saving is seen"


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_images_that_save_as_many_tell_nothing(n):
    """By the sign test six are sure; an interval that is missing is no interval without 0."""
    none = Interval.none("no spread")
    assert verdict(-18.0, 0.0, none, none, n) == "whether that saves any cannot be told"
    assert verdict(0.0, 0.0, none, none, n) == "no saving is seen"
    assert "seen to be left, so it may be a looser tolerance" in verdict(-18.0, 0.0, none, Interval(-30, -6), n)


@pytest.mark.parametrize("interval", [Interval(-14.0, 2.0), Interval.none("one image")])
def test_a_rest_that_may_be_chance_is_not_called_nothing(interval):
    assert verdict(-33.0, -6.0, interval, Interval(-36, -30), 1) == (
        "a looser tolerance makes 82 % of the saving; whether the rest is more than chance cannot be told"
    )


@pytest.mark.parametrize("analysis", ["contrast", "completion"])
def test_a_network_without_time_is_refused(analysis, tmp_path, capsys):
    path = dcnbio.save(
        dcnbio.build("dcn-ode", widths=(4,), norm_groups=2, integration_time=0), tmp_path / "t0.safetensors"
    )
    assert run(["analyze", analysis, str(path)]) == 2
    assert "dcn-ode has T = 0 in block 1, where nothing moves" in capsys.readouterr().err
