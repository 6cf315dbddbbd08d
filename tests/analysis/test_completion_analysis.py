"""The completion analysis on made data sets with known answers."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dcnbio.analysis.completion import analyze_completion
from dcnbio.analysis.completion.claims import fall_in_words
from dcnbio.analysis.completion.index import completion_index, index_difference
from dcnbio.analysis.completion.paper_measure import difference_curves, difference_fall
from dcnbio.analysis.completion.readout import accuracy_drop, correct, retrieval, solution_times
from dcnbio.analysis.completion.resampling import Resampler
from dcnbio.analysis.completion.verdict import block_verdict
from dcnbio.analysis.result_file import open_result, write_result
from dcnbio.errors import InputError

FEW = Resampler(0, 199)
MASK = ["mask 14"]
NAMES = ("intact", "mask 14", "white noise", "equal spectrum")


def experiment(
    end: dict[str, float], n: int = 40, seed: int = 0, rank: dict[str, tuple[int, int]] | None = None
) -> xr.Dataset:
    """Make an experiment of one block and two times: own distances at T are `end` times those at 0."""
    rng = np.random.default_rng(seed)
    start, between = rng.lognormal(0, 0.2, n), np.stack([rng.normal(2, 0.1, n), rng.normal(6, 0.3, n)], 1)
    distance, nearer = np.zeros((4, 1, 1, n, 2)), np.zeros((4, 1, n, 2))
    for place, name in enumerate(NAMES[1:], 1):
        # three times as far apart at T, and own distances with them but for `end`
        distance[place, 0, 0] = np.stack([start, 3 * end.get(name, 1.0) * start], 1)
        nearer[place, 0] = np.array((rank or {}).get(name, (0, 0))) * (rng.random(n) < 0.5)[:, None]
    logits = rng.normal(size=(4, n, 2, 5))
    return xr.Dataset(
        {
            "distance": (("condition", "block", "region", "stimulus", "time"), distance),
            "between": (("condition", "block", "region", "stimulus", "time"), np.tile(between, (4, 1, 1, 1, 1))),
            "difference": (("condition", "block", "stimulus", "time"), distance[:, :, 0]),
            "amplitude": (("condition", "block", "stimulus", "time"), np.tile(between, (4, 1, 1, 1))),
            "nearer": (("condition", "block", "stimulus", "time"), nearer),
            "logits": (("condition", "stimulus", "time", "class"), logits),
            "label": ("stimulus", logits[0, :, -1].argmax(1)),
            "positions": (("condition", "block", "region"), np.ones((4, 1, 1), dtype=int)),
            "solver_time": (("block", "time"), [[0.0, 2.0]]),
            "alignment": ("time", [0.5, 1.0]),
            "solved": (("condition", "stimulus"), np.ones((4, n), dtype=np.int8)),
        },
        {
            "condition": list(NAMES),
            "block": [1],
            "region": ["whole"],
            "stimulus": np.arange(n),
            "fraction": ("time", [0.0, 1.0]),
            "kind": ("condition", ["intact", "mask", "white noise", "equal spectrum"]),
            "side": ("condition", [0, 14, 14, 14]),
            "fill": ("condition", ["", "zeros", "noise", "noise"]),
            "reference": ("condition", ["intact"] * 4),
        },
        {"main": 14, "row": "dcn-ode", "left_out": 0},
    )


def test_the_index_is_what_the_distances_were_made_with() -> None:
    data = experiment({"mask 14": 0.4})
    ratio = float(data["between"][0, 0, 0, :, 1].sum() / data["between"][0, 0, 0, :, 0].sum())
    found = completion_index(data, MASK, 1, FEW)
    assert found.value == pytest.approx(1 - 0.4 * 3 / ratio)
    assert found.value in found.interval
    assert (found.n, found.excluded) == (40, 0)
    assert abs(completion_index(data, ["white noise"], 1, FEW).value) < 0.02


def test_images_under_the_floor_are_left_out_and_counted() -> None:
    data = experiment({"mask 14": 0.4})
    data["distance"].loc[{"condition": "mask 14", "stimulus": slice(0, 4), "time": 0}] = 1e-6
    found = completion_index(data, MASK, 1, FEW)
    assert (found.n, found.excluded) == (35, 5)


def test_a_difference_is_of_the_images_that_count_under_both_conditions() -> None:
    data = experiment({"mask 14": 0.4})
    # a tenth of the images, far from all others, does not count under the noise
    data["between"].loc[{"stimulus": slice(0, 3)}] *= np.array([1, 20])
    data["distance"].loc[{"condition": "white noise", "stimulus": slice(0, 3)}] = 1e-6
    found = index_difference(data, MASK, ["white noise"], 1, FEW)
    assert found.excluded == 4
    kept = data.isel(block=0, region=0, stimulus=slice(4, None))
    rho = kept["distance"].sum("stimulus") / kept["between"].sum("stimulus")
    index = 1 - rho.isel(time=1) / rho.isel(time=0)
    assert found.value == pytest.approx(float(index.sel(condition="mask 14") - index.sel(condition="white noise")))


def test_images_that_were_not_solved_are_left_out() -> None:
    data = experiment({"mask 14": 0.4})
    data["solved"].loc[{"condition": "mask 14", "stimulus": 7}] = 0
    data["distance"].loc[{"condition": "mask 14", "stimulus": 7}] = np.nan
    found = completion_index(data, MASK, 1, FEW)
    assert (found.n, found.excluded) == (39, 1)
    assert math.isfinite(found.value)


def test_what_is_not_defined_says_why() -> None:
    data = experiment({})
    assert "no image's map is changed at t = 0" in completion_index(data, ["intact"], 1, FEW).reason
    flat = data.copy(deep=True)
    flat["between"] *= 0
    assert "no yardstick" in completion_index(flat, MASK, 1, FEW).reason
    assert "no yardstick" in index_difference(flat, MASK, ["white noise"], 1, FEW).reason
    zero = data.copy(deep=True)
    zero["amplitude"] *= 0
    found = difference_fall(zero, MASK, 1, FEW)
    assert found.fall.reason == found.null.reason == "no image has an amplitude at all times"
    assert int(difference_curves(zero, MASK)["left_out"][0]) == 40
    failed = data.copy(deep=True)
    failed["solved"] *= 0
    assert completion_index(failed, MASK, 1, FEW).reason == "no image was solved"


def test_the_papers_measure_falls_by_the_amplitude_alone() -> None:
    data = experiment({"mask 14": 1 / 3})
    found = difference_fall(data, MASK, 1, FEW)
    # the difference stays, and the amplitude grows about threefold
    assert found.fall.value == pytest.approx(found.null.value)
    assert found.null.value == pytest.approx(1 / 3, rel=0.05)
    assert difference_fall(data, MASK, 1, FEW, "A(0)").fall.value == pytest.approx(1)
    curves = difference_curves(data, MASK)
    assert float(curves["D"].sel(reading="A(0)")[0, 0]) == pytest.approx(float(curves["D"].sel(reading="A(t)")[0, 0]))


def test_a_difference_that_stays_falls_as_its_null_whatever_images_it_is_largest_in() -> None:
    # where the amplitude grows most the difference is largest: D falls by more than the plain mean of A(0) / A(T)
    data = experiment({"mask 14": 1 / 3})
    growth = np.linspace(2, 8, 40)
    data["amplitude"][...] = np.stack([np.ones(40), growth], 1)
    data["difference"].loc[{"condition": "mask 14"}] = growth[:, None] ** 2
    found = difference_fall(data, MASK, 1, FEW)
    exact = (growth**2 / growth).sum() / (growth**2).sum()
    assert found.fall.value == pytest.approx(exact)
    assert found.null.value == pytest.approx(exact)
    assert exact < 0.8 * (1 / growth).mean()
    assert found.beyond.value == pytest.approx(0, abs=1e-12)
    assert fall_in_words("A(t)", found).endswith("whether by more than the amplitude's growth makes it cannot be told.")
    # a twentieth less in every image is surely less, though images differ by far more
    data["difference"].loc[{"condition": "mask 14"}] *= np.array([1, 0.95])
    less = difference_fall(data, MASK, 1, FEW)
    assert less.beyond.value == pytest.approx(-0.05 * exact)
    assert less.fall.interval.high > found.null.value
    assert fall_in_words("A(t)", less).endswith("it falls by more than the amplitude's growth makes it.")


def with_grey(data: xr.Dataset, like: str) -> xr.Dataset:
    """Add a grey square whose maps did what another condition's did."""
    grey = data.sel(condition=[like]).assign_coords(
        condition=["mask 14 grey"], kind=("condition", ["mask"]), fill=("condition", ["grey"])
    )
    both = xr.concat([data, grey], "condition", data_vars="minimal", coords="minimal", compat="override")
    return both.assign_attrs(data.attrs)


def test_without_another_fill_it_cannot_be_told() -> None:
    found = block_verdict(experiment({"mask 14": 0.5}, rank={"mask 14": (1, 0)}), 1, FEW)
    assert not found.claimed
    assert not found.obstacles
    assert "no square of another fill was shown" in found.undecided


@pytest.mark.parametrize(
    ("end", "rank", "obstacle"),
    [
        ({"mask 14": 0.5}, {"mask 14": (1, 0)}, None),
        ({"mask 14": 1.2}, {"mask 14": (1, 0)}, "the mask's distance does not shrink"),
        ({}, {"mask 14": (1, 0)}, "the mask's distance is not seen to shrink"),
        ({"mask 14": 0.5, "white noise": 0.5}, {"mask 14": (1, 0)}, "not seen to shrink more than white noise of"),
        ({"mask 14": 0.5, "equal spectrum": 0.4}, {"mask 14": (1, 0)}, "more than equal spectrum of equal norm"),
        ({"mask 14": 0.5}, {"mask 14": (1, 1)}, "retrieval is not seen to rise"),
        ({"mask 14": 0.5}, {"mask 14": (0, 1)}, "retrieval falls"),
        ({"mask 14": 0.5}, {}, "retrieval among 40 images is complete from the start, so it cannot rise"),
    ],
)
def test_completion_is_claimed_only_where_all_of_it_holds(end: Any, rank: Any, obstacle: str | None) -> None:
    data = experiment(end, rank=rank)
    found = block_verdict(with_grey(data, "mask 14"), 1, FEW)
    assert found.claimed is (obstacle is None)
    assert not block_verdict(data, 1, FEW).claimed
    if obstacle:
        assert any(obstacle in one for one in [*found.obstacles, found.undecided])
        assert not (found.obstacles and found.undecided)


def test_a_black_square_that_loses_its_contrast_alone_completes_nothing() -> None:
    data = experiment({"mask 14": 0.5}, rank={"mask 14": (1, 0)})
    found = block_verdict(with_grey(data, "white noise"), 1, FEW)
    assert not found.claimed
    assert "filled with grey is not seen to shrink, so it may be the contrast of the black one" in found.obstacles[0]


def test_retrieval_is_paired_over_images() -> None:
    start, end, rise = retrieval(experiment({}, rank={"mask 14": (2, 0)}), MASK, 1, FEW)
    assert end.value == 1
    assert rise.value == pytest.approx(1 - start.value)
    assert rise.interval.low > 0


def test_accuracy_counts_unsolved_images_as_wrong() -> None:
    data = experiment({})
    assert correct(data, ["intact"])[:, -1].all()
    assert accuracy_drop(data, ["intact"], FEW).value == 0
    data["logits"].loc[{"condition": "intact", "stimulus": 3}] = np.nan
    assert correct(data, ["intact"])[3].tolist() == [0, 0]
    data["label"][:] = -1
    assert accuracy_drop(data, MASK, FEW).reason == "the images have no labels"


def test_solution_times_are_the_last_change_to_right() -> None:
    rng = np.random.default_rng(0)
    right, fraction = rng.random((200, 7)) < 0.7, np.linspace(0, 1, 7)
    found = solution_times(right, fraction)
    for image, time in zip(right, found.fraction, strict=True):
        first = [t for t in range(7) if image[t:].all()]
        assert (math.isnan(time) and not first) or time == fraction[first[0]]
    assert found.censored == (~right[:, -1]).sum()
    assert math.isnan(solution_times(np.zeros((3, 2), dtype=bool), np.array([0.0, 1.0])).median)


def test_intervals_of_the_index_cover_the_truth() -> None:
    rng = np.random.default_rng(1)

    def draw(n: int) -> tuple[np.ndarray, ...]:
        spread = rng.lognormal(0, 0.3, n)
        maps = rng.normal(size=(n, 6)) * spread[:, None]
        own = rng.lognormal(-1, 0.4, n) * spread
        return maps, own, 0.8 * own * rng.lognormal(0, 0.2, n)

    def between(maps: np.ndarray) -> np.ndarray:
        apart = np.linalg.norm(maps[:, None] - maps[None], axis=2)
        return apart.sum(1) / (len(maps) - 1)

    _, own0, own1 = draw(400_000)
    truth, hits, runs, n = 1 - own1.mean() / own0.mean(), 0, 400, 50
    for run in range(runs):
        maps, own0, own1 = draw(n)
        data = experiment({}, n)
        yardstick = between(maps)
        data["between"][:] = np.stack([yardstick, yardstick], 1)
        data["distance"].loc[{"condition": "mask 14"}] = np.stack([own0, own1], 1)
        hits += truth in completion_index(data, MASK, 1, Resampler(run, 199), floor=0.0).interval
    assert 0.92 <= hits / runs <= 0.98


def test_the_whole_analysis_says_its_n_and_is_written(tmp_path: Any) -> None:
    data = experiment({"mask 14": 0.5}, rank={"mask 14": (1, 0)})
    data = with_grey(data, "mask 14")
    found = analyze_completion({"a": {"flow": data, "no time": with_grey(experiment({}), "mask 14")}}, resamples=199)
    assert found.conclusion == "a (this network, 40 images, 14 x 14 mask): block 1 completes."
    for claim in found.claims:
        plain = claim.to_dict()
        assert {"name", "n", "estimate", "interval", "control", "conclusion"} <= set(plain)
        assert "nan" not in plain["conclusion"]
    path = write_result(found.to_tree(), tmp_path / "completion.nc", "completion")
    tree = open_result(path)
    assert json.loads(tree.attrs["claims"])[0]["unit"] == "images"
    assert tree["network1"]["D"].sizes == {"reading": 2, "block": 1, "time": 2}


def test_nothing_to_analyse_is_refused() -> None:
    with pytest.raises(InputError, match="experiments names no network"):
        analyze_completion({})
    with pytest.raises(InputError, match="has no mask of side 8"):
        analyze_completion({"a": {"flow": experiment({}).assign_attrs(main=8)}}, resamples=199)
    with pytest.raises(InputError, match="'flow' is missing"):
        analyze_completion({"a": {"no time": experiment({})}}, resamples=199)


def test_networks_are_compared_on_the_same_images_alone() -> None:
    one, two = experiment({}), experiment({})
    # the second network is right under the mask, the first is not
    two["logits"].loc[{"condition": "mask 14"}] = two["logits"].sel(condition="intact").values
    wrong = one["logits"].sel(condition="intact").values
    one["logits"].loc[{"condition": "mask 14"}] = -wrong
    found = analyze_completion({"a": {"flow": one}, "b": {"flow": two}}, resamples=199)
    compared = [claim for claim in found.claims if claim.name.startswith("a minus b")]
    assert len(compared) == 1
    assert compared[0].estimate == -1
    assert "a larger loss of accuracy in a than in b" in compared[0].conclusion
    assert compared[0].control.name == "difference of accuracy on intact images"
    assert "intact 100 % and 100 % are right" in compared[0].conclusion
    assert compared[0].control.estimate == 0
    assert compared[0].control.interval.low < 0  # 40 images that agree do not show that all do
    guessing = two.copy(deep=True)
    guessing["logits"][:] = np.random.default_rng(1).normal(size=two["logits"].shape)
    found = analyze_completion({"a": {"flow": one}, "b": {"flow": guessing}}, resamples=199)
    assert not any(claim.name.startswith("a minus b") for claim in found.claims)
    relabelled = (two["label"] + 1) % 5
    answers = two["logits"].roll({"class": 1})  # as right as before
    for other in (
        two.assign_coords(stimulus=two["stimulus"] + 1),
        two.assign_attrs(images="sha256:other"),
        two.assign(label=relabelled, logits=answers),
    ):
        found = analyze_completion({"a": {"flow": one}, "b": {"flow": other}}, resamples=199)
        assert not any(claim.name.startswith("a minus b") for claim in found.claims)


@pytest.mark.parametrize(
    ("borders", "said"), [(("black", "mirror"), True), (("black", "black"), False), (("", "mirror"), False)]
)
def test_networks_that_met_black_areas_in_training_and_did_not_are_told_apart(borders, said) -> None:
    shown = [experiment({}).assign_attrs(training_border=border) for border in borders]
    found = analyze_completion({name: {"flow": one} for name, one in zip("ab", shown, strict=True)}, resamples=199)
    (compared,) = [claim for claim in found.claims if claim.name.startswith("a minus b")]
    assert ("had black borders for a and mirrored ones for b" in compared.conclusion) == said


def test_labels_beyond_the_networks_classes_give_no_accuracy() -> None:
    data = experiment({})
    data["label"][3] = 5  # of classes 0 to 4
    assert accuracy_drop(data, MASK, FEW).reason == "the images have no labels"
    found = analyze_completion({"a": {"flow": data}}, resamples=199)
    claim = next(claim for claim in found.claims if "accuracy change" in claim.name)
    assert math.isnan(claim.estimate)
    assert "the images have no labels" in claim.conclusion


def test_twins_are_of_the_networks_own_images() -> None:
    data = experiment({})
    for other in (
        data.assign(label=(data["label"] + 1) % 5),
        data.isel(stimulus=slice(30)),
        data.assign_attrs(images="x"),
    ):
        with pytest.raises(InputError, match="'no time' of a is of other images or labels than 'flow'"):
            analyze_completion({"a": {"flow": data, "no time": other}}, resamples=199)


def test_too_few_images_give_no_interval_and_no_claim() -> None:
    found = block_verdict(experiment({"mask 14": 0.4}, n=5), 1, FEW)
    assert not found.claimed
    assert "5 clusters are too few to resample" in found.obstacles[0]
    told = analyze_completion({"a": {"flow": experiment({"mask 14": 0.4}, n=5)}}, resamples=199).conclusion
    assert "of block 1 it cannot be told (its index has no interval: 5 clusters are too few" in told
    assert "no completion is shown" not in told
