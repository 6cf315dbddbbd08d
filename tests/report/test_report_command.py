"""``dcnbio report``: true titles, chapters that a network has and reasons for those it has not, figures beside."""

from __future__ import annotations

import importlib
import json
import re
from dataclasses import replace

import pytest

import dcnbio
from dcnbio.commands.app import run as dcnbio_command
from dcnbio.commands.report_chapters import with_control
from dcnbio.commands.report_subject import Subject
from dcnbio.commands.report_trajectories import movement
from dcnbio.model.weights import weights_id

report_module = importlib.import_module("dcnbio.commands.report")
SMALL = {"widths": (8,), "norm_groups": 8}
METRICS = "step,epoch,passes,solver,loss,accuracy\n1,1,128,dopri5,2.0,0.2\n2,2,256,dopri5,1.5,0.4\n"


def report(folder, capsys, net, chapters):
    """Report on a network; give the answer and the page."""
    path = dcnbio.save(net, folder / "mine.safetensors")
    (folder / "mine.metrics.csv").write_text(METRICS)
    out = folder / "out"
    command = ["report", "--checkpoint", str(path), "--out", str(out), "--limit", "4", "--resamples", "99", "--json"]
    assert dcnbio_command([*command, "--only", chapters]) == 0
    return json.loads(capsys.readouterr().out), (out / "report.html").read_text(encoding="utf-8"), out


def sections(page):
    return re.findall(r"<section id='([^']+)'>", page)


def test_a_report_on_a_network_of_odes(tmp_path, capsys):
    net = dcnbio.build("dcn-ode", integration_time=0.3, **SMALL)
    found, page, out = report(tmp_path, capsys, net, "scales,trajectories")
    assert "<title>mine: a Deep Continuous Network, measured</title>" in page
    assert sections(page) == ["summary", "card", "scales", "trajectories"]
    assert found["left_out"] == {}
    card = page.split("<section id='card'>")[1].split("</section>")[0]
    assert re.findall("<figure id='figure-([^']+)'", card) == ["architecture", "training_curves"]
    for name in ("architecture", "training_curves", "filters", "sigma_depth", "trajectories"):
        assert name in found["figures"]
        assert page.count(f"<figure id='figure-{name}'") == 1
        about = json.loads((out / "figures" / f"{name}.provenance.json").read_text())
        assert about["settings"]["formats"] == {"value": ["pdf"], "from": "command line"}
        assert re.fullmatch("[0-9a-f]{64}", about["inputs"][0]["sha256"])
    assert "://" not in page.replace("http://www.w3.org", "")
    summary = page.split("<section id='summary'>")[1].split("</section>")[0]
    assert "95 % interval" in summary
    assert re.search(r"\|h\(T\)\| is [\d.]+( to [\d.]+)? times \|h\(0\)\|, in \d+", summary)


def test_what_no_report_can_be_made_with_is_refused_before_anything_is_computed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(report_module, "open_subject", None)
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "sigma_depth.csv").write_text("mine")
    for options, words in {
        ("--resamples", "5"): "--resamples is 5; limits at 95 % need at least 99",
        ("--seed", "-1"): "--seed is -1; give a whole number of 0 or more",
        ("--only", "scales, colour"): "only (--only) names 'colour'; the chapters are scales",
        ("--only", "scales, contrast"): "figures, which holds sigma_depth.csv already",
    }.items():
        assert dcnbio_command(["report", "--out", str(tmp_path), *options]) == 2
        assert words in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]


def test_a_report_on_a_run_has_its_name_and_its_training(tmp_path, capsys):
    run = tmp_path / "lr0.1"
    run.mkdir()
    dcnbio.save(dcnbio.build("resnet-blocks", **SMALL), run / "checkpoint.safetensors")
    (run / "metrics.csv").write_text(METRICS)
    command = ["report", "--checkpoint", str(run), "--out", str(tmp_path / "out"), "--limit", "2", "--only", "scales"]
    assert dcnbio_command([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["figures"] == ["architecture", "training_curves"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<title>lr0.1: a residual network, measured</title>" in page


def test_a_report_in_the_place_of_another_names_the_figures_that_are_left_of_it(tmp_path, capsys):
    figures = tmp_path / "out" / "figures"
    figures.mkdir(parents=True)
    (figures / "sigma_depth.pdf").write_text("earlier")
    path = dcnbio.save(dcnbio.build("resnet-blocks", **SMALL), tmp_path / "mine.safetensors")
    command = ["report", "--checkpoint", str(path), "--out", str(tmp_path / "out"), "--limit", "2", "--only", "scales"]
    assert dcnbio_command([*command, "--overwrite"]) == 0
    said = capsys.readouterr()
    assert "figures also holds sigma_depth, which this report did not draw" in said.out + said.err
    assert (figures / "sigma_depth.pdf").read_text() == "earlier"


def test_a_report_on_a_residual_network_has_no_empty_chapter(tmp_path, capsys):
    net = dcnbio.build("resnet-blocks", **SMALL)
    found, page, _ = report(tmp_path, capsys, net, "scales,trajectories,contrast,responses")
    assert "<title>mine: a residual network, measured</title>" in page
    assert sections(page) == ["summary", "card"]
    for key, words in {
        "scales": "has no SRF layers",
        "trajectories": "in one step and have no trajectory",
        "contrast": "no integration time",
        "responses": "units have no response in time",
    }.items():
        assert words in found["left_out"][key]
        assert words in page
    assert "Where this misleads" not in page


def test_a_report_on_a_network_with_a_scale_per_filter_has_their_distributions(tmp_path, capsys):
    net = dcnbio.build("dcn-sigma-ji", integration_time=0.3, **SMALL)
    found, page, _ = report(tmp_path, capsys, net, "scales")
    assert "figure-sigma_distributions" in page
    assert "sigma_distributions" in found["figures"]


def test_a_fault_in_one_chapter_costs_no_other(tmp_path, capsys, monkeypatch):
    def fault(subject):
        raise IndexError("out of places")

    broken = [replace(plan, find=fault) if plan.key == "scales" else plan for plan in report_module.CHAPTERS]
    monkeypatch.setattr(report_module, "CHAPTERS", broken)
    path = dcnbio.save(dcnbio.build("dcn-ode", integration_time=0.3, **SMALL), tmp_path / "mine.safetensors")
    out = tmp_path / "out"
    command = ["report", "--checkpoint", str(path), "--out", str(out), "--limit", "4", "--only", "scales,trajectories"]
    assert dcnbio_command(command) == 1
    said = capsys.readouterr()
    assert "scales is left out: it failed: IndexError: out of places" in said.out
    assert "unexpected IndexError: out of places; this is a fault of dcnbio" in said.err
    assert sections((out / "report.html").read_text(encoding="utf-8")) == ["summary", "card", "trajectories"]


@pytest.mark.parametrize(("made", "seed"), [(0, 1), (5, 0)])
def test_the_control_is_never_the_network_itself(tmp_path, made, seed):
    net = dcnbio.build("dcn-ode", seed=made, **SMALL)
    subject = Subject("", tmp_path / "untrained.safetensors", net, None, None, seed=0, resamples=99)
    own, control = with_control(subject).values()
    assert weights_id(own.state_dict()) != weights_id(control.state_dict())
    assert weights_id(control.state_dict()) == weights_id(dcnbio.build("dcn-ode", seed=seed, **SMALL).state_dict())


def test_growth_of_maps_is_told_as_it_is():
    net = dcnbio.build("dcn-ode", integration_time=0.3, **SMALL)
    recording = dcnbio.probe(net, dcnbio.load_images(limit=2), times=3)
    h = recording["block1"]["h"].values
    for image in range(2):
        h[image, 0], h[image, -1] = 1.0, image + 2.0
    said = movement(recording, "mine")
    assert said.startswith("mine: in block 1 |h(T)| is 2.00 to 3.00 times |h(0)|, in ")
    assert said.endswith("evaluations (ranges over n = 2 images, which are too few for intervals).")
