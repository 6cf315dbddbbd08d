"""A line of table 2 is added as a whole, and a run that had finished without its line gets a full one."""

from __future__ import annotations

import csv
import multiprocessing
import sys
from pathlib import Path

import numpy as np
import pytest
import small_data
from scipy.stats import ttest_1samp
from small_data_readings import OTHER_READINGS, recipe_of_reading, runs_of_reading
from small_data_tables import table

from dcnbio.training import Recipe, RunOptions, train, with_settings
from dcnbio.training.atomic_file import SaveError
from dcnbio.training.images import LabelledImages, TrainingImages

TINY = [
    "network.widths=[4]",
    "network.norm_groups=4",
    "network.integration_time=0.1",
    "epochs=2",
    "batch_size=4",
    "translate=1",
    'phases=[{method="euler", steps=1, gradient="exact"}]',
]


def noise() -> TrainingImages:
    random = np.random.default_rng(0).integers(0, 256, (12, 3, 12, 12), dtype=np.uint8)
    trained_on, test = LabelledImages(random[:8], np.arange(8) % 2), LabelledImages(random[8:], np.arange(4) % 2)
    return TrainingImages(trained_on, test, "noise", {"train": "none", "test": "none"})


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "results" / "small_data.csv"
    monkeypatch.setattr(small_data, "RESULTS", path)
    return path


def line(seed: int) -> dict[str, object]:
    return {**dict.fromkeys(small_data.COLUMNS, 1), "model": "dcn-ode", "seed": seed}


def test_lines_are_added_below_those_that_are_there(results):
    small_data.note(line(0))
    small_data.note(line(1))
    assert [run["seed"] for run in small_data.finished()] == ["0", "1"]
    assert results.read_text().count("model") == 1
    assert [path.name for path in results.parent.iterdir()] == ["small_data.csv"]


def note_many(path: Path, model: str) -> None:
    for seed in range(25):
        small_data.note({**line(seed), "model": model}, path)


def test_commands_that_note_side_by_side_lose_no_line(results):
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    processes = [context.Process(target=note_many, args=(results, model)) for model in ("a", "b")]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert sorted((run["model"], int(run["seed"])) for run in small_data.finished()) == [
        (model, seed) for model in "ab" for seed in range(25)
    ]
    assert [path.name for path in results.parent.iterdir()] == ["small_data.csv"]


def test_a_full_disk_leaves_the_table_as_it_was(results, monkeypatch):
    small_data.note(line(0))
    before = results.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dcnbio.training.atomic_file.os.fsync", full)
    with pytest.raises(SaveError, match="No space left on device"):
        small_data.note(line(1))
    assert results.read_bytes() == before
    assert [path.name for path in results.parent.iterdir()] == ["small_data.csv"]


def test_a_run_that_finished_before_its_line_was_written_gets_the_loss_of_its_last_epoch(tmp_path):
    recipe, out = with_settings(Recipe(), TINY), tmp_path / "run"
    first = small_data.one_run(recipe, noise(), out, "cpu")
    with open(out / "metrics.csv", newline="") as file:
        assert first["final_loss"] == round(float(list(csv.DictReader(file))[-1]["loss"]), 5)
    assert small_data.one_run(recipe, noise(), out, "cpu") == first


def test_a_run_that_is_stopped_after_its_last_epoch_gets_it_too(tmp_path, monkeypatch):
    import dcnbio.training.whole_run as whole_run

    recipe, out = with_settings(Recipe(), TINY), tmp_path / "run"

    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(whole_run, "final_figures", stop)
        with pytest.raises(KeyboardInterrupt):
            train(recipe, noise(), RunOptions(out))
    found = small_data.one_run(recipe, noise(), out, "cpu")
    assert found["passes"] == 16
    assert found["final_loss"] == small_data.final_loss(out) > 0


def test_a_folder_without_metrics_has_no_loss(tmp_path):
    assert small_data.final_loss(tmp_path) == ""


@pytest.mark.parametrize("reading", OTHER_READINGS)
def test_runs_by_another_reading_of_the_recipe_are_kept_apart(results, reading):
    other = runs_of_reading(reading, results)
    assert other.parent == results.parent
    small_data.note(line(0))
    small_data.note(line(7), other)
    assert [run["seed"] for run in small_data.finished()] == ["0"]
    assert [run["seed"] for run in small_data.finished(other)] == ["7"]
    assert runs_of_reading("paper", results) == results
    read, paper = (
        small_data.recipe_of("dcn-ode", 16, 3, path).to_dict() for path in map(recipe_of_reading, (reading, "paper"))
    )
    assert read["data"] == paper["data"]
    assert read["optimisation"] != paper["optimisation"]


def test_the_table_pairs_networks_by_seed_and_says_how_far_they_were_trained():
    dcn, resnet = {0: 0.25, 1: 0.21, 3: 0.22}, {0: 0.20, 1: 0.22, 2: 0.9, 3: 0.18}
    ode_net = {3: 0.17, 0: 0.19, 2: 0.16}
    runs = [
        {"model": model, "per_class": "8", "seed": str(seed), "test_accuracy": str(value), "final_loss": str(1 + seed)}
        for model, by_seed in (("dcn-ode", dcn), ("ode-net", ode_net), ("resnet-blocks", resnet))
        for seed, value in by_seed.items()
    ]
    *_, first, second, third = (line.strip("| ").split(" | ") for line in table(runs).splitlines())
    assert first[1:3] == ["dcn-ode", "0, 1, 3"]
    assert first[4:] == ["25.0, 21.0, 22.0", "-", difference(dcn, ode_net), "1 to 4"]
    assert second[5:7] == [difference(dcn, ode_net), "-"]
    assert third[2] == "0, 1, 2, 3"
    assert third[5:] == [difference(dcn, resnet), difference(resnet, ode_net), "1 to 4"]


def difference(one: dict[int, float], other: dict[int, float]) -> str:
    pairs = 100 * np.array([one[seed] - other[seed] for seed in one.keys() & other.keys()])
    low, high = ttest_1samp(pairs, 0).confidence_interval(0.95)
    return f"{pairs.mean():+.1f} ({low:+.1f} to {high:+.1f})"


def test_one_run_has_no_interval_and_a_loss_that_is_not_known_none():
    run = {"model": "dcn-ode", "per_class": "8", "seed": "0", "test_accuracy": "0.2", "final_loss": ""}
    assert table([run]).splitlines()[-1].endswith("| 20.0 (one value has no spread) | 20.0 | - | - | - |")
