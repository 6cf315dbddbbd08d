"""No setting of a recipe, whatever it is set to, ends as a fault of dcnbio: it trains, or is refused in a sentence."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import torch

from dcnbio.errors import InputError
from dcnbio.model.spec import NetworkSpec
from dcnbio.training import Recipe, RunOptions, train, with_settings
from dcnbio.training.images import TrainingImages
from dcnbio.training.recipe import SECTIONS
from dcnbio.training.recipe_parts import Guards, Optimisation, Phase

VALUES = ["nan", "inf", "-inf", "-1", "1e400", "true", "none", "[]", "{}", "'x'", "1.5", "9" * 23, "9" * 400]
VALUES += ["2024-01-01", "[nan]", "''", "0", "1", "[[1]]", "x", "{1=2}", "{x=1}", "[1, true]"]
NAMES = [item.name for item in fields(Recipe) if item.name not in SECTIONS]
NAMES += [f"{section}.{item.name}" for section, kind in SECTIONS.items() for item in fields(kind)]
NAMES += [f"network.{item.name}" for item in fields(NetworkSpec)]
PHASE = [f"phases=[{{{item.name}=%s}}]" for item in fields(Phase)]
SMALL = ["network.widths=[4]", "network.norm_groups=4", "network.integration_time=0.1", "batch_size=10", "epochs=1"]
SMALL += ['phases=[{gradient="exact"}]']


@pytest.fixture
def _one_update(monkeypatch):
    """Replace the steps by one update without a gradient, in which optimiser, schedule and guards have their say."""
    import dcnbio.training.run as run_module
    from dcnbio.training.schedule import phase_solver

    def update(self) -> bool:
        for parameter in self.trainer.parameters:
            parameter.grad = torch.zeros_like(parameter)
        self.trainer.update(0, 1)
        phase_solver(self.trainer.recipe.phases[self.phase()], 0.1, np.random.default_rng(0))
        self.save()
        return False

    monkeypatch.setattr(run_module.Run, "go", update)


def images(small) -> TrainingImages:
    return TrainingImages(small.coloured(40), None, "made", {"train": "a"})


def ended(small, out: Path, setting: str) -> int:
    """Train with a setting; give the exit status that the command would have."""
    from dcnbio.errors import DcnbioError

    try:
        train(with_settings(Recipe(), [*SMALL, setting]), images(small), RunOptions(out, overwrite=True))
    except DcnbioError as error:
        return error.exit_status
    return 0


@pytest.mark.usefixtures("_one_update")
@pytest.mark.parametrize("name", [*NAMES, *PHASE])
def test_every_setting_is_taken_or_refused_whatever_its_value(small, tmp_path, name):
    settings = [name % value if "%" in name else f"{name}={value}" for value in VALUES]
    found = {setting: ended(small, tmp_path / "run", setting) for setting in settings}
    assert set(found.values()) <= {0, 2, 3}
    assert 2 in found.values()


@pytest.mark.parametrize("name", [item.name for item in fields(Guards)])
@pytest.mark.parametrize("value", [math.inf, math.nan, 10**400])
def test_guards_are_finite_and_none_is_no_limit(name, value):
    with pytest.raises(InputError, match=rf"{name} is .*, inf not among them, and none where there is to be no limit"):
        Guards(**{name: value})
    assert getattr(Guards(**{name: None}), name) is None


def test_a_ceiling_of_no_pixels_is_refused():
    with pytest.raises(InputError, match="sigma_ceiling is 0; allowed are numbers above 0, inf not among them"):
        Guards(sigma_ceiling=0)


def test_nesterov_needs_a_momentum():
    with pytest.raises(InputError, match="nesterov is true and momentum is 0"):
        Optimisation(nesterov=True, momentum=0)
    assert Optimisation(nesterov=True).nesterov


@pytest.mark.parametrize("name", ["row", "vector_field"])
def test_what_is_set_elsewhere_is_no_setting_of_a_recipes_network(name):
    with pytest.raises(InputError, match=f"network.{name} is 'x', and is no setting of a recipe"):
        with_settings(Recipe(), [f"network.{name}=x"])


def test_refused_settings_leave_a_finished_run_as_it_is(small, tmp_path):
    train(with_settings(Recipe(), [*SMALL, "batch_size=40"]), images(small), RunOptions(tmp_path))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for setting in ("network.classes=true", "network.classes=2", "sigma_ceiling=0", "model=1", "weight_decay=inf"):
        assert ended(small, tmp_path, setting) == 2
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
