"""The script of figures 1, 3a and 3b: its files, and that it replaces none unasked."""

import json

import pytest
import scale_distributions

import dcnbio
from dcnbio.analysis.result_file import open_result
from dcnbio.errors import InputError
from dcnbio.model.scales import initial_log2_sigma


def test_it_writes_what_figures_and_readers_need(tmp_path, capsys):
    net = dcnbio.build("dcn-sigma-ji", widths=(8,), norm_groups=8)
    path = dcnbio.save(net, tmp_path / "pairs.safetensors", initial_log2_sigma=initial_log2_sigma(net))
    out = tmp_path / "scales.nc"
    arguments = [str(path), "--controls", "none", "--resamples", "99", "--out", str(out)]
    scale_distributions.main(arguments)
    found = json.loads(out.with_suffix(".json").read_text())
    assert [network["name"] for network in found["networks"]] == ["pairs"]
    assert json.loads(open_result(out).attrs["claims"]) == found["claims"]
    assert "Conclusion: " in capsys.readouterr().out
    out.unlink()
    with pytest.raises(InputError, match=r"scales.json exists already; choose another name or pass --overwrite"):
        scale_distributions.main(arguments)
