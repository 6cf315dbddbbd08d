"""The recipes say what the paper says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcnbio.errors import InputError
from dcnbio.training import Data, Optimisation, Phase, Recipe, read_recipe, with_settings
from dcnbio.training.augmentation import augmented, draw_moves
from dcnbio.training.recipe import recipe_from_dict
from dcnbio.training.recipe_differences import differences
from dcnbio.training.schedule import Plan, learning_rate, make_plan, phase_at, phase_solver
from dcnbio.training.subsets import split_images

RECIPES = Path(__file__).parents[2] / "analyses" / "recipes"
LABELS = np.arange(50_000) % 10


def test_the_papers_recipe_has_the_papers_numbers():
    recipe = read_recipe(RECIPES / "paper.toml")
    chosen = recipe.optimisation
    assert (chosen.momentum, chosen.batch_size, chosen.learning_rate) == (0.9, 128, 0.1)
    assert (chosen.epochs, chosen.milestones, chosen.factor) == (100, (40, 70), 0.1)
    assert (chosen.weight_decay, chosen.nesterov, chosen.label_smoothing) == (0, False, 0)
    assert (recipe.data.translate, recipe.data.flip, recipe.data.held_out) == (4, True, 0)
    (phase,) = recipe.phases
    assert (phase.method, phase.rtol, phase.atol, phase.gradient) == ("dopri5", 1e-3, 1e-3, "adjoint")


def test_the_papers_recipe_is_the_default():
    assert read_recipe(RECIPES / "paper.toml") == Recipe()


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_recipe_can_be_read_and_written(path):
    recipe = read_recipe(path)
    assert recipe_from_dict(recipe.to_dict()) == recipe
    assert recipe_from_dict(differences(recipe)) == recipe


@pytest.mark.parametrize(
    ("images", "epochs", "first", "second"),
    [(520, 1000, 400, 700), (1030, 500, 200, 350), (5120, 200, 80, 140), (160, 100, 40, 70), (50_000, 100, 40, 70)],
)
def test_small_data_is_trained_on_longer_as_in_the_paper(images, epochs, first, second):
    chosen = Optimisation()
    plan = make_plan(images, chosen)
    assert plan.total_steps == epochs * (images // 128)
    rates = [
        learning_rate(epoch * plan.steps_per_epoch, plan, chosen) for epoch in (first - 1, first, second - 1, second)
    ]
    np.testing.assert_allclose(rates, [0.1, 0.01, 0.01, 0.001], rtol=1e-12)


@pytest.mark.parametrize(("images", "batch", "steps"), [(20, 20, 1), (127, 127, 1), (128, 128, 1), (300, 128, 2)])
def test_partial_batches_are_dropped_and_small_sets_are_one_batch(images, batch, steps):
    plan = make_plan(images, Optimisation())
    assert (plan.batch_size, plan.steps_per_epoch) == (batch, steps)


def test_one_cycle_rises_and_falls_to_nothing():
    chosen = Optimisation(schedule="one-cycle", learning_rate=0.2, warm_up=0.25)
    plan = Plan(1, 100, 1000)
    rates = np.array([learning_rate(step, plan, chosen) for step in range(1000)])
    assert rates.argmax() == 250
    assert rates.max() == pytest.approx(0.2)
    assert (np.diff(rates[:250]) > 0).all()
    assert (np.diff(rates[250:]) < 0).all()
    assert rates[-1] < 1e-5


def test_passes_are_the_length_where_they_are_given():
    assert make_plan(1000, Optimisation(passes=1280)).total_steps == 10


def test_phases_follow_each_other():
    phases = (Phase(until=0.25, method="midpoint", steps=1, gradient="exact"), Phase(until=0.5), Phase())
    plan = Plan(1, 10, 100)
    assert [phase_at(step, plan, phases) for step in (0, 24, 25, 49, 50, 99)] == [0, 0, 1, 1, 2, 2]


def test_jitter_keeps_the_number_of_steps():
    phase = Phase(method="midpoint", steps=3, jitter=0.9, gradient="exact")
    sizes = [phase_solver(phase, 2.0, np.random.default_rng(seed)).step_size for seed in range(50)]
    assert len(set(sizes)) == 50
    assert all(2 < 2.0 / size <= 3 for size in sizes)
    assert phase_solver(phase, 2.0).step_size == pytest.approx(2 / 3)


def test_subsets_hold_equal_numbers_of_each_class_once():
    kept, held = split_images(LABELS, Data(per_class=52, held_out=2000), seed=1)
    assert np.bincount(LABELS[kept]).tolist() == [52] * 10
    assert np.bincount(LABELS[held]).tolist() == [200] * 10
    assert len(np.unique(kept)) == 520
    assert not np.intersect1d(kept, held).size


def test_subsets_differ_by_seed_and_held_out_images_do_not():
    one, other = (split_images(LABELS, Data(per_class=8, held_out=100), seed=seed) for seed in (1, 2))
    assert not np.array_equal(one[0], other[0])
    assert np.array_equal(one[1], other[1])
    fixed = [split_images(LABELS, Data(per_class=8, subset_seed=5), seed=seed)[0] for seed in (1, 2)]
    assert np.array_equal(*fixed)


def test_looks_at_held_out_images_see_every_class():
    held = split_images(LABELS, Data(held_out=2000), seed=0)[1]
    assert np.bincount(LABELS[held[:1000]]).min() > 60


def test_more_images_than_there_are_is_refused():
    with pytest.raises(InputError, match="6000 images of class 0 are asked for, but there are 5000"):
        split_images(LABELS, Data(per_class=6000), seed=0)


def test_translations_cover_four_pixels_evenly_and_half_are_mirrored():
    down, right, mirrored = draw_moves(20_000, 4, True, np.random.default_rng(0))
    for shift in (down, right):
        assert np.bincount(shift + 4).tolist() == pytest.approx([20_000 / 9] * 9, rel=0.1)
    assert mirrored.mean() == pytest.approx(0.5, abs=0.02)
    assert not draw_moves(50, 4, False, np.random.default_rng(0))[2].any()


def test_a_share_of_images_stays_where_it_is_and_the_others_move_as_without():
    all_moving = draw_moves(20_000, 4, True, np.random.default_rng(0))
    down, right, mirrored = draw_moves(20_000, 4, True, np.random.default_rng(0), still=0.25)
    stayed = (down != all_moving[0]) | (right != all_moving[1])
    assert not down[stayed].any()
    assert not right[stayed].any()
    assert stayed.mean() == pytest.approx(0.25 * 80 / 81, abs=0.01)
    assert np.array_equal(mirrored, all_moving[2])


def test_an_image_is_moved_by_as_many_pixels_as_drawn():
    images = np.random.default_rng(0).integers(1, 256, (3, 3, 8, 8), dtype=np.uint8)
    moves = (np.array([2, 0, -1]), np.array([0, -3, 0]), np.array([False, False, True]))
    moved = augmented(images, moves)
    assert np.array_equal(moved[0, :, 2:], images[0, :, :-2])
    assert not moved[0, :, :2].any()
    assert np.array_equal(moved[1, :, :, :-3], images[1, :, :, 3:])
    assert not moved[1, :, :, -3:].any()
    assert np.array_equal(moved[2, :, :-1], images[2, :, 1:, ::-1])


def test_a_mirrored_border_has_nothing_black_and_the_rest_of_the_image_is_as_with_a_black_one():
    images = np.random.default_rng(0).integers(1, 256, (4, 3, 8, 8), dtype=np.uint8)
    moves = (np.array([3, 0, -2, 4]), np.array([0, -3, 1, 4]), np.array([False, False, True, True]))
    black, mirrored = augmented(images, moves), augmented(images, moves, "mirror")
    assert (mirrored > 0).all()
    assert np.array_equal(mirrored[black > 0], black[black > 0])
    assert np.array_equal(mirrored[0, :, 2], images[0, :, 1])  # a row above the first is the one below it
    with pytest.raises(InputError, match="border is 'grey'"):
        Data(border="grey")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("learning_rat=1", "a recipe has no setting 'learning_rat'"),
        ("data.held=1", "data has no setting held; known are"),
        ("batch_size=0", "batch_size is 0; allowed are whole numbers from 1 on"),
        ("schedule=cosine", "schedule is 'cosine'; allowed are steps, one-cycle"),
        ("momentum=fast", "momentum is 'fast'"),
        ("seed", "setting 'seed' has no value"),
        ("task=reconstruction", "reconstruction needs a trained network"),
        ("phases=[{until=0.5}]", "the last must be 1"),
        ('phases=[{method="rk4"}]', "steps is None with rk4"),
        ("phases=[{steps=2}]", "steps is 2 with dopri5"),
        ('phases=[{convolutions="bfloat16"}]', "convolutions is 'bfloat16' with dopri5"),
        ('phases=[{method="euler", steps=1, convolutions="half"}]', "convolutions is 'half'; allowed are float32, bfl"),
    ],
)
def test_settings_that_make_no_sense_are_refused(setting, message):
    with pytest.raises(InputError, match=message):
        with_settings(Recipe(), [setting])


def test_settings_take_the_place_of_a_files():
    recipe = with_settings(
        read_recipe(RECIPES / "budget.toml"), ["model=ode-net", "data.held_out=10", "clip_norm=none"]
    )
    assert (recipe.model, recipe.data.held_out, recipe.guards.clip_norm) == ("ode-net", 10, None)
    assert recipe.phases[0].method == "midpoint"


def test_a_recipe_that_is_no_toml_is_refused(tmp_path):
    (tmp_path / "bad.toml").write_text("a = [")
    with pytest.raises(InputError, match="is no TOML"):
        read_recipe(tmp_path / "bad.toml")
    with pytest.raises(
        InputError, match=r"absent\.toml': there is no such file, and the shipped ones are budget, .*paper"
    ):
        read_recipe(tmp_path / "absent.toml")
    with pytest.raises(InputError, match="cannot be read"):
        read_recipe(tmp_path)


@pytest.mark.parametrize(
    ("images", "batch", "steps", "rest"), [(20, 20, 1, 0), (127, 127, 1, 0), (128, 128, 1, 0), (160, 128, 2, 32)]
)
def test_the_public_code_keeps_the_rest_of_an_epoch(images, batch, steps, rest):
    """The public code's loader at 81cd9b6 has drop_last=False: 16 images per class are 200 steps of 100 epochs."""
    chosen = read_recipe(RECIPES / "public_code_small_data.toml").optimisation
    plan = make_plan(images, chosen)
    assert (plan.batch_size, plan.steps_per_epoch, plan.rest) == (batch, steps, rest)
    assert plan.total_steps == 100 * steps
    assert plan.passes(plan.total_steps) == 100 * images
    milestone = plan.steps_per_epoch * 40
    assert learning_rate(milestone - 1, plan, chosen) == pytest.approx(0.1)
    assert learning_rate(milestone, plan, chosen) == pytest.approx(0.01)


def test_the_two_recipes_of_small_data_differ_in_the_rest_alone():
    code, paper = (read_recipe(RECIPES / f"{name}_small_data.toml").to_dict() for name in ("public_code", "paper"))
    paper["optimisation"]["keep_partial_batch"] = True
    assert {**code, "name": ""} == {**paper, "name": ""}


def test_ten_times_the_epochs_differ_from_the_papers_recipe_in_the_schedule_alone():
    longer, paper = (read_recipe(RECIPES / f"{name}_small_data.toml").to_dict() for name in ("ten_times", "paper"))
    for name in ("epochs", "milestones", "small_data_factors"):
        paper["optimisation"][name] = longer["optimisation"][name]
    assert {**longer, "name": ""} == {**paper, "name": ""}


@pytest.mark.parametrize(("images", "steps_per_epoch"), [(80, 1), (160, 1), (320, 2), (520, 4), (640, 5)])
def test_ten_times_the_epochs_is_what_the_paper_says_of_520_images(images, steps_per_epoch):
    chosen = read_recipe(RECIPES / "ten_times_small_data.toml").optimisation
    plan = make_plan(images, chosen)
    assert (plan.factor, plan.steps_per_epoch, plan.total_steps) == (1, steps_per_epoch, 1000 * steps_per_epoch)
    papers, steps = make_plan(520, Optimisation()), range(0, 4000, 100)
    rates = [learning_rate(step * steps_per_epoch // 4, plan, chosen) for step in steps]
    assert rates == [learning_rate(step, papers, Optimisation()) for step in steps]


@given(images=st.integers(1, 40), batch=st.integers(1, 12), passes=st.none() | st.integers(1, 200), keep=st.booleans())
def test_a_plan_counts_every_image_that_passes(images, batch, passes, keep):
    plan = make_plan(images, Optimisation(batch_size=batch, passes=passes, epochs=3, keep_partial_batch=keep))
    sizes = [plan.images_in(step) for step in range(plan.total_steps)]
    assert all(1 <= size <= min(batch, images) for size in sizes)
    assert [plan.passes(step) for step in range(plan.total_steps)] == [sum(sizes[:step]) for step in range(len(sizes))]
    if keep:
        assert plan.passes(plan.steps_per_epoch) == images
    if passes is not None:
        assert passes - min(batch, images) < plan.passes(plan.total_steps) <= max(passes, sizes[0])
