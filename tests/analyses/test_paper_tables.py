"""The tables beside the paper's: the committed ones are those the script makes; a run is judged as stated."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from csv_rows import read_rows
from papers_spread import judged, prediction_factor
from recipe_sections import recipe_cells, recipe_section
from small_data_tables import NOT_RUN, small_data_cells, small_data_runs

from dcnbio.model.checkpoint import Header, read_header
from dcnbio.model.loading import find_checkpoint
from dcnbio.model.rows import row_spec
from dcnbio.training import Recipe, with_settings
from dcnbio.training.papers_accuracy import PAPERS_ACCURACY
from dcnbio.training.recipe_differences import differences

ANALYSES = Path(__file__).parents[2] / "analyses"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ANALYSES / "paper_tables.py"))


def test_cards_hold_accuracies_against_the_same_numbers():
    rows = [row for row in read_rows(ANALYSES / "paper_values.csv") if row["condition"] == "full CIFAR-10"]
    papers = {row["model"]: float(row["mean"]) / 100 for row in reversed(rows) if row["table"] in "15"}
    assert papers == pytest.approx(PAPERS_ACCURACY)


def test_the_committed_tables_are_what_the_script_makes(script):
    found = small_data_runs(ANALYSES / "results" / "small_data.csv")
    tables = script["page"](script["shipped_networks"](), script["shipped_reconstructions"](), found)
    committed = (ANALYSES / "README.md").read_text(encoding="utf-8")
    assert script["into_readme"](committed, tables) == committed, "run python analyses/paper_tables.py --readme"


def test_the_prediction_interval_of_a_fourth_run_is_that_of_students_t():
    # t(2 degrees of freedom, 0.975) = 4.3027 from printed tables, times sqrt(4 / 3)
    assert prediction_factor(3) == pytest.approx(4.3027 * (4 / 3) ** 0.5, abs=1e-3)


@pytest.mark.parametrize(("value", "said"), [(89.5, "within"), (88.4, "below"), (90.6, "above")])
def test_a_single_run_is_judged_by_it(value, said):
    assert judged(value, {"mean": "89.5", "sd": "0.2", "n_runs": "3"}) == f"{said} 88.5 to 90.5"


@pytest.fixture(scope="module")
def full_row():
    rows = read_rows(ANALYSES / "paper_values.csv")
    return next(
        row for row in rows if (row["table"], row["model"]) == ("1", "dcn-ode") and row["metric"] != "trainable"
    )


def trained(script, recipe=None, spec=None, **metrics):
    """Give the shipped dcn-ode's header with other facts."""
    header = read_header(find_checkpoint("dcn-ode"))
    told = {**header.recipe, **(recipe or {})}
    return script["Trained"](
        "mine",
        Header(
            {**header.spec, **(spec or {})},
            {k: v for k, v in told.items() if v is not ...},
            {**header.metrics, **metrics},
        ),
    )


FEW = {"data": {"per_class": 16}}
OTHERS = {
    "few images per class": {"recipe": FEW},
    "few in an earlier part": {"recipe": {"begun_from": {"file": "a", "recipe": FEW}}},
    "other scales in an earlier part": {
        "recipe": {"begun_from": {"file": "a", "recipe": {"initial_sigma": "constant"}}}
    },
    "other scales": {"recipe": {"initial_sigma": "constant"}},
    "other images": {"recipe": {"images": {"train": "sha256:0", "test": "sha256:1"}}},
    "images that nobody told": {"recipe": {"images": ...}},
    "a part of the official test set": {"recipe": {"images_source": "CIFAR-10 python layout a, train"}, "test_n": 1000},
    "other widths": {"spec": {"widths": [64, 128, 256]}},
    "another order": {"spec": {"kernel_order": 4}},
    "another window": {"spec": {"window": 3.0}},
    "another T": {"spec": {"integration_time": [2.0, 2.0, 1.0]}},
    "another activation": {"spec": {"activation": "relu"}},
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_network_that_is_another_or_saw_other_images_is_not_listed_beside_the_papers(script, full_row, what):
    assert not script["matches"](trained(script, **OTHERS[what]), full_row)
    assert script["accuracy_cells"](full_row, [trained(script, **OTHERS[what])]) == [NOT_RUN]


def test_a_network_that_was_trained_on_all_images_is_listed(script, full_row):
    official = {"images": {"train": "sha256:0"}, "images_source": "CIFAR-10 python layout a.tar.gz, train"}
    assert script["matches"](trained(script), full_row)
    assert script["matches"](trained(script, official), full_row)


def decoder(script, row, **metrics):
    return script["Trained"]("back", Header(spec=row_spec(row).to_dict(), metrics={"passes": 5_000_000, **metrics}))


def test_table_three_has_the_rescaled_error_of_a_decoder_where_it_was_measured(script):
    papers = next(row for row in read_rows(ANALYSES / "paper_values.csv") if is_reconstruction(row, "dcn-ode"))
    measured = {"test_mse": 0.0123, "test_rescaled_mse": 0.0173, "test_n": 10_000, "test_batches": 100}
    decoders = [decoder(script, "ode-net", **measured), decoder(script, "dcn-ode", **measured)]
    ((ours, interval, verdict, *_),) = script["reconstruction_cells"](papers, decoders)
    assert ours == "17.3 (back)"
    assert interval == "none: the mean of 100 batches, each rescaled by its extremes (10,000 test images, one seed)"
    # the paper has 17.1 +- 0.3 of three runs, and 4.3027 sqrt(4 / 3) = 4.97
    assert verdict == "within 15.6 to 18.6, if its unit is 1,000 x MSE of the rescaled output"


def test_table_three_says_of_a_decoder_without_that_error_that_its_unit_is_another(script):
    papers = next(row for row in read_rows(ANALYSES / "paper_values.csv") if is_reconstruction(row, "dcn-ode"))
    ((ours, _, verdict, *_),) = script["reconstruction_cells"](papers, [decoder(script, "dcn-ode", test_mse=0.0123)])
    assert (ours, verdict) == ("12.3 (back)", "another unit: 1,000 x MSE of the output as it is")
    unsolved = decoder(script, "dcn-ode", test_n=4, test_failed=1)
    assert script["reconstruction_cells"](papers, [unsolved]) == [NOT_RUN]


def is_reconstruction(row, model):
    return (row["table"], row["model"]) == ("3", model)


def test_a_readme_without_marks_is_refused(script):
    with pytest.raises(SystemExit, match=r"README\.md lacks the mark"):
        script["into_readme"]("# Analyses\n", "")


def test_runs_by_the_public_code_stand_beside_those_by_the_papers_text(tmp_path):
    head = "model,per_class,seed,test_accuracy,test_n,failed,passes,minutes,final_loss\n"
    line = "ode-net,16,{},0.{},10000,0,16000,2,1.5\n"
    (tmp_path / "runs.csv").write_text(head + line.format(0, 20) + line.format(1, 22))
    (tmp_path / "runs_public_code.csv").write_text(head + line.format(0, 28) + line.format(1, 30))
    runs = small_data_runs(tmp_path / "runs.csv")
    row = {"model": "ode-net", "condition": "16 images per class", "mean": "28.0", "sd": "1.0", "n_runs": "3"}
    paper, code = small_data_cells(row, runs)
    assert (paper[0], code[0]) == ("21.0", "29.0")
    assert (paper[3], code[3]) == tuple(f"analyses/recipes/{n}_small_data.toml" for n in ("paper", "public_code"))
    assert "--recipe public-code" in code[4]
    assert "--recipe public-code" not in paper[4]
    assert small_data_cells({**row, "model": "dcn-ode"}, runs) == [NOT_RUN]


def test_every_part_of_a_training_is_told_with_its_recipe_command_and_cost():
    first = with_settings(Recipe(), ["passes=1000", "learning_rate=0.05", 'phases=[{gradient="exact"}]'])
    before = {"file": "a", "weights": "a", "passes": 1_000, "minutes": 4.0}
    begun = {"file": "b", "weights": "b", "passes": 500, "minutes": 2.0, "begun_from": before}
    begun |= {"recipe": differences(first), "command": "dcnbio train one"}
    last = with_settings(first, ["learning_rate=0.01", "seed=3"])
    recipe = {**last.to_dict(), "command": "dcnbio train two", "begun_from": begun}
    header = Header(spec=row_spec("dcn-ode").to_dict(), recipe=recipe, metrics={"passes": 250, "minutes": 1.0})
    passes = "1,750 image passes of 5,000,000 (0.0 %)"
    place = "#recipe-of-mine"
    assert recipe_cells("mine", header) == (f"{passes}, [settings]({place})", f"[3 commands]({place})", "7")
    assert recipe_section("mine", header) == [
        "",
        "### Recipe of mine",
        "",
        "1. not recorded",
        "",
        "2. optimisation.passes 1000; optimisation.learning_rate 0.05; phases dopri5 0.001 exact until 1",
        "",
        *("   ```bash", "   dcnbio train one", "   ```", ""),
        "3. as part 2 but for optimisation.learning_rate 0.01",
        "",
        *("   ```bash", "   dcnbio train two", "   ```"),
    ]


def test_a_training_in_one_part_is_told_without_a_number():
    recipe = {**Recipe().to_dict(), "command": "dcnbio train"}
    header = Header(spec={}, recipe=recipe, metrics={"passes": 5_000_000, "minutes": 1.0}, source={"kind": "decoder"})
    place = "#recipe-of-the-decoder-of-mine"
    assert recipe_cells("mine", header) == (f"[settings]({place})", f"[command]({place})", "1")
    title = ["", "### Recipe of the decoder of mine", ""]
    assert recipe_section("mine", header) == [*title, "the paper's", "", "```bash", "dcnbio train", "```"]


def test_a_training_by_other_code_is_told_as_far_as_it_is_recorded():
    header = Header(spec={}, recipe={"parts": [{"solver": "midpoint", "image_passes": 250_000}], "gradient": "exact"})
    assert recipe_cells("theirs", header)[::2] == (
        "250,000 image passes of 5,000,000 (5.0 %), [settings](#recipe-of-theirs)",
        "not recorded",
    )
    assert recipe_section("theirs", header)[3:] == ["midpoint; gradient exact"]


def test_every_link_to_a_recipe_has_its_section():
    text = (ANALYSES / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\(#(recipe-of-[a-z0-9-]+)\)", text))
    titles = {line.lstrip("# ").lower().replace(" ", "-") for line in text.splitlines() if line.startswith("#")}
    assert len(linked) >= 5
    assert linked <= titles
