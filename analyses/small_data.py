"""Table 2: accuracy after training on few images per class, by the paper's recipe, paired across networks.

    python analyses/small_data.py --images train.tar.xz                        8 and 16 images per class, five seeds
    python analyses/small_data.py --images train.tar.xz --per-class 52 --models dcn-ode ode-net
    python analyses/small_data.py --table                                      what the runs so far say
    python analyses/small_data.py --recipe public-code --per-class 16 --images ...  the rest of an epoch kept as a batch
    python analyses/small_data.py --recipe ten-times --models resnet-blocks --images ...   ten times the epochs

The paper's recipe to the letter: 100 epochs, dopri5 at 1e-3, adjoint gradients, one batch where there are under 128
images. A seed draws the same images for every network, and the same initial values for the same row, so differences
are paired by seed. Every finished run is a line of results/small_data.csv and is not run again; a run that was
interrupted goes on where it was, and one that had finished without its line gets it. Accuracy: all test images, dopri5
at 1e-3, after the last epoch; final_loss is the training loss of the last epoch.

Two other readings, whose runs are kept apart in files of their own. The paper's text drops the partial batch at the
end of an epoch, and the public code keeps it (--recipe public-code): 16 images per class are 100 steps or 200; sets of
under 128 images are one batch in both. And the text names 10 times the epochs for 520 images and nothing for fewer;
--recipe ten-times takes 1,000 epochs whatever the number of images, steps at 400 and 700.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
from pathlib import Path

from csv_rows import read_rows
from script import end_in_words
from small_data_readings import OTHER_READINGS, recipe_of_reading, runs_of_reading
from small_data_tables import table
from tqdm import tqdm

from dcnbio.training import RunOptions, read_recipe, train, with_settings
from dcnbio.training.atomic_file import replace_file
from dcnbio.training.file_lock import FileLock
from dcnbio.training.images import TrainingImages, read_training_images
from dcnbio.training.recipe import Recipe
from dcnbio.training.run_folder import RunFolder

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "small_data.csv"
COLUMNS = ["model", "per_class", "seed", "test_accuracy", "test_n", "failed", "passes", "minutes", "final_loss"]
MODELS = ["dcn-ode", "ode-net", "resnet-blocks", "ode-net-celu-t2"]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", help="CIFAR-10's training set; the test set is looked for beside it")
    parser.add_argument("--per-class", type=int, nargs="+", default=[8, 16])
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--runs", type=Path, help="folder of the runs [default: runs/ and the name of the results]")
    parser.add_argument("--recipe", choices=["paper", *OTHER_READINGS], default="paper", help="reading of the recipe")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--table", action="store_true", help="print the table of the runs so far, and end")
    return parser.parse_args()


def finished(results: Path | None = None) -> list[dict[str, str]]:
    """Read the runs so far."""
    path = results or RESULTS
    return read_rows(path) if path.exists() else []


def note(line: dict[str, object], results: Path | None = None) -> None:
    """Add a run; the table is replaced as a whole, so that a kill or a full disk leaves the one from before.

    Commands that run side by side wait for one another: each adds to what the other wrote.
    """
    path = results or RESULTS
    path.parent.mkdir(exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock"), wait=True):
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*finished(path), line])
        replace_file(path, text.getvalue().encode())
        path.chmod(0o644)


def recipe_of(model: str, per_class: int, seed: int, path: Path) -> Recipe:
    """Give the recipe of one run."""
    return with_settings(read_recipe(path), [f"model={model}", f"per_class={per_class}", f"seed={seed}"])


def final_loss(folder: Path) -> float | str:
    """Read the training loss of the last epoch; empty if no row of the run tells it."""
    path = RunFolder(folder).metrics
    if not path.exists():
        return ""
    losses = [row["loss"] for row in read_rows(path) if row.get("loss")]
    return round(float(losses[-1]), 5) if losses else ""


def one_run(recipe: Recipe, images: TrainingImages, folder: Path, device: str) -> dict[str, object]:
    """Train once, going on with what is there."""
    resume = RunFolder(folder).record.exists()
    run = RunOptions(folder, device, resume=resume, save_minutes=2.0, command="analyses/small_data.py")
    found = train(recipe, images, run)
    if found is None:
        raise SystemExit("stopped; the same command goes on")
    return {
        "model": recipe.model,
        "per_class": recipe.data.per_class,
        "seed": recipe.seed,
        "test_accuracy": found["test_accuracy"],
        "test_n": found["test_n"],
        "failed": found["test_failed"],
        "passes": found["passes"],
        "minutes": round(found["minutes"], 2),
        # of the file, since a run that goes on after its last epoch shows no epoch any more
        "final_loss": final_loss(folder),
    }


def main() -> None:
    chosen = options()
    path, results = recipe_of_reading(chosen.recipe), runs_of_reading(chosen.recipe, RESULTS)
    folder = chosen.runs or Path("runs") / results.stem
    if chosen.table:
        print(table(finished(results)))
        return
    if not chosen.images:
        raise SystemExit("name CIFAR-10's training set with --images")
    done = {(line["model"], int(line["per_class"]), int(line["seed"])) for line in finished(results)}
    # seeds first: every network has one run before any has two
    wanted = [(m, n, s) for n, s, m in itertools.product(chosen.per_class, chosen.seeds, chosen.models)]
    images = read_training_images(chosen.images)
    for model, count, seed in tqdm([key for key in wanted if key not in done], unit="run", desc="table 2"):
        recipe = recipe_of(model, count, seed, path)
        note(one_run(recipe, images, folder / f"{model}-{count}-{seed}", chosen.device), results)
    print(table(finished(results)))


if __name__ == "__main__":
    end_in_words(main)
