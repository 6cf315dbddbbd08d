"""No run removes what it needs, or what another one finished: it is refused, and every file stays as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dcnbio.commands.app import run

PARTS = ["network.widths=[4, 4, 8]", "network.norm_groups=4", "network.integration_time=0.1", "batch_size=4"]
EULER = 'phases=[{method="euler", steps=1, gradient="exact"}]'
SHORT = [part for setting in (EULER, "epochs=2", "batch_size=4") for part in ("--set", setting)]
SMALL = [part for setting in PARTS for part in ("--set", setting)]
COMMAND = ["train", "--images", "set.npz", *SHORT, "--out", "run"]


@pytest.fixture(autouse=True)
def _finished(tmp_path, monkeypatch, capfd):
    """A run that is finished."""
    monkeypatch.chdir(tmp_path)
    images = np.random.default_rng(0).integers(0, 256, (8, 3, 32, 32), dtype=np.uint8)
    np.savez("set.npz", images=images, labels=np.arange(8) % 2)
    assert run([*COMMAND, *SMALL]) == 0
    capfd.readouterr()


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def refused(capfd, *arguments: str) -> str:
    before = contents()
    assert run([*arguments]) == 2
    assert contents() == before
    return capfd.readouterr().err


@pytest.mark.parametrize("name", ["run/checkpoint.safetensors", "run", "link.safetensors"])
@pytest.mark.parametrize("needs", ["start", "encoder"])
def test_overwriting_does_not_remove_the_network_that_the_run_needs(capfd, name, needs):
    Path("link.safetensors").symlink_to("run/checkpoint.safetensors")
    decoder = ["--set", "task=reconstruction", "--set", f"encoder={name}"]
    how = ["--start", name, *SMALL] if needs == "start" else decoder
    said = refused(capfd, *COMMAND, "--overwrite", *how)
    assert "would remove run/checkpoint.safetensors, which the new run begins with or decodes" in said
    # elsewhere it may be begun
    assert run([*COMMAND[:-1], "other", *how]) == 0


def test_a_finished_run_whose_checkpoint_was_moved_is_not_begun_anew(capfd):
    Path("run/checkpoint.safetensors").rename("kept.safetensors")
    said = refused(capfd, "train", "--images", "set.npz", "--out", "run", "--resume")
    assert "checkpoint.safetensors is no longer there; put it back, or begin anew" in said
    assert run([*COMMAND, *SMALL, "--overwrite"]) == 0


def test_a_run_whose_state_was_removed_is_not_begun_anew(capfd, monkeypatch):
    import dcnbio.training.whole_run as whole_run

    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(whole_run, "final_figures", stop)
        assert run([*COMMAND, *SMALL, "--overwrite"]) == 130
    Path("run/state.safetensors").rename("kept.safetensors")
    said = refused(capfd, "train", "--images", "set.npz", "--out", "run", "--resume")
    assert "state.safetensors is no longer there" in said
    Path("kept.safetensors").rename("run/state.safetensors")
    assert run(["train", "--images", "set.npz", "--out", "run", "--resume"]) == 0
