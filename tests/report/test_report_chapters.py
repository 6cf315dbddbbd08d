"""Each chapter of ``dcnbio report`` is built as a whole, of a small network: conclusion, claims, all its figures."""

from __future__ import annotations

import json
import re

import pytest

import dcnbio
from dcnbio.commands.app import run as dcnbio_command
from dcnbio.commands.measure_plan import SIZES, MeasurePlan
from dcnbio.commands.report_chapters import CHAPTERS
from dcnbio.commands.report_reconstructions import error_claim
from dcnbio.figures import figure_kinds
from dcnbio.figures.catalogue import kinds_of
from dcnbio.model.decoder import build_decoder
from dcnbio.probe.reconstructed_images import reconstruct

LITTLE = MeasurePlan(
    4, 4, 4, 5, (2.0, 5.0, 12.0, 30.0), contrasts=5, noise=0, reference=0, mask_phases=0, units=3, tolerance=1e-3
)
SHOWN = {
    "completion": kinds_of("completion"),
    "contrast": kinds_of("contrast"),
    "responses": [*kinds_of("responses"), *kinds_of("primate")],
}
# what a report has no chapter with: figures of the network itself stand in its card
CARD = ("spec", "run")
TAKEN = {
    "scales": ("filters", "scales"),
    "trajectories": ("recording",),
    "completion": ("completion",),
    "contrast": ("contrast",),
    "responses": ("responses", "primate"),
    "reconstructions": ("reconstructions",),
    "solver": ("solver_check",),
}


def made(checkpoint, folder, capsys, chapters):
    """Report on a checkpoint; give the answer and the sections of the page by their names."""
    command = ["report", "--checkpoint", str(checkpoint), "--out", str(folder), "--limit", "10", "--resamples", "99"]
    assert dcnbio_command([*command, "--only", chapters, "--json"]) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    parts = re.split(r"<section id='([^']+)'>", page)
    said = capsys.readouterr()
    return {**json.loads(said.out), "said": said.err}, dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture
def small(tmp_path):
    """A network of one block that is solved in no time."""
    net = dcnbio.build("dcn-ode", widths=(8,), norm_groups=8, integration_time=0.3)
    return dcnbio.save(net, tmp_path / "mine.safetensors")


def test_every_kind_of_figure_has_its_place_in_a_report():
    assert [plan.key for plan in CHAPTERS] == list(TAKEN)
    there = {
        kind.name for takes in (*CARD, *(one for own in TAKEN.values() for one in own)) for kind in kinds_of(takes)
    }
    assert there == set(figure_kinds())


@pytest.mark.parametrize("key", ["completion", "contrast", pytest.param("responses", marks=pytest.mark.slow)])
def test_a_chapter_is_whole(small, tmp_path, capsys, monkeypatch, key):
    monkeypatch.setitem(SIZES, "default", LITTLE)
    found, sections = made(small, tmp_path / "out", capsys, key)
    assert found["left_out"] == {}
    assert list(sections) == ["summary", "card", key]
    assert found["chapters"][key]
    drawn = re.findall("<figure id='figure-([^']+)'", sections[key])
    # three units are too few to be compared with macaque V1: figures of that are left out, each by name
    left_out = re.findall(r"figure (\w+) is left out: ", found["said"])
    assert sorted([*drawn, *left_out]) == sorted(kind.name for kind in SHOWN[key])
    assert {kind.name for kind in kinds_of(key)} <= set(drawn)
    assert set(drawn) <= set(found["figures"])
    assert all((tmp_path / "out" / "figures" / f"{name}.pdf").stat().st_size for name in drawn)
    assert len(re.findall("<tr>", sections[key])) > 3
    assert "Where this misleads" in sections[key]
    assert ("macaque" if key == "responses" else "untrained") in sections[key]


def test_the_solver_is_a_chapter_and_a_network_without_a_decoder_says_so(small, tmp_path, capsys):
    found, sections = made(small, tmp_path / "out", capsys, "reconstructions,solver")
    assert list(sections) == ["summary", "card", "solver"]
    assert "figure-solver_check" in sections["solver"]
    assert re.search(r"^mine: .*\(n = 10 images\)\.$", found["chapters"]["solver"])
    assert "no decoder ships that was trained on the weights of mine; train one" in found["left_out"]["reconstructions"]


def test_the_shipped_network_is_reconstructed_with_its_own_decoder(tmp_path, capsys):
    found, sections = made("dcn-ode", tmp_path / "out", capsys, "reconstructions")
    assert "figure-reconstructions" in sections["reconstructions"]
    error, flat = map(float, re.findall(r"\d\.\d{3}", found["chapters"]["reconstructions"]))
    assert 0 < error < flat
    about = json.loads((tmp_path / "out" / "figures" / "reconstructions.provenance.json").read_text())
    assert about["inputs"][0]["kind"] == "reconstructions"


def test_one_flat_colour_is_as_good_as_its_control_says():
    net = dcnbio.build("dcn-ode", widths=(4, 8, 16), norm_groups=4, integration_time=0.1)
    found = reconstruct(net, build_decoder(net.spec), dcnbio.load_images(limit=10))
    data = found.to_dataset()
    flat = data["image"].astype("float64").mean(("y", "x"))
    mse = ((data["image"] - flat) ** 2).mean(("channel", "y", "x"))
    assert error_claim(found).control.estimate == pytest.approx(float(mse.mean()), rel=1e-6)
