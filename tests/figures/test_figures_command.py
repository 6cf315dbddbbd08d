"""``dcnbio figures``: it recognises what it is given, and says in one sentence what it cannot use."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dcnbio
from dcnbio.analysis.result_file import write_result
from dcnbio.commands.app import run as dcnbio_command
from dcnbio.commands.figures_sources import made, sources_of
from dcnbio.errors import InputError
from dcnbio.model.decoder import build_decoder
from dcnbio.model.decoder_checkpoint import save_decoder

FAST = ["--formats", "svg"]
SKETCHES = "architecture,filters,training_curves"
SHIPPED = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def given(tmp_path_factory, scales, run):
    """A folder with a result, a recording, a run and checkpoints."""
    folder = tmp_path_factory.mktemp("given")
    write_result(scales, folder / "scales.nc", "scales")
    net = dcnbio.build("dcn-ode", widths=(8,), norm_groups=8)
    dcnbio.probe(net, dcnbio.load_images(limit=2), times=3, out=folder / "run.zarr")
    dcnbio.save(dcnbio.build("resnet-blocks", widths=(8,)), folder / "pixels.safetensors")
    (folder / "training").mkdir()
    dcnbio.save(net, folder / "training" / "checkpoint.safetensors")
    lines = [",".join(run.rows[0]), *(",".join(row.values()) for row in run.rows)]
    (folder / "training" / "metrics.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("scales.nc", ["sigma_depth", "sigma_distributions"]),
        ("run.zarr", ["architecture", "feature_maps", "solver_work", "trajectories"]),
        ("training", ["architecture", "filters", "training_curves"]),
        ("pixels.safetensors", ["architecture"]),
    ],
)
def test_all_figures_of_what_is_given_are_drawn(given, tmp_path, capsys, name, figures):
    assert dcnbio_command(["figures", str(given / name), "--out", str(tmp_path / "out"), "--json", *FAST]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(found["figures"]) == figures
    assert sorted(path.stem for path in (tmp_path / "out").glob("*.svg")) == figures


def test_a_recording_beside_its_own_checkpoint_has_one_sketch_of_the_network(given, tmp_path, capsys):
    trained = given / "training" / "checkpoint.safetensors"
    inputs = [str(given / "run.zarr"), str(given / "training"), str(trained), str(given / "run.zarr")]
    assert dcnbio_command(["figures", *inputs, "--out", str(tmp_path), "--json", "--only", SKETCHES, *FAST]) == 0
    assert sorted(json.loads(capsys.readouterr().out)["figures"]) == ["architecture", "filters", "training_curves"]
    about = json.loads((tmp_path / "architecture.provenance.json").read_text())
    assert [one["kind"] for one in about["inputs"]] == ["recording", "filters", "filters"]


def test_a_figure_of_only_that_no_input_has_is_named_and_ends_with_3(given, tmp_path, capsys):
    command = ["figures", str(given / "scales.nc"), "--out", str(tmp_path), "--json", *FAST]
    assert dcnbio_command([*command, "--only", "sigma_depth,feature_maps"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert list(found["figures"]) == ["sigma_depth"]
    assert found["failed"] == list(found["left_out"]) == ["feature_maps"]


def test_figures_of_damaged_bytes_are_named_and_the_others_written(given, tmp_path, capsys):
    store = Path(shutil.copytree(given / "run.zarr", tmp_path / "run.zarr"))
    for chunks in (store / "block1" / "h").glob("c.*"):
        chunks.write_bytes(bytes(byte ^ 1 for byte in chunks.read_bytes()))
    assert dcnbio_command(["figures", str(store), "--out", str(tmp_path / "out"), "--json", *FAST]) == 3
    found = json.loads(capsys.readouterr().out)
    assert "architecture" in found["figures"]
    assert "feature_maps" in found["failed"]
    assert all("run.zarr is damaged: block1/h cannot be read" in found["left_out"][name] for name in found["failed"])


def test_a_recording_and_another_network_of_its_name_have_two_sketches(given, tmp_path, capsys):
    dcnbio.save(dcnbio.build("resnet-blocks", widths=(8,)), tmp_path / "run.safetensors")
    inputs = [str(given / "run.zarr"), str(tmp_path / "run.safetensors")]
    command = ["figures", *inputs, "--out", str(tmp_path / "out"), "--json", "--only", "architecture", *FAST]
    assert dcnbio_command(command) == 0
    drawn = json.loads(capsys.readouterr().out)["figures"]
    assert list(drawn) == ["architecture-run-zarr", "architecture-run-safetensors"]
    assert (tmp_path / "out" / "architecture-run-safetensors.txt").read_text().startswith("resnet-blocks: 1 blocks")


def test_a_checkpoint_in_the_folder_of_its_run_comes_with_its_training(given):
    opened = sources_of(str(given / "training" / "checkpoint.safetensors"))
    assert [(source.kind, source.name) for source in opened] == [("filters", "training"), ("run", "training")]


def test_a_shipped_network_comes_with_its_training_and_its_reconstructions(capsys):
    name = next((path.stem for path in (SHIPPED / "decoders").glob("*.safetensors")), "dcn-ode")
    opened = {source.kind: source for source in sources_of(name, only=["reconstructions", "training_curves"])}
    run = opened["run"].result
    assert run.name == name
    first = SHIPPED / "checkpoints" / f"{name}.begun_from.metrics.csv"
    assert len(run.parts()) >= (2 if first.is_file() else 1)
    if "reconstructions" in opened:  # the decoder may wait for a network that was replaced
        data = made(opened["reconstructions"]).result.to_dataset()
        assert data.sizes["stimulus"] == 10
        assert float(data["mse"].max()) < float(data["image"].var())
    else:
        assert "reconstructions are left out: decoder was trained on the network" in capsys.readouterr().err


def test_files_in_the_way_are_refused_before_pictures_are_made(tmp_path, monkeypatch, capsys):
    def not_yet(*given, **options):
        raise AssertionError("images were reconstructed for a folder that takes no files")

    monkeypatch.setattr("dcnbio.probe.reconstructed_images.reconstruct", not_yet)
    monkeypatch.setattr("dcnbio.model.encoder_match.refuse_other_encoder", lambda decoder, net: None)
    (tmp_path / "reconstructions.csv").write_text("mine")
    command = ["figures", "dcn-ode", "--only", "reconstructions", "--out"]
    assert dcnbio_command([*command, str(tmp_path), *FAST]) == 2
    assert f"out (--out) is {tmp_path}, which holds reconstructions.csv already" in capsys.readouterr().err
    assert dcnbio_command([*command, str(tmp_path / "reconstructions.csv"), *FAST]) == 2
    assert "which is a file; give a folder" in capsys.readouterr().err


def test_pictures_that_are_not_asked_for_are_not_made(monkeypatch):
    monkeypatch.setattr("dcnbio.probe.reconstructed_images.reconstruct", None)
    assert {source.kind for source in sources_of("dcn-ode", only=["filters"])} <= {"filters", "run"}


def test_a_decoder_of_a_network_that_is_not_here_is_refused(tmp_path):
    net = dcnbio.build("dcn-ode", widths=(4, 8, 16), norm_groups=4)
    decoder = build_decoder(net.spec)
    path = save_decoder(decoder, tmp_path / "mine.safetensors", source={"encoder": "nowhere"})
    with pytest.raises(InputError, match=r"is a decoder of the network \w+, which is not here: checkpoint is"):
        sources_of(str(path))


def test_a_recipe_sets_what_the_command_line_does_not(given, tmp_path, capsys):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('venue = "icml"\nformats = ["pdf"]\n')
    arguments = ["figures", str(given / "scales.nc"), "--out", str(tmp_path / "out"), "--only", "sigma_depth"]
    assert dcnbio_command([*arguments, "--recipe", str(recipe), "--venue", "nature"]) == 0
    about = json.loads((tmp_path / "out" / "sigma_depth.provenance.json").read_text())
    assert {name: entry["from"] for name, entry in about["settings"].items()} == {
        "venue": "command line",
        "formats": "recipe",
        "dpi": "default",
        "latex": "default",
        "stimulus": "default",
        "channel": "default",
    }
    assert "written to" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such"], "checkpoint is 'no-such': there is no such file"),
        (["no-such.nc"], "no-such.nc does not exist; give a recording"),
        (["dcn-ode", "--only", "figure_1"], "figure is 'figure_1'; known are architecture"),
        (
            ["dcn-ode", "--only", "sigma_depth"],
            "nothing to draw of dcn-ode: sigma_depth is left out: it is drawn of",
        ),
        (["dcn-ode", "--recipe", "no.toml"], "recipe (--recipe) is no.toml, which cannot be read"),
        (["dcn-ode", "--dpi", "x"], "--dpi has 'x' where a whole number is needed"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(tmp_path, capsys, arguments, message):
    assert dcnbio_command(["figures", *arguments, "--out", str(tmp_path / "out")]) == 2
    err = capsys.readouterr().err.strip().splitlines()
    assert message in err[-1]
    assert not (tmp_path / "out").exists()


def test_figures_need_no_torch_and_naming_them_no_matplotlib():
    code = (
        "import sys, dcnbio.figures; assert 'matplotlib' not in sys.modules; "
        "import dcnbio.figures.catalogue, dcnbio.figures.export.run; "
        "assert not {'torch', 'matplotlib.pyplot'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
