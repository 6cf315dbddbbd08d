"""The scaling law of contrast and time, exact once eps, time term and tolerance are scaled too; and what breaks it."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import dcnbio
from dcnbio.errors import InputError
from dcnbio.model.ode_block import ODEBlock
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe.contrast import ContrastSettings, record_contrast
from dcnbio.probe.contrast.condition import BlockCondition, Condition, Correction, all_blocks, block_1, loosened
from dcnbio.probe.contrast.law import without_eps
from dcnbio.probe.contrast.measured import Experiment
from dcnbio.probe.contrast.passes import run_condition, stem_bias
from dcnbio.probe.contrast.record import passes_of
from dcnbio.probe.contrast.tolerance import tolerance
from dcnbio.probe.contrast.whole import WHOLE_PROTOCOLS, condition_of, in_batches
from dcnbio.probe.stimuli import as_stimuli

SOLVERS = {stepping: SolverSettings(stepping=stepping) for stepping in ("per-image", "shared")}


@pytest.fixture
def images():
    return torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


def built(row, **options):
    net = dcnbio.build(row, seed=1, **{"widths": (8, 16), **options}).double()
    if isinstance(net.stem, nn.Conv2d):
        with torch.no_grad():
            net.stem.bias.add_(0.3)  # so that b matters
    return net


@pytest.mark.parametrize("contrast", [0.03, 3.0])
@pytest.mark.parametrize("row", ["dcn-ode", "ode-net", "dcn-full"])
def test_the_law_without_eps(row, contrast, images, each_engine):
    """h_c(cT) = c h_1(T) + (1 - c) b to 1e-5 in float64, in as many evaluations; b is 0 for an SRF stem."""
    net = without_eps(built(row))
    one = run_condition(net, images, Condition(), SOLVERS["per-image"])
    found = run_condition(net, images, block_1(contrast, contrast, Correction.full()), SOLVERS["per-image"])
    expected = contrast * one.first + (1 - contrast) * stem_bias(net)
    assert float((found.first - expected).abs().max() / (contrast * one.first).abs().max()) < 1e-5
    assert torch.equal(found.nfe, one.nfe)
    assert float((found.logits - one.logits).abs().max()) < 1e-5 * float(one.logits.abs().max())
    assert (float(stem_bias(net).abs().max()) > 0) == (row != "dcn-full")


@pytest.mark.parametrize("stepping", ["per-image", "shared"])
@pytest.mark.parametrize("row", ["dcn-ode", "ode-net", "dcn-sigma-t"])
def test_scaled_eps_keeps_the_trained_network(row, stepping, images):
    """With c^2 eps in place of eps the logits are those of contrast 1, in as many evaluations."""
    net, solver = built(row), SOLVERS[stepping]
    one = run_condition(net, images, Condition(), solver)
    found = run_condition(net, images, block_1(0.06, 0.06, Correction.full()), solver)
    assert float((found.logits - one.logits).abs().max()) < 1e-7
    assert torch.equal(found.nfe, one.nfe)


@pytest.mark.parametrize("stepping", ["per-image", "shared"])
def test_all_inputs_scaled_with_several_channels_a_group(stepping, images):
    """In blocks whose groups have several channels the law holds where all of h(0) is scaled."""
    net, solver = built("dcn-ode", norm_groups=4), SOLVERS[stepping]
    one = run_condition(net, images, Condition(), solver)
    found = run_condition(net, images, all_blocks(0.06, 2, 0.06, Correction.full()), solver)
    assert float((found.logits - one.logits).abs().max()) < 1e-7
    assert torch.equal(found.nfe, one.nfe)


def test_a_constant_that_differs_within_a_group_breaks_it(images):
    """Scaling the image leaves b, which a norm over several channels does not take out."""
    net = without_eps(built("dcn-ode", norm_groups=4))
    with torch.no_grad():
        net.stem.bias.mul_(torch.linspace(-2, 2, 8))
    one = run_condition(net, images, Condition(), SOLVERS["per-image"])
    found = run_condition(net, images, block_1(0.06, 0.06, Correction.full()), SOLVERS["per-image"])
    assert float((found.logits - one.logits).abs().max()) > 1e-3 * float(one.logits.abs().max())


@pytest.mark.parametrize("levels", list(itertools.product([False, True], repeat=3))[:-1])
def test_whatever_is_left_uncorrected_breaks_it(levels, images):
    net, solver = built("dcn-ode"), SOLVERS["per-image"]
    one = run_condition(net, images, Condition(), solver)
    found = run_condition(net, images, block_1(0.01, 0.01, Correction(*levels)), solver)
    assert float((found.logits - one.logits).abs().max()) > 1e-7


def test_fixed_time_at_low_contrast_is_a_later_reading(images):
    """Naive contrast c, with the law's corrections, reads contrast 1 at T / c."""
    net = built("dcn-ode", integration_time=0.5)
    late = run_condition(net, images, Condition(1.0, {1: BlockCondition(time=5.0)}), SOLVERS["per-image"])
    naive = run_condition(net, images, block_1(0.2, 1.0, Correction.full()), SOLVERS["per-image"])
    assert float((naive.logits - late.logits).abs().max()) < 1e-7
    # the time left to choose the first step is not the same, but the steps are
    assert torch.equal(naive.nfe, late.nfe)


@pytest.mark.parametrize("stepping", ["per-image", "shared"])
@pytest.mark.parametrize("contrast", [0.02, 0.3])
def test_a_looser_tolerance_with_a_longer_first_step_is_a_lower_contrast(contrast, stepping, images, monkeypatch):
    """By the law: at contrast c with contrast 1's own atol and first step, and rtol |c h| loosened to rtol |h|."""
    net, solver = built("dcn-full"), replace(SOLVERS[stepping], rtol=1e-5, atol=1e-5)  # its stem has no b
    image = images[:1]
    steps = []
    run = ODEBlock.run

    def watched(block, h, settings, *rest):
        steps.append(settings.first_step)
        return run(block, h, settings, *rest)

    monkeypatch.setattr(ODEBlock, "run", watched)
    loose = run_condition(net, image, loosened(1 / contrast), solver, SOLVERS[stepping])
    alike = replace(solver, rtol=solver.rtol / contrast, first_step=contrast * steps[0])
    low = block_1(contrast, contrast, Correction(eps=True, time_term=True))
    found = run_condition(net, image, low, alike, SOLVERS[stepping])
    assert float((found.logits - loose.logits).abs().max()) < 1e-7
    # the rule's own evaluation is counted where it chose the step
    assert (loose.nfe - found.nfe).tolist() == [[1, 0]]
    assert int(loose.nfe[0, 0]) < int(run_condition(net, image, Condition(), solver).nfe[0, 0])


def test_factors_of_the_tolerance_reach_the_fewest_evaluations_and_the_errors_of_low_contrast():
    """With the first step left to the rule the loosest tolerance took 20 evaluations and erred less than T-hat."""
    net = dcnbio.load("dcn-ode")
    shown = torch.from_numpy(as_stimuli(dcnbio.load_images(limit=2)).images)
    found = tolerance(Experiment(net, shown, ContrastSettings(looser=(1, 8, 128))))
    assert found["loose_nfe"].isel(factor=-1).values.tolist() == [8, 8]  # two for the first step, six for the one step
    errors = np.log(found["loose_error"].values).mean(-1)
    low = np.log(found["error"].values).mean(-1)
    assert errors[0] < low.min()
    assert low.max() < errors[-1]
    # where the equation is contrast 1's, the fewest evaluations are reached as well
    assert found["nfe"].sel(contrast=0.01).values.tolist() == [[8, 8], [8, 8]]


@pytest.mark.parametrize("time", [1.0, 0.2])
def test_without_corrections_it_is_the_papers_protocol(time, images):
    """The same numbers as the network's own pass of c times the images."""
    net = built("dcn-ode")
    own = dcnbio.build("dcn-ode", widths=(8, 16), integration_time=(2.0 * time, 2.0)).double()
    own.load_state_dict(net.state_dict())
    with torch.no_grad():
        expected = own.run(0.2 * images, SOLVERS["shared"])
    found = run_condition(net, images, block_1(0.2, time), SOLVERS["shared"])
    assert torch.equal(found.logits, expected.logits)
    assert found.nfe[0].tolist() == [int(block.work.nfe[0]) for block in expected.blocks]


class Still(nn.Module):
    def forward(self, t, h):
        return 0 * h


@pytest.mark.parametrize(
    ("net", "message"),
    [
        (dcnbio.build("resnet-blocks", widths=(4,)), "residual blocks, which have no integration time"),
        (dcnbio.build("dcn-ode", widths=(4,), vector_field=Still()), "it is not known where eps"),
    ],
)
def test_networks_that_have_no_law(net, message):
    with pytest.raises(InputError, match=message):
        record_contrast(net, dcnbio.load_images(limit=1), ContrastSettings(few=1))


@pytest.mark.parametrize("bad", [0.0, -0.5, float("nan"), float("inf"), 1e9])
@pytest.mark.parametrize("name", ["contrasts", "attributed", "whole", "surface"])
def test_contrasts_that_are_none(name, bad):
    with pytest.raises(InputError, match=rf"{name} has {bad:g}".replace("+", r"\+")):
        ContrastSettings(**{name: (1.0, bad)})


def test_images_without_numbers_or_labels_are_refused():
    net, data = dcnbio.build("dcn-ode", widths=(4,)), dcnbio.load_images(limit=2)
    broken = data.copy(deep=True)
    broken["image"].values[1, 0, 0, 0] = np.nan
    with pytest.raises(InputError, match="image 1 of the images has non-finite values"):
        record_contrast(net, broken)
    with pytest.raises(InputError, match="have no labels"):
        record_contrast(net, data.drop_vars("label"))


def test_one_image_gives_every_part_and_a_flat_one_says_so():
    net, data = dcnbio.build("dcn-ode", widths=(4, 8)), dcnbio.load_images(limit=1)
    small = ContrastSettings(contrasts=(0.06,), attributed=(0.06,), few=1, precise=1, surface=(0.1, 1.0), looser=(10,))
    passes = []
    tree = record_contrast(net, data, small, progress=passes.append)
    assert sum(passes) == passes_of(small, 1)
    assert tree["response"]["nfe"].shape == (2, 1, 1, 2)
    assert int(tree["law"]["zero_variance"].sum()) == 0
    assert int((tree["response"]["answer"] < 0).sum()) == 0
    flat = data.copy(deep=True)
    flat["image"].values[:] = 0.5
    assert int(record_contrast(net, flat, small)["law"]["zero_variance"].sum()) == 4


def test_the_whole_clock_keeps_the_logits_where_only_the_time_term_breaks_the_law():
    """With T-hat everywhere the time channel ends at c T; read at t / c it ends at T, and the logits come back."""
    net = without_eps(built("dcn-ode"))
    shown = torch.rand(4, 3, 32, 32, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    settings = ContrastSettings(batch_size=4, rtol=1e-8, atol=1e-8)
    experiment = Experiment(net, shown, settings, lambda n: None)
    one = in_batches(experiment, Condition()).logits
    change = {p: (in_batches(experiment, condition_of(p, 0.06, 2)).logits - one).abs().max() for p in WHOLE_PROTOCOLS}
    assert change["T-hat and time term"] < 1e-4 * change["T-hat everywhere"]
    assert change["T-hat and tolerance"] == pytest.approx(float(change["T-hat everywhere"]), rel=1e-3)
    assert change["fixed T"] > change["T-hat everywhere"]
