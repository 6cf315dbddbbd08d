"""A run has one length: two on one line are refused, and one on the line stands in place of the recipe file's."""

from __future__ import annotations

import pytest

from dcnbio.commands.app import run
from dcnbio.commands.train import What

TWICE = {
    "--epochs 5 and --minutes 1": ["--epochs", "5", "--minutes", "1"],
    "--epochs 5 and --passes 256": ["--epochs", "5", "--passes", "256"],
    "--passes 256 and --minutes 0.5": ["--minutes", "0.5", "--passes", "256"],
    "--set epochs=5 and --set passes=256": ["--set", "epochs=5", "--set", "optimisation.passes = 256"],
    "--minutes 1 and --set epochs=5": ["--minutes", "1", "--set", "epochs=5"],
    "--epochs 5 and --set epochs=6": ["--epochs", "5", "--set", "epochs=6"],
}


@pytest.mark.parametrize("named", TWICE)
def test_two_lengths_are_refused(named, tmp_path, capsys):
    assert run(["train", "--images", "no-such.npz", "--out", str(tmp_path / "run"), *TWICE[named]]) == 2
    assert f"{named} are given, and a run has one length; leave all but one out." in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("given", "epochs", "passes"),
    [
        (What(epochs=7), 7, None),
        (What(set=["optimisation.epochs=7"]), 7, None),
        (What(epochs=7, set=["passes=none"]), 7, None),
        (What(passes=256), 3, 256),
        (What(set=["passes=128", "passes=256"]), 3, 256),
        (What(seed=1), 3, 5000),
    ],
)
def test_a_length_of_the_line_stands_in_place_of_the_recipes(given, epochs, passes, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("optimisation.epochs = 3\noptimisation.passes = 5000\n")
    chosen = What(**{**vars(given), "recipe": file}).chosen().optimisation
    assert (chosen.epochs, chosen.passes) == (epochs, passes)
