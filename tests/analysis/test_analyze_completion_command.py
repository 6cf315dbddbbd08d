"""``dcnbio analyze completion``: tables within 80 columns, JSON claims, degenerate masks, errors in one sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dcnbio
from dcnbio.commands.app import run

SMALL = ["--limit", "8", "--times", "2", "--mechanism", "2", "--resamples", "99"]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: Any) -> str:
    net = dcnbio.build("dcn-ode", widths=(8, 8), norm_groups=4, integration_time=0.2)
    return str(dcnbio.save(net, tmp_path_factory.mktemp("nets") / "small.safetensors"))


def test_tables_within_80_columns_and_one_conclusion(checkpoint: str, capsys: Any) -> None:
    assert run(["analyze", "completion", checkpoint, *SMALL, "--masks", "6,14"]) == 0
    out, err = capsys.readouterr()
    assert max(len(line) for line in out.splitlines()) <= 80
    assert out.count("Conclusion: ") == 1
    assert "8 images" in out
    assert "last block read out at t: intact, then masked" in " ".join(out.split())
    assert "margin  right %" in out
    assert "images/s" in err


def test_json_holds_complete_claims_and_no_nan(checkpoint: str, tmp_path: Any, capsys: Any) -> None:
    target = tmp_path / "completion.nc"
    assert run(["analyze", "completion", checkpoint, *SMALL, "--masks", "7", "--json", "--out", str(target)]) == 0
    out = capsys.readouterr().out
    assert "NaN" not in out
    found = json.loads(out)
    assert found["networks"][0]["n"] == 8
    for claim in found["claims"]:
        assert {"name", "n", "estimate", "interval", "control", "conclusion"} <= set(claim)
        assert "nan" not in claim["conclusion"]
    early = found["networks"][0]["early_readout"]
    assert early["fraction_of_T"] == [0, 1]
    assert early["cka"][-1] == pytest.approx(1)
    assert {"accuracy", "top3", "margin", "retrieval"} <= set(early["masked"])
    assert early["intact"]["top3"][1] >= early["intact"]["accuracy"][1]
    times = early["solution_times"]["intact"]
    assert times["images"].count(None) == times["censored"] == 8 - round(8 * early["intact"]["accuracy"][1])
    assert target.is_file()


def test_no_mask_and_a_mask_of_the_whole_image_are_answered(checkpoint: str, capsys: Any) -> None:
    assert run(["analyze", "completion", checkpoint, *SMALL, "--masks", "0,32", "--main", "32", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    table = found["networks"][0]["tables"]["flow"]
    nothing, everything = table["shown"].index("mask 0"), table["shown"].index("mask 32")
    assert "no image's map is changed at t = 0" in table["reason"][nothing][0]
    assert table["rho_0"][nothing] == [0.0, 0.0]
    assert table["accuracy_drop"][nothing] == 0
    assert table["rho_0"][everything][0] > 0.5
    outside = next(
        c for c in found["claims"] if c["name"] == "small block 1: completion index, outside the mask's place"
    )
    assert outside["estimate"] is None
    assert "no position of the map is outside" in outside["conclusion"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-net"], "checkpoint is 'no-such-net'"),
        (["--resamples", "5"], "--resamples is 5; limits at 95 % need at least 99"),
        (["--out", "a.csv"], "results are netCDF files"),
        (["dcn-ode", "dcn-ode"], "a checkpoint is named twice"),
        (["--main", "7"], "main is 7; it must be an even number"),
        (["--masks", "40"], "masks (--masks) have 40; the side of a square is at most 32 pixels"),
        (["--masks", "a"], "--masks has 'a' where a whole number is needed"),
        (["--model", "dcn-ode"], "no .pth is named"),
        (["dcn-ode", "--limit", "3"], "needs at least 4"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(arguments: list[str], message: str, capsys: Any) -> None:
    assert run(["analyze", "completion", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
