"""A run that goes wrong ends with a sentence that says where, and keeps what was saved before."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from dcnbio.errors import SolverError
from dcnbio.model.adjoint import BackwardSolve
from dcnbio.training import RunOptions, train
from dcnbio.training.atomic_file import SaveError, replace_file
from dcnbio.training.divergence import DivergenceError
from dcnbio.training.recipe_parts import Phase


def test_a_full_disk_ends_the_run_and_keeps_the_last_save(small, start_run, uninterrupted, tmp_path):
    before = """
    import resource, signal
    import dcnbio.training.run as run
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    save = run.Run.save
    def full_after_eight(self):
        if self.progress.step >= 8:
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
        save(self)
    run.Run.save = full_after_eight
    """
    process = start_run(tmp_path, before)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "SaveError" in error
    assert "cannot be written (File too large); what was saved before is kept" in error
    assert small.progress(tmp_path)["step"] == 7
    assert not list(tmp_path.glob(".state*"))
    train(None, small.images(), RunOptions(tmp_path, resume=True))
    whole, parts = (load_file(folder / "checkpoint.safetensors") for folder in (uninterrupted, tmp_path))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_scales_that_run_away_end_the_run_naming_layer_and_epoch(small, tmp_path):
    made = small.recipe("epochs=3", "guards.sigma_most=1.0", "initial_sigma=constant", "learning_rate=0.5")
    with pytest.raises(DivergenceError, match=r"diverged in epoch 1: sigma of blocks\.\d\.field\.conv\d is .* pixels"):
        train(made, small.images(), RunOptions(tmp_path))


def test_a_loss_that_explodes_ends_the_run_and_the_last_save_is_kept(small, tmp_path, monkeypatch):
    import dcnbio.training.step as step_module

    monkeypatch.setattr(step_module, "learning_rate", lambda step, plan, chosen: 1e30 if step == 5 else 0.01)
    made = small.recipe("epochs=4", "sigma_most=1e30", "sigma_least=0")
    with pytest.raises(DivergenceError, match=r"diverged in epoch 2: .*(block|readout|gradient|sigma of)"):
        train(made, small.images(), RunOptions(tmp_path, save_minutes=0.0))
    assert small.progress(tmp_path)["step"] == 5
    state = load_file(tmp_path / "state.safetensors")
    assert all(float(value.abs().max()) < 100 for value in state.values())


def test_an_adjoint_that_cannot_be_solved_ends_a_run_in_a_sentence_with_block_and_epoch(small, tmp_path, monkeypatch):
    solved = BackwardSolve.check

    def limited(self, s, ds, attempts):
        if self.layout.maps[1] == 4:  # the first block's channels; the second, gone back over before it, is solved
            raise SolverError("the adjoint equation could not be solved back past t = 1.5.")
        solved(self, s, ds, attempts)

    monkeypatch.setattr(BackwardSolve, "check", limited)
    made = small.recipe("epochs=1", "network.widths=[4, 8]", "network.norm_groups=4")
    said = r"epoch 1: in block 1, the adjoint .* past t = 1\.5; try a lower .* sigma_ceiling\. Nothing was saved yet\.$"
    with pytest.raises(DivergenceError, match=said):
        train(replace(made, phases=(Phase(gradient="adjoint"),)), small.images(), RunOptions(tmp_path))


def test_saving_where_nothing_can_be_written_says_so(tmp_path):
    with pytest.raises(SaveError, match="cannot be written"):
        replace_file(tmp_path / "absent" / "file", b"")
