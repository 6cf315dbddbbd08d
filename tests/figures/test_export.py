"""Figures as files: exact widths, fonts that can be edited, the same bytes twice, nothing replaced unasked."""

from __future__ import annotations

import io
import json
import re
import warnings

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from dcnbio.errors import InputError
from dcnbio.figures import VENUES
from dcnbio.figures.export.plan import plan_figures
from dcnbio.figures.export.run import all_names, export_figures
from dcnbio.figures.export.settings import settle_settings
from dcnbio.figures.export.sources import Source
from dcnbio.figures.table import read_table

ALL = ["pdf", "svg", "eps", "tiff", "png"]


@pytest.fixture(scope="module")
def depth(scales):
    """A small result that gives one figure of lines."""
    return Source("scales", scales, "two", "0" * 64)


def export(source, folder, *, only=("sigma_depth",), **settings):
    return export_figures(
        [source], folder, settle_settings({"dpi": [300], **settings}, {}), only=only, command="dcnbio figures"
    )


@pytest.fixture(scope="module", params=sorted(VENUES))
def files(request, depth, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    export(depth, folder, venue=request.param, formats=ALL)
    return VENUES[request.param], {path.name: path.read_bytes() for path in folder.iterdir()}


def test_vector_files_are_as_wide_as_the_column_to_a_hundredth_of_a_point(files):
    venue, content = files
    width = 72 * venue.column
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", content["sigma_depth.pdf"])
    assert float(box[1]) == pytest.approx(width, abs=0.01)
    size = re.search(rb'<svg [^>]*width="([\d.]+)pt" height="([\d.]+)pt"', content["sigma_depth.svg"])
    assert float(size[1]) == pytest.approx(width, abs=0.01)
    bounds = re.search(rb"%%HiResBoundingBox: ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)", content["sigma_depth.eps"])
    assert float(bounds[3]) - float(bounds[1]) == pytest.approx(width, abs=0.01)


def test_pixel_files_are_as_wide_as_the_column_to_half_a_point(files):
    venue, content = files
    for name in ("sigma_depth_300dpi.png", "sigma_depth_300dpi.tiff"):
        with Image.open(io.BytesIO(content[name])) as image:
            assert float(image.info["dpi"][0]) == pytest.approx(300, abs=0.1)
            assert 72 * image.size[0] / 300 == pytest.approx(72 * venue.column, abs=0.5)


def test_tiff_is_rgb_without_transparency_and_compressed(files):
    with Image.open(io.BytesIO(files[1]["sigma_depth_300dpi.tiff"])) as image:
        assert (image.mode, image.info["compression"]) == ("RGB", "tiff_lzw")


def test_fonts_are_true_type_and_text_in_svg_is_text(files):
    _, content = files
    assert b"/Type3" not in content["sigma_depth.pdf"]
    assert b"/FontType 3" not in content["sigma_depth.eps"]
    assert b"/CIDFontType2" in content["sigma_depth.pdf"] or b"/TrueType" in content["sigma_depth.pdf"]
    assert b"Layer in order of depth (block.convolution)" in content["sigma_depth.svg"]


def test_no_file_holds_a_date_and_all_are_the_same_bytes_twice(depth, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for name in ("a", "b"):
        export(depth, tmp_path / name, formats=ALL)
    first = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    second = {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert first == second
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    export(depth, tmp_path / "c", formats=ALL)
    later = {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()}
    assert [name for name in first if first[name] != later[name]] == ["sigma_depth.provenance.json"]


def test_maps_are_the_same_bytes_twice_too(recording, tmp_path):
    source = Source("recording", recording, "maps", "0" * 64)
    for name in ("a", "b"):
        export(source, tmp_path / name, only=["feature_maps"], formats=["pdf", "svg", "eps"])
    for form in ("pdf", "svg", "eps"):
        assert (tmp_path / "a" / f"feature_maps.{form}").read_bytes() == (
            tmp_path / "b" / f"feature_maps.{form}"
        ).read_bytes()


def test_eps_needs_no_transparency(depth, recording, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export(depth, tmp_path, formats=["eps"])
        export(Source("recording", recording, "r", ""), tmp_path, only=["solver_work"], formats=["eps"])


def test_beside_a_figure_lie_its_table_caption_and_provenance(depth, tmp_path):
    found = export(depth, tmp_path, venue="icml")
    assert [name.rsplit("/")[-1] for name in found.figures["sigma_depth"]] == [
        "sigma_depth.pdf",
        "sigma_depth.csv",
        "sigma_depth.txt",
        "sigma_depth.provenance.json",
    ]
    about = json.loads((tmp_path / "sigma_depth.provenance.json").read_text())
    assert about["inputs"] == [{"name": "two", "kind": "scales", "sha256": "0" * 64}]
    assert about["seed"] == 0
    assert about["command"] == "dcnbio figures"
    assert about["settings"]["venue"] == {"value": "icml", "from": "command line"}
    assert about["settings"]["formats"] == {"value": ["pdf"], "from": "default"}
    assert about["columns"]["sigma_pixels"]["units"] == "pixels"
    assert {"matplotlib", "pandas", "pillow"} <= set(about["drawn_with"])
    assert about["page"]["width_inches"] == 3.25
    table = read_table(tmp_path / "sigma_depth.csv")
    np.testing.assert_array_equal(table["depth"], [1, 2, 3, 4, 1, 2, 3, 4, 5, 6])
    assert "n = 2" in (tmp_path / "sigma_depth.txt").read_text()


def test_nothing_is_replaced_unasked_and_nothing_is_half_written(depth, tmp_path):
    (tmp_path / "sigma_depth.csv").write_text("mine")
    with pytest.raises(InputError, match=r"holds sigma_depth\.csv already, and 1 of the files in all; choose another"):
        export(depth, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["sigma_depth.csv"]
    settings = settle_settings({"dpi": [300]}, {})
    export_figures([depth], tmp_path, settings, only=["sigma_depth"], overwrite=True)
    assert (tmp_path / "sigma_depth.csv").read_text() != "mine"
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".part"]


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_drawn(depth, tmp_path, monkeypatch):
    monkeypatch.setattr("dcnbio.figures.export.run.rendered", None)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match=r"file is no folder that you may write in; choose another place"):
        export(depth, tmp_path / "file" / "below")
    (tmp_path / "sigma_depth.txt").mkdir()
    with pytest.raises(InputError, match=r"in which sigma_depth\.txt is a folder; choose another place"):
        export_figures([depth], tmp_path, settle_settings({}, {}), only=["sigma_depth"], overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "sigma_depth.txt"]


def test_two_results_of_one_kind_get_their_names(depth, scales, tmp_path):
    other = Source("scales", scales, "three", "1" * 64)
    found = export_figures([depth, other], tmp_path, settle_settings({"formats": ["svg"]}, {}), only=["sigma_depth"])
    assert list(found.figures) == ["sigma_depth-two", "sigma_depth-three"]


def test_one_result_given_twice_is_drawn_once(depth, tmp_path):
    found = export_figures([depth, depth], tmp_path, settle_settings({"formats": ["svg"]}, {}), only=["sigma_depth"])
    assert list(found.figures) == ["sigma_depth"]


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (["a/run.nc", "b/run.nc"], ["a-run", "b-run"]),
        (["a/x/run.nc", "b/x/run.nc"], ["a-x-run", "b-x-run"]),
        (["run.zarr", "run.nc"], ["run-zarr", "run-nc"]),
        (["Run.nc", "run.nc"], ["Run-1", "run-2"]),
        (["one.nc", "a/run.nc", "b/run.nc"], ["one", "a-run", "b-run"]),
        (["a/run.nc", "b/run.nc", "a-run.nc"], ["run-1", "run-2", "a-run-3"]),
    ],
)
def test_results_of_one_name_are_told_apart(scales, tmp_path, paths, labels):
    settings = settle_settings({"formats": ["svg"]}, {})
    sources = [
        Source("scales", scales, path.rsplit("/")[-1].rsplit(".")[0], str(number), str(tmp_path / path))
        for number, path in enumerate(paths)
    ]
    plans, _ = plan_figures(sources, ["sigma_depth"])
    assert [plan.name for plan in plans] == [f"sigma_depth-{label}" for label in labels]
    files = [file.casefold() for plan in plans for file in all_names(plan.name, settings)]
    assert len(set(files)) == len(files)


def test_results_of_one_name_that_show_nothing_each_say_why(scales, depth):
    shared = scales.copy()
    del shared["network1"]
    broken = [Source("scales", shared, "two", str(number), f"{folder}/two.nc") for number, folder in enumerate("ab")]
    plans, left_out = plan_figures([*broken, depth], ["sigma_distributions"])
    assert len(plans) == 1
    assert len(left_out) == 2
    assert all("has one scale per layer" in str(why) for why in left_out.values())


def test_a_figure_that_was_asked_for_and_cannot_be_drawn_is_named(depth):
    plans, left_out = plan_figures([depth], ["sigma_depth", "feature_maps", "contrast_surface"])
    assert [plan.name for plan in plans] == ["sigma_depth"]
    assert {name: str(why) for name, why in left_out.items()} == {
        "feature_maps": "it is drawn of a recording of dcnbio probe, and none is given.",
        "contrast_surface": "it is drawn of a result of dcnbio analyze contrast --out, and none is given.",
    }


def test_a_result_that_lacks_a_variable_costs_no_other_its_figures(scales, depth):
    damaged = xr.DataTree.from_dict({"/": xr.Dataset(attrs=scales.attrs), "/network0": xr.Dataset()})
    plans, left_out = plan_figures([depth, Source("scales", damaged, "old", "1" * 64)], ["sigma_depth"])
    assert [plan.name for plan in plans] == ["sigma_depth-two"]
    assert "does not hold what sigma_depth shows" in str(left_out["sigma_depth-old"])


def test_what_a_result_does_not_support_is_left_out_with_the_reason(scales, tmp_path):
    shared = scales.copy()
    del shared["network1"]
    source = Source("scales", shared, "one", "")
    found = export_figures([source], tmp_path, settle_settings({"formats": ["svg"]}, {}))
    assert list(found.figures) == ["sigma_depth"]
    assert "has one scale per layer" in found.left_out["sigma_distributions"]
    with pytest.raises(InputError, match=r"there is nothing to draw of one: .* has one scale per layer"):
        export_figures([source], tmp_path, settle_settings({}, {}), only=["sigma_distributions"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"venue": "nips"}, r"venue \(--venue\) is 'nips'; known are screen"),
        ({"formats": ["jpg"]}, r"formats \(--formats\) names 'jpg'"),
        ({"formats": []}, "name at least one format, each once"),
        ({"dpi": [10]}, r"dpi \(--dpi\) is \[10\]; give whole numbers from 50 to 2400"),
    ],
)
def test_settings_that_are_not_allowed_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        settle_settings(given, {})


def test_latex_is_refused_where_it_is_not_installed(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(InputError, match="latex is not installed; install LaTeX or leave it out"):
        settle_settings({"latex": True}, {})
