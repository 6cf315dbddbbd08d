"""``dcnbio analyze scales``: table within 80 columns, JSON claims, files, and errors that are one sentence."""

import json

import pytest

import dcnbio
from dcnbio.commands.app import run
from dcnbio.model.scales import initial_log2_sigma


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    net = dcnbio.build("dcn-sigma-ji", widths=(8, 16), norm_groups=8)
    path = tmp_path_factory.mktemp("nets") / "pairs.safetensors"
    return dcnbio.save(net, path, initial_log2_sigma=initial_log2_sigma(net))


def test_a_table_within_80_columns_and_one_conclusion(checkpoint, capsys):
    assert run(["analyze", "scales", str(checkpoint), "dcn-ode", "--resamples", "99"]) == 0
    out, err = capsys.readouterr()
    assert max(len(line) for line in out.splitlines()) <= 80
    assert out.count("Conclusion: ") == 1
    assert "n too small (6" in " ".join(out.split())
    assert "< 0.02?" in out
    assert "pairs: block2_conv2 ..." in err


def test_json_holds_complete_claims(capsys):
    assert run(["analyze", "scales", "--json", "--resamples", "99"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["networks"][0]["layers"][0]["layer"] == "block1_conv1"
    for claim in found["claims"]:
        assert {"name", "n", "estimate", "interval", "control", "conclusion"} <= set(claim)


def test_the_result_is_written_where_asked(checkpoint, tmp_path, capsys):
    target = tmp_path / "scales.nc"
    arguments = ["analyze", "scales", str(checkpoint), "--resamples", "99", "--out", str(target)]
    assert run(arguments) == 0
    first = target.read_bytes()
    assert f"written to {target}" in capsys.readouterr().out
    assert run(arguments) == 2
    assert "exists already" in capsys.readouterr().err
    assert target.read_bytes() == first
    assert run([*arguments, "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-net"], "checkpoint is 'no-such-net'"),
        (["--resamples", "5"], "--resamples is 5; limits at 95 % need at least 99"),
        (["--out", "a.csv"], "results are netCDF files"),
        (["dcn-ode", "dcn-ode"], "a checkpoint is named twice"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(arguments, message, capsys):
    assert run(["analyze", "scales", *arguments]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert (out, len(err.strip().splitlines())) == ("", 1)


def test_a_network_without_scales_is_an_input_error(tmp_path, capsys):
    path = dcnbio.save(dcnbio.build("ode-net", widths=(8,), norm_groups=8), tmp_path / "ode.safetensors")
    assert run(["analyze", "scales", str(path)]) == 2
    assert "has no SRF layers" in capsys.readouterr().err
