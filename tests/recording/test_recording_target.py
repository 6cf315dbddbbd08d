from __future__ import annotations

import os

import pytest
import xarray as xr

from dcnbio.errors import RecordingError
from dcnbio.recording import RecordingWriter, assemble, check_target, open_recording, write_netcdf


def tree_of(path):
    return {p.relative_to(path): p.read_bytes() for p in path.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("only", "message"),
    [
        (None, r"holds a recording \(complete\); replace it with --overwrite, or choose another name"),
        ([0], r"holds a recording \(unfinished\); go on with --resume or replace it with --overwrite"),
    ],
)
def test_a_recording_is_not_overwritten_unasked(run, write, tmp_path, only, message):
    path = tmp_path / "run.zarr"
    write(path, run.layout(), only=only)
    before = tree_of(path)
    with pytest.raises(RecordingError, match=message):
        RecordingWriter(path, run.layout(), run.PROVENANCE)
    with pytest.raises(RecordingError, match=message):
        check_target(path)
    assert tree_of(path) == before


def test_the_old_recording_stays_until_the_first_new_batch(run, write, tmp_path):
    path = tmp_path / "run.zarr"
    write(path, run.layout())
    before = tree_of(path)
    plan = run.layout(n=3)
    with RecordingWriter(path, plan, {"seed": 1}, overwrite=True) as writer:
        assert tree_of(path) == before
        with pytest.raises(RecordingError, match="logits has shape"):
            writer.write(run.batch(run.layout(), 0))
        assert tree_of(path) == before
        writer.write(run.batch(plan, 0))
        writer.finish()
    assert open_recording(path).sizes["stimulus"] == 3
    assert [p.name for p in tmp_path.iterdir()] == ["run.zarr"]


def test_an_old_store_comes_back_when_the_new_one_cannot_take_its_place(run, write, tmp_path, monkeypatch):
    path = tmp_path / "run.zarr"
    write(path, run.layout())
    before = tree_of(path)
    rename = os.rename

    def refusing(source, target):
        if str(source).endswith(".new"):
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refusing)
    with (
        RecordingWriter(path, run.layout(), run.PROVENANCE, overwrite=True) as writer,
        pytest.raises(RecordingError, match=r"run.zarr cannot be written: No space left on device; 0 of 10 images"),
    ):
        writer.write(run.batch(run.layout(), 0))
    assert tree_of(path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.zarr"]


def test_what_dcnbio_did_not_write_is_never_removed(run, write, tmp_path):
    folder, text, other, mixed = (tmp_path / name for name in ("folder", "text.zarr", "other.zarr", "mixed.zarr"))
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    text.write_text("notes")
    xr.Dataset({"a": ("x", [1.0])}).to_zarr(other, zarr_format=3, consolidated=False)
    write(mixed, run.layout())
    (mixed / "notes.txt").write_text("which image was odd")
    for path, message in [
        (folder, "no recording of dcnbio's, so it is left alone"),
        (text, "no recording of dcnbio's, so it is left alone"),
        (other, "no recording of dcnbio's, so it is left alone"),
        (mixed, "holds notes.txt, which dcnbio did not write"),
    ]:
        before = path.read_bytes() if path.is_file() else tree_of(path)
        for options in ({"overwrite": True}, {}):
            if path is mixed and not options:
                continue
            with pytest.raises(RecordingError, match=message):
                RecordingWriter(path, run.layout(), run.PROVENANCE, **options)
        assert (path.read_bytes() if path.is_file() else tree_of(path)) == before


def test_something_that_came_meanwhile_is_not_replaced(run, write, tmp_path):
    path = tmp_path / "run.zarr"
    late = RecordingWriter(path, run.layout(), run.PROVENANCE)
    write(path, run.layout())
    with pytest.raises(RecordingError, match=r"holds a recording \(complete\)"):
        late.write(run.batch(run.layout(), 0))
    assert open_recording(path).attrs["complete"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["run.zarr"]


def test_resuming_a_store_that_another_process_has_just_started(run, write, tmp_path):
    path = tmp_path / "run.zarr"
    plan = run.layout()
    late = RecordingWriter(path, plan, run.PROVENANCE, resume=True)
    write(path, plan, only=[0])
    late.write(run.batch(plan, 1))
    late.write(run.batch(plan, 2))
    late.finish()
    xr.testing.assert_identical(open_recording(path).load(), assemble(plan, run.batches(plan), run.PROVENANCE))


def test_new_folders_and_empty_folders_are_fine(run, write, tmp_path):
    write(tmp_path / "a" / "b" / "run.zarr", run.layout())
    (tmp_path / "empty.zarr").mkdir()
    write(tmp_path / "empty.zarr", run.layout())
    assert open_recording(tmp_path / "a/b/run.zarr").identical(open_recording(tmp_path / "empty.zarr"))


def test_options_that_contradict_each_other_are_refused(run, tmp_path):
    with pytest.raises(RecordingError, match="overwrite and resume exclude each other"):
        check_target(tmp_path / "run.zarr", overwrite=True, resume=True)
    with pytest.raises(RecordingError, match=r"is netCDF, which cannot be resumed; record to a \.zarr store"):
        check_target(tmp_path / "run.nc", resume=True)
    with pytest.raises(RecordingError, match="names a netCDF file, which cannot be streamed"):
        RecordingWriter(tmp_path / "run.nc", run.layout(), run.PROVENANCE)


def test_a_store_takes_the_place_of_a_netcdf_recording_of_that_name(run, write, tmp_path):
    plan = run.layout()
    write_netcdf(assemble(plan, run.batches(plan), run.PROVENANCE), tmp_path / "run.nc")
    (tmp_path / "run.nc").rename(tmp_path / "run.zarr")
    write(tmp_path / "run.zarr", plan, overwrite=True)
    assert (tmp_path / "run.zarr").is_dir()
    assert open_recording(tmp_path / "run.zarr").attrs["complete"] == 1
