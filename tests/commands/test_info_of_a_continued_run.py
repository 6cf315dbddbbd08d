"""``dcnbio info`` names the runs that a network went on from: its own passes are the last part only."""

from __future__ import annotations

import json

import dcnbio
from dcnbio.commands.app import run
from dcnbio.training import Recipe


def test_a_shipped_network_tells_what_it_was_begun_from(capsys):
    assert run(["info", "dcn-ode", "--json"]) == 0
    header = json.loads(capsys.readouterr().out)
    parts, earlier = [], header["recipe"]["begun_from"]
    while earlier:
        parts, earlier = [earlier, *parts], earlier.get("begun_from")
    assert run(["info", "dcn-ode"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("begun from")]
    assert len(lines) == 1
    named = [f"{part['file']} ({part['passes']:,} passes)" for part in parts]
    whole = header["metrics"]["passes"] + sum(part["passes"] for part in parts)
    assert lines[0] == f"begun from {', then '.join(named)}; in all {whole:,} passes"


def test_a_network_that_had_no_other_says_nothing(tmp_path, capsys):
    # every network that ships may go on some day
    net = dcnbio.build("dcn-ode", widths=(4,), norm_groups=4)
    trained = {"recipe": Recipe().to_dict(), "metrics": {"passes": 1_000}}
    assert run(["info", str(dcnbio.save(net, tmp_path / "first.safetensors", **trained))]) == 0
    out = capsys.readouterr().out
    assert "passes: 1000" in out
    assert "begun from" not in out
