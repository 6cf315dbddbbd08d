"""A fraction where a number of things is needed is refused in one sentence that names it: nothing is cut or rounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dcnbio
from dcnbio.analysis.completion import analyze_completion
from dcnbio.analysis.contrast import analyze_contrast
from dcnbio.analysis.scales import analyze_scales
from dcnbio.analysis.statistics.cluster_bootstrap import two_way_bootstrap
from dcnbio.analysis.statistics.moment_statistic import mean_statistic
from dcnbio.errors import InputError
from dcnbio.images import Box, mask_images
from dcnbio.model.decoder import build_decoder
from dcnbio.model.interventions import silence_orders
from dcnbio.probe.completion import CompletionSettings
from dcnbio.probe.contrast import ContrastSettings
from dcnbio.probe.responses.fields import FieldSettings
from dcnbio.probe.responses.units import UnitSettings
from dcnbio.training import Data, Optimisation, Phase, Recipe, RunOptions, with_settings

IMAGES = np.random.default_rng(0).random((2, 3, 32, 32), dtype=np.float32)


@pytest.fixture(scope="module")
def net():
    return dcnbio.build("dcn-ode", widths=(4,), norm_groups=2, integration_time=0.1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("times", 2.5),
        ("blocks", 1.5),
        ("blocks", [1.0]),
        ("mask", 1.5),
        ("batch_size", 1.5),
        ("max_steps", 10.5),
        ("max_evaluations", 99.5),
        ("error_sample", 1.5),
        ("channels", [1.5]),
        ("window", (slice(1.5, 3), slice(1, 3))),
    ],
)
def test_settings_of_a_probe(net, name, value):
    with pytest.raises(InputError, match=f"{name} (is|has|takes) .*whole number"):
        dcnbio.probe(net, IMAGES, **{"times": 2, name: value})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda net: dcnbio.build("dcn-ode", seed=-1), "seed is -1: give a whole number"),
        (lambda net: dcnbio.build("dcn-ode", widths=(8.5, 16)), "widths are whole numbers"),
        (lambda net: build_decoder(net.spec, 1.5), "seed is 1.5: give a whole number"),
        (lambda net: dcnbio.Patch(1.0, 0.0, "ablate"), r"block of a patch is 1\.0: give a whole number"),
        (lambda net: dcnbio.SolverSettings(max_steps=1.5), "max_steps is 1.5: give a whole number"),
        (lambda net: silence_orders(net, [0, 1.5]), "an order is 1.5: give a whole number"),
        (lambda net: mask_images(IMAGES, Box(1.5, 2, 3, 4)), "give whole numbers of pixels"),
    ],
)
def test_networks_and_images(net, make, message):
    with pytest.raises(InputError, match=message):
        make(net)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((CompletionSettings, name) for name in ("main", "times", "batch_size", "mechanism", "seed")),
        *((ContrastSettings, name) for name in ("few", "precise", "batch_size")),
        *((UnitSettings, name) for name in ("times", "batch_size")),
        (FieldSettings, "block"),
    ],
)
def test_settings_of_experiments(kind, name):
    with pytest.raises(InputError, match=f"{name} is 2.5: give a whole number"):
        kind(**{name: 2.5})


@pytest.mark.parametrize(("kind", "name"), [(UnitSettings, "blocks"), (FieldSettings, "channels")])
def test_lists_of_experiments(kind, name):
    with pytest.raises(InputError, match=f"{name[:-1]} is 1.5: give a whole number"):
        kind(**{name: (1.5,)})


@pytest.mark.parametrize("seed", [1.5, -1, None, True])
def test_seeds_of_analyses(seed):
    for analysis in (analyze_completion, analyze_contrast, analyze_scales):
        with pytest.raises(InputError, match=f"seed is {seed}: give a whole number of at least 0"):
            analysis({"mine": None}, seed=seed)


def test_resamples():
    statistic = mean_statistic(np.ones((3, 4)))
    with pytest.raises(InputError, match=r"resamples is 99\.5: give a whole number"):
        two_way_bootstrap(statistic, np.random.default_rng(0), resamples=99.5)


@pytest.mark.parametrize("value", [1.5, True, "one", None])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Recipe, "seed"),
        *((Data, name) for name in ("held_out", "held_out_seed", "look", "translate")),
        *((Optimisation, name) for name in ("epochs", "batch_size")),
    ],
)
def test_recipes(kind, name, value):
    with pytest.raises(InputError, match=f"{name} is {value!r}; allowed are whole numbers from"):
        kind(**{name: value})


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Data(per_class=1.5), "per_class"),
        (lambda: Data(subset_seed=1.5), "subset_seed"),
        (lambda: Optimisation(passes=1.5), "passes"),
        (lambda: Optimisation(milestones=[1.5]), "milestones"),
        (lambda: Phase(method="rk4", steps=1.5), "steps"),
        (lambda: RunOptions(Path("run"), scales_every=1.5), "scales_every"),
        (lambda: with_settings(Recipe(), ["seed=1.5"]), "seed"),
        (lambda: with_settings(Recipe(), ["data.held_out=1.5"]), "held_out"),
    ],
)
def test_recipes_parts(make, name):
    with pytest.raises(InputError, match=rf"{name} is 1\.5; allowed are whole numbers from"):
        make()


@pytest.mark.parametrize("name", ["learning_rate", "momentum", "factor"])
@pytest.mark.parametrize("value", [None, True])
def test_no_number_is_none_or_true_where_one_is_needed(name, value):
    with pytest.raises(InputError, match=f"{name} is {value}; allowed are numbers from"):
        Optimisation(**{name: value})
