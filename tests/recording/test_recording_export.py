"""Exports, read back by the programs they are for: equal values, nothing replaced unasked, bins that integrate."""

import csv

import numpy as np
import pytest
import scipy.io
import xarray as xr

import dcnbio
from dcnbio.commands.app import run as command
from dcnbio.recording import assemble
from dcnbio.recording.export import chosen_variable, export_variable, presentation_assembly


@pytest.fixture
def tree(run):
    plan = run.layout(n=4, batch_size=2)
    return assemble(plan, run.batches(plan, failed=(2,)), run.PROVENANCE)


def test_each_form_gives_the_values_back(tree, tmp_path):
    h = chosen_variable(tree, "block1/h", channels=[3, 1])
    expected = tree["block1"]["h"].values[:, :, [3, 1]]
    np.testing.assert_array_equal(np.load(export_variable(h, tmp_path / "h.npy")), expected)
    mat = scipy.io.loadmat(export_variable(h, tmp_path / "h.mat"))
    np.testing.assert_array_equal(mat["h"], expected)
    np.testing.assert_array_equal(mat["coord_stimulus"].ravel(), tree["stimulus"].values)
    assert [str(one[0]) for one in mat["dims"].ravel()] == ["stimulus", "time", "channel", "y", "x"]
    with open(export_variable(h, tmp_path / "h.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == expected.size
    np.testing.assert_array_equal(np.array([r["h"] for r in rows], "float32").reshape(expected.shape), expected)
    last = rows[-1]
    assert (int(last["stimulus"]), float(last["time"]), int(last["channel"])) == (int(tree["stimulus"][-1]), 2.0, 1)
    assert last["file"] == str(tree["file"].values[-1])


@pytest.mark.parametrize(
    "variable",
    ["logits", "block2/h_norm", "block1/nfe", "block1/reason", "block1/step_time", "file", "class", "block1/time"],
)
@pytest.mark.parametrize("form", ["npy", "mat", "csv"])
def test_every_variable_has_every_form(tree, tmp_path, variable, form):
    path = export_variable(chosen_variable(tree, variable), tmp_path / f"a.{form}")
    expected = tree[variable].values
    if form == "npy":
        np.testing.assert_array_equal(
            np.load(path, allow_pickle=False), expected.astype(str) if expected.dtype == object else expected
        )
    elif form == "mat":
        assert scipy.io.loadmat(path)[tree[variable].name].size == expected.size
    else:
        assert len(path.read_text(encoding="utf-8").splitlines()) == expected.size + 1


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def accepted(run):
    """A recording at the accepted steps of each image, of which the first takes fewer than the second."""
    times = np.array([[0, 0.5, 2, np.nan], [0, 0.1, 0.7, 2]])
    block = xr.Dataset(
        {"h": (("stimulus", "time", "channel"), np.arange(8.0).reshape(2, 4, 1))},
        {"recorded_time": (("stimulus", "time"), times), "channel": [5], "unit": ("channel", ["V1"])},
    )
    root = xr.Dataset(coords={"stimulus": [4, 9], "label": ("stimulus", [1, 2]), "batch": 7})
    return xr.DataTree.from_dict({"/": root, "/block1": block})


def test_a_table_of_accepted_steps_has_their_times(accepted, tmp_path):
    rows = rows_of(export_variable(chosen_variable(accepted, "block1/h"), tmp_path / "h.csv"))
    names = ["stimulus", "time_index", "channel", "recorded_time", "unit", "label", "batch", "h"]
    assert sorted(rows[0]) == sorted(names)
    expected = [
        [str(stimulus), str(step), "5", str(time).replace("nan", "NaN"), "V1", str(label), "7", str(4.0 * i + step)]
        for i, (stimulus, label) in enumerate([(4, 1), (9, 2)])
        for step, time in enumerate(accepted["block1/recorded_time"].values[i])
    ]
    assert [[row[name] for name in names] for row in rows] == expected


def test_the_times_of_accepted_steps_are_a_table_of_their_own(accepted, tmp_path):
    rows = rows_of(export_variable(chosen_variable(accepted, "block1/recorded_time"), tmp_path / "t.csv"))
    assert [row["recorded_time"] for row in rows] == ["0.0", "0.5", "2.0", "NaN", "0.0", "0.1", "0.7", "2.0"]
    assert [row["time_index"] for row in rows] == list("01230123")
    labels = rows_of(export_variable(chosen_variable(accepted, "label"), tmp_path / "l.csv"))
    assert [(row["stimulus"], row["label"]) for row in labels] == [("4", "1"), ("9", "2")]
    own = rows_of(export_variable(chosen_variable(accepted, "stimulus"), tmp_path / "s.csv"))
    assert [(row["stimulus_index"], row["stimulus"]) for row in own] == [("0", "4"), ("1", "9")]


def test_nothing_is_replaced_unasked_and_other_names_are_refused(tree, tmp_path):
    nfe = chosen_variable(tree, "block1/nfe")
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(dcnbio.DcnbioError, match="exists already"):
        export_variable(nfe, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "mine"
    export_variable(nfe, tmp_path / "a.csv", overwrite=True)
    with pytest.raises(dcnbio.DcnbioError, match=r"end the name in one of them"):
        export_variable(nfe, tmp_path / "a.xlsx")
    with pytest.raises(dcnbio.DcnbioError, match="this recording has logits, block1/"):
        chosen_variable(tree, "block1/f")
    with pytest.raises(dcnbio.DcnbioError, match="has channels 0 to 3"):
        chosen_variable(tree, "block1/h", channels=[9])
    with pytest.raises(dcnbio.DcnbioError, match="has no channels"):
        chosen_variable(tree, "block1/nfe", channels=[0])
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


def test_bins_hold_the_mean_of_a_trajectory_that_is_known():
    times = np.linspace(0, 2, 5)
    slope = np.arange(12.0).reshape(2, 1, 3, 1, 2)
    h = xr.DataArray(slope * times.reshape(1, -1, 1, 1, 1) + 1, dims=("stimulus", "time", "channel", "y", "x"))
    block = h.assign_coords(stimulus=[4, 9], time=times, channel=[0, 5, 7], y=[3], x=[1, 2]).to_dataset(name="h")
    tree = xr.DataTree.from_dict({"/block1": block})
    edges = [0.0, 30.0, 35.0, 100.0]
    found = presentation_assembly(tree, "block1", milliseconds_per_unit=50.0, bins=edges)
    assert found.dims == ("presentation", "neuroid", "time_bin")
    middle = (np.array(edges[1:]) + np.array(edges[:-1])) / 2 / 50
    expected = slope.reshape(2, 6, 1) * middle + 1
    np.testing.assert_allclose(found.values, expected, rtol=1e-6)
    assert found["stimulus_id"].values.tolist() == ["4", "9"]
    unit = found.isel(neuroid=3)
    assert (str(unit["neuroid_id"].values), int(unit["channel"]), int(unit["x"])) == ("block1.5.3.2", 5, 2)
    assert found["time_bin_end"].values.tolist() == edges[1:]
    with pytest.raises(dcnbio.DcnbioError, match="from 0 to 100 ms"):
        presentation_assembly(tree, "block1", milliseconds_per_unit=50.0, bins=[0, 101])


def test_the_command_exports_and_refuses(run, write, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = run.layout(n=4, batch_size=2)
    write(tmp_path / "run.zarr", plan)
    assert command(["export", "run.zarr", "h.npy"]) == 0
    said = capfd.readouterr().out
    assert said.index("about") < said.index("file")
    np.testing.assert_array_equal(np.load("h.npy"), dcnbio.open("run.zarr")["block1"]["h"].values)
    binned = ["--assembly", "a.nc", "--milliseconds-per-unit", "50", "--bins", "0,50,100"]
    assert command(["export", "run.zarr", *binned, "--channels", "0,2"]) == 0
    with xr.open_dataset("a.nc", engine="h5netcdf") as found:
        assert dict(found["response"].sizes) == {"presentation": 4, "neuroid": 60, "time_bin": 2}
    capfd.readouterr()
    for arguments, message in (
        (["export", "run.zarr", "h.npy"], "exists already"),
        (["export", "run.zarr"], "give the file to write"),
        (["export", "run.zarr", "b.csv", "--bins", "0,1"], "belong together"),
        (["export", "run.zarr", "b.csv", "--variable", "block9/h"], "this recording has"),
        (["export", "run.zarr", "--variable", "block1/nfe", *binned, "--overwrite"], "takes the h of a block"),
    ):
        assert command(arguments) == 2
        assert message in capfd.readouterr().err
