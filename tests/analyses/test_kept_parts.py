"""Long analyses keep each network's part, go on after it, and replace nothing unasked."""

import json

import contrast_response
import kept_parts
import numpy as np
import pattern_completion
import pytest
import xarray as xr

import dcnbio
from dcnbio.errors import InputError
from dcnbio.probe.completion import CompletionSettings
from dcnbio.probe.contrast import ContrastSettings

FEW = {"attributed": (0.06,), "few": 2, "precise": 1, "batch_size": 2, "looser": (10,), "surface": (0.5,)}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    net = dcnbio.build("dcn-ode", widths=(4, 4), norm_groups=4, integration_time=0.3)
    return str(dcnbio.save(net, tmp_path_factory.mktemp("net") / "small.safetensors"))


def made(value):
    return xr.DataTree.from_dict({"one Euler step": xr.Dataset({"x": ("image", np.arange(3.0) + value)})})


def test_a_part_is_made_once_and_anew_for_other_settings(tmp_path):
    path = tmp_path / "parts" / "a.nc"
    calls = []

    def make():
        calls.append(1)
        return made(len(calls))

    first = kept_parts.kept_part(path, {"settings": {"n": (1, 2)}}, make)
    again = kept_parts.kept_part(path, {"settings": {"n": (1, 2)}}, make)
    assert len(calls) == 1
    xr.testing.assert_identical(first["one Euler step"].to_dataset(), again["one Euler step"].to_dataset())
    assert first.attrs == again.attrs
    other = kept_parts.kept_part(path, {"settings": {"n": (1, 3)}}, make)
    assert float(other["one Euler step"]["x"][0]) == 2
    assert [one.name for one in path.parent.iterdir()] == ["a.nc"]


def test_a_part_that_fails_leaves_nothing(tmp_path):
    def fails():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept_parts.kept_part(tmp_path / "a.nc", {}, fails)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("script", [pattern_completion, contrast_response])
def test_a_script_goes_on_and_replaces_no_result(script, small, tmp_path, monkeypatch, capsys):
    settings = CompletionSettings(masks=(14,), controls=False, times=2, mechanism=1, batch_size=6)
    monkeypatch.setattr(pattern_completion, "SETTINGS", settings)
    monkeypatch.setattr(pattern_completion, "RESAMPLES", 99)
    monkeypatch.setattr(
        contrast_response, "settings_of", lambda size: ContrastSettings(contrasts=(0.06,), whole=(0.06,), **FEW)
    )
    out = tmp_path / "found.nc"
    arguments = [small, "--limit", "6", "--out", str(out)]
    script.main(arguments)
    claims = json.loads(out.with_suffix(".json").read_text())["claims"]
    assert [one.name for one in (tmp_path / "found.parts").iterdir()] == ["small.nc"]
    out.unlink()
    with pytest.raises(InputError, match=r"found.json exists already"):
        script.main(arguments)
    record = "record" if script is pattern_completion else "record_one"
    monkeypatch.setattr(script, record, lambda *what: pytest.fail("a network was run again"))
    script.main([*arguments, "--overwrite"])
    assert json.loads(out.with_suffix(".json").read_text())["claims"] == claims
    assert "Conclusion: " in capsys.readouterr().out


def test_one_part_of_the_contrast_script_alone(small, tmp_path, monkeypatch, capsys):
    """The inputs of all blocks scaled, in batches that are named; nothing else is run."""
    monkeypatch.setattr(
        contrast_response, "settings_of", lambda size: ContrastSettings(contrasts=(0.06,), whole=(0.06,), **FEW)
    )
    monkeypatch.setattr("dcnbio.probe.contrast.record.in_chunks", lambda *what: pytest.fail("another part was run"))
    out = tmp_path / "all_inputs.json"
    contrast_response.main([small, "--only", "all-inputs", "--limit", "6", "--out", str(out)])
    found = json.loads(out.read_text())
    assert found["networks"][0]["all_inputs"]["variables"]["nfe"]["dims"] == ["protocol", "contrast", "batch", "block"]
    total, *accuracy = found["claims"]
    assert (total["n"], total["unit"]) == (3, "batches")
    assert total["conclusion"].startswith("In 3 batches of 2 images that share their steps")
    assert [(claim["n"], claim["unit"]) for claim in accuracy] == [(6, "images")] * 2
    assert total["conclusion"] in capsys.readouterr().out
    with pytest.raises(InputError, match=r"all_inputs.json exists already"):
        contrast_response.main([small, "--only", "all-inputs", "--limit", "6", "--out", str(out)])


def test_the_first_network_alone_has_all_controls_where_it_leads():
    chosen = pattern_completion.options_of(["a", "b", "c", "--lead", "--masks", "4-6", "--times", "3"])
    found = pattern_completion.settings_of(["a", "b", "c"], chosen)
    assert {one.masks for one in found.values()} == {(4, 5, 6)}
    assert {one.times for one in found.values()} == {3}
    assert [(one.controls, one.mechanism > 0) for one in found.values()] == [
        (True, True),
        (False, False),
        (False, False),
    ]
    assert found["b"].fills, "without fills completion can be claimed of nothing"
    chosen = pattern_completion.options_of(["a", "b"])
    assert all(
        one == pattern_completion.SETTINGS for one in pattern_completion.settings_of(["a", "b"], chosen).values()
    )
