"""Accuracy against contrast from recordings without maps: the script, its resuming, the command, refusals."""

import json

import half_a_point
import numpy as np
import pytest
import xarray as xr

import dcnbio
from dcnbio.analysis.contrast import contrast_of_recordings
from dcnbio.analysis.statistics.paired_difference import paired_difference
from dcnbio.commands.app import run
from dcnbio.errors import InputError


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    net = dcnbio.build("dcn-ode", widths=(4, 4), norm_groups=4, integration_time=0.5)
    return dcnbio.save(net, tmp_path_factory.mktemp("net") / "small.safetensors")


@pytest.fixture(scope="module")
def done(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("half")
    arguments = [str(small), "--limit", "20", "--contrasts", "0.2", "--folder", str(folder / "runs")]
    arguments += ["--out", str(folder / "half.json")]
    half_a_point.main(arguments)
    return folder, arguments


def recorded(folder, name):
    return dcnbio.open(folder / "runs" / f"small-{name}.zarr")


def test_the_script_compares_the_same_images(done, small):
    folder, _ = done
    found = json.loads((folder / "half.json").read_text())
    assert [(line["contrast"], line["protocol"], line["n"]) for line in found["recordings"]] == [
        (1, "reference", 20),
        (0.2, "T fixed", 20),
        (0.2, "T-hat", 20),
    ]
    trees = [recorded(folder, name) for name in ("1", "0.2-scaled")]
    right = [tree["logits"].values.argmax(1) == tree["label"].values for tree in trees]
    expected = paired_difference(right[1], right[0])
    claim = next(claim for claim in found["claims"] if claim["name"].endswith("minus 1, T-hat"))
    assert (claim["n"], claim["unit"]) == (20, "images")
    assert claim["estimate"] == expected.value
    assert claim["interval"] == pytest.approx(expected.interval.to_list())
    assert "cannot tell whether that is under half a point" in claim["conclusion"]
    assert claim["control"]["name"] == "with T fixed"
    assert "h" not in trees[0]["block1"]


def test_work_that_grows_is_not_said_to_be_saved(done):
    found = json.loads((done[0] / "half.json").read_text())
    work = [claim for claim in found["claims"] if "evaluations of block 1" in claim["name"]]
    assert {claim["name"].split(", ")[-1] for claim in work} == {"T fixed", "T-hat"}
    for claim in work:
        meaning = "a looser tolerance may save as many" if claim["estimate"] < 0 else "nothing is saved"
        assert claim["conclusion"].endswith(f"at contrast 1; {meaning}.")
    assert min(claim["estimate"] for claim in work) < 0 <= max(claim["estimate"] for claim in work)


def test_the_recordings_are_those_of_a_plain_run_with_another_time(done, small):
    net = dcnbio.load(small)
    images = dcnbio.load_images(limit=20)
    shorter = dcnbio.build("dcn-ode", widths=(4, 4), norm_groups=4, integration_time=(0.1, 0.5))
    shorter.load_state_dict(net.state_dict())
    tree = dcnbio.probe(shorter, images, times=2, contrast=0.2)
    assert recorded(done[0], "0.2-scaled")["logits"].values == pytest.approx(tree["logits"].values, abs=1e-6)


def test_what_was_recorded_is_not_recorded_again(done, capsys):
    with pytest.raises(InputError, match=r"half.json exists already; choose another name or pass --overwrite"):
        half_a_point.main(done[1])
    before = {path: path.stat().st_mtime_ns for path in (done[0] / "runs").rglob("*") if path.is_file()}
    assert before
    half_a_point.main([*done[1], "--overwrite"])
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_recordings_of_other_images_or_weights_are_not_taken_for_these(done, small, capsys):
    one = half_a_point.passes([str(small)], [0.2])[0]
    with pytest.raises(SystemExit, match="2"):
        half_a_point.record(one, ["--limit", "10"], done[0] / "runs")
    assert "cannot be resumed: images_id was" in capsys.readouterr().err


def test_a_stopped_pass_is_gone_on_with(small, monkeypatch, tmp_path):
    ran = []
    monkeypatch.setattr(half_a_point, "state_of", lambda path: "unfinished")
    monkeypatch.setattr(half_a_point, "run", lambda arguments: ran.append(arguments) or 0)
    one = half_a_point.passes([str(small)], [0.06])[2]
    half_a_point.record(one, ["--limit", "all"], tmp_path)
    assert ran[0][-1] == "--resume"
    assert ran[0][ran[0].index("--integration-time") :][:2] == ["--integration-time", "1:0.03"]
    monkeypatch.setattr(half_a_point, "run", lambda arguments: 130)
    with pytest.raises(SystemExit, match="130"):
        half_a_point.record(one, [], tmp_path)


def test_the_command_compares_recordings(done, capsys):
    names = ",".join(str(done[0] / "runs" / f"small-{name}.zarr") for name in ("1", "0.2-fixed", "0.2-scaled"))
    assert run(["analyze", "contrast", "--recordings", names]) == 0
    out = capsys.readouterr().out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert out.count("Conclusion: ") == 1
    assert run(["analyze", "contrast", "--recordings", names, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["claims"]) == 4
    evaluations = next(claim for claim in found["claims"] if "evaluations" in claim["name"])
    assert evaluations["n"] == 20


def test_half_a_point_can_be_told_from_ten_thousand_images(done):
    trees = [recorded(done[0], name).load() for name in ("1", "0.2-fixed", "0.2-scaled")]
    many = [tree.isel(stimulus=np.resize(np.arange(20), 10_000)) for tree in trees]
    rng = np.random.default_rng(0)
    label = many[0]["label"].values
    logits = np.eye(10)[np.where(rng.random(10_000) < 0.8, label, (label + 1) % 10)]
    few = rng.random(10_000) < 0.004  # 0.4 % of answers change, either way
    for tree, changed in zip(many, (np.zeros_like(few), np.ones_like(few), few), strict=True):
        values = np.where(changed[:, None], np.roll(logits, 1, axis=1), logits)
        tree["logits"] = xr.DataArray(values, dims=("stimulus", "class"))
    found = contrast_of_recordings(many)
    said = {claim.name.split(", ")[-1]: claim.conclusion for claim in found.claims if "accuracy" in claim.name}
    assert "less than half a point either way" in said["T-hat"]
    assert "more than half a point" in said["T fixed"]


def test_an_image_that_was_not_solved_is_wrong(done):
    trees = [recorded(done[0], name).load() for name in ("1", "0.2-fixed")]
    trees[1]["logits"][:] = np.nan
    found = contrast_of_recordings(trees)
    assert found.table[1]["accuracy"] == 0
    assert found.claims[0].control.name == "with T-hat: not recorded"
    assert "nan" not in found.conclusion


def test_what_cannot_be_compared_is_refused(done, small):
    one, fixed, scaled = (recorded(done[0], name) for name in ("1", "0.2-fixed", "0.2-scaled"))
    with pytest.raises(InputError, match="there are 0 recordings at contrast 1 and 2 at others"):
        contrast_of_recordings([fixed, scaled])
    with pytest.raises(InputError, match=r"two recordings of .* are at contrast 0.2 with T fixed"):
        contrast_of_recordings([one, fixed, fixed])
    with pytest.raises(InputError, match="recordings names none"):
        contrast_of_recordings([])
    net, images = dcnbio.load(small), dcnbio.load_images(limit=20)
    with pytest.raises(InputError, match="differ in solver"):
        contrast_of_recordings([one, dcnbio.probe(net, images, times=2, contrast=0.2, rtol=1e-2)])
    with pytest.raises(InputError, match="differ in images_id"):
        contrast_of_recordings([one, dcnbio.probe(net, dcnbio.load_images(limit=10), times=2, contrast=0.2)])
    other = dcnbio.build("dcn-ode", widths=(4, 4), norm_groups=4, integration_time=0.3)
    other.load_state_dict(net.state_dict())
    with pytest.raises(InputError, match=r"has the integration times \[0.3, 0.3\].*--integration-time 1:0.1"):
        contrast_of_recordings([one, dcnbio.probe(other, images, times=2, contrast=0.2)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--recordings", "a.zarr"], "name two or more, each once"),
        (["--recordings", "a.zarr,a.zarr"], "name two or more, each once"),
        (["dcn-ode", "--recordings", "a.zarr,b.zarr"], "takes no checkpoint"),
        (["--recordings", "a.zarr,b.zarr", "--out", "c.nc"], "leave out --out"),
        (["--recordings", "a.zarr,b.zarr"], "a.zarr"),
    ],
)
def test_the_command_refuses_in_one_line(arguments, message, capsys):
    assert run(["analyze", "contrast", *arguments]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert (out, len(err.strip().splitlines())) == ("", 1)
