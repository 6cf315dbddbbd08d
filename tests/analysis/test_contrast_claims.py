"""What is said of contrast where solves fail, where parts have other contrasts, and whatever networks are called."""

import numpy as np
import pytest
import xarray as xr

import dcnbio
from dcnbio.analysis.contrast import analyze_contrast, contrast_of_recordings
from dcnbio.analysis.contrast.all_inputs_claims import evaluations_claim
from dcnbio.analysis.contrast.equal_error_claims import equal_error_claims
from dcnbio.analysis.contrast.law_claims import law_claims
from dcnbio.analysis.contrast.response_claims import curves
from dcnbio.analysis.contrast.saving import saving_claims
from dcnbio.commands.contrast_report import report
from dcnbio.probe.contrast import ContrastSettings, record_contrast

FEW = {"few": 8, "precise": 2, "batch_size": 4, "looser": (10,), "surface": (0.5, 1)}


@pytest.fixture(scope="module")
def net():
    return dcnbio.build("dcn-ode", widths=(8,), norm_groups=8, integration_time=0.5)


@pytest.fixture(scope="module")
def tree(net):
    settings = ContrastSettings(contrasts=(0.06,), attributed=(0.06,), whole=(0.06,), **FEW)
    return record_contrast(net, dcnbio.load_images(limit=8), settings)


def changed(tree, node, **values):
    """Copy a record with other values of some variables of a node."""
    found = xr.DataTree.from_dict({one.path: one.to_dataset().copy(deep=True) for one in tree.subtree})
    data = found[node].to_dataset()
    found[node] = xr.DataTree(data.assign({name: (data[name].dims, value) for name, value in values.items()}))
    found.attrs = tree.attrs
    return found


def failed(tree, node, images, cell):
    """Fail the solve of some images after two evaluations, in one cell."""
    data = tree[node].to_dataset()
    answer, nfe = data["answer"].values.copy(), data["nfe"].values.copy()
    answer[(*cell, images)] = -1
    nfe[(*cell, images)] = 2
    return changed(tree, node, answer=answer, nfe=nfe)


def named(claims, part):
    (found,) = [claim for claim in claims if part in claim.name]
    return found


def test_evaluations_are_those_of_images_that_were_solved(tree):
    """Shares and saving are of the same images, and agree; the rest is as if only those had been shown."""
    some = failed(tree, "factorial", [0, 1], (0, 0, 0, 0))
    found = analyze_contrast({"m": some}, resamples=99).claims
    saving, share = (
        named(found, "of block 1 at contrast 0.06 with T-hat"),
        named(found, "block 1 at contrast 0.06 by eps"),
    )
    data = tree["factorial"].to_dataset()
    plain = data["nfe"].sel(contrast=0.06, eps=0, time_term=0, solver_tolerance=0).values[2:, 0]
    assert saving.estimate == pytest.approx((plain - data["reference_nfe"].values[2:, 0]).mean())
    assert (saving.n, share.n) == (6, 6)
    assert share.control.estimate == -saving.estimate  # by the law all three corrected are contrast 1
    assert saving.conclusion.endswith("; 2 images that were not solved are left out.")


def test_a_contrast_at_which_nothing_was_solved_is_said(tree):
    none = failed(tree, "factorial", slice(None), (0, 0, 0, 0))
    (claim,) = saving_claims("m", none)
    assert np.isnan(claim.estimate)
    assert claim.conclusion == "What T-hat saves at contrast 0.06 is not known: no image was solved in every pass."
    assert "T-hat takes" not in analyze_contrast({"m": none}, resamples=99).conclusion


def test_curves_average_what_was_solved(tree):
    some = failed(tree, "response", [0, 1, 2], (1, 0))
    found, whole = curves(some), tree["response"].to_dataset()
    assert found["nfe"].values[:, 0, 0] == pytest.approx(whole["nfe"].values[:, 0, 3:, 0].mean(-1))
    assert found["nfe_images"].values.tolist() == [5]
    assert "NFE" in report(analyze_contrast({"m": failed(tree, "response", slice(None), (1, 0))}, resamples=99))


def test_batches_that_were_not_solved_are_left_out(tree):
    data = tree["whole_network"].to_dataset()
    answer, nfe = data["answer"].values.copy(), data["nfe"].values.copy()
    answer[1, 0, :4], nfe[1, 0, 0] = -1, 2
    some = data.assign(answer=(data["answer"].dims, answer), nfe=(data["nfe"].dims, nfe))
    claim = evaluations_claim("m", 0.06, some)
    assert claim.n == 1
    assert claim.estimate == nfe[1, 0, 1].sum() - data["reference_nfe"].values[1].sum()
    assert claim.conclusion.startswith("In 1 batch of 4 images")
    assert claim.conclusion.endswith("; 1 batch that was not solved is left out.")
    answer[1, 0, 4:] = -1
    assert np.isnan(evaluations_claim("m", 0.06, data.assign(answer=(data["answer"].dims, answer))).estimate)


def test_the_law_is_checked_on_the_images_that_were_solved(tree):
    residual, nfe = tree["law"]["residual"].values.copy(), tree["law"]["nfe"].values.copy()
    residual[:, 1], nfe[:, 1] = np.nan, 1
    (claim,) = law_claims("m", changed(tree, "law", residual=residual, nfe=nfe))
    assert claim.estimate == residual[0, 0]
    assert claim.n == 1
    assert "The scaling law holds" in claim.conclusion
    assert "evaluations equal; 1 image that was not solved is left out" in claim.conclusion
    (none,) = law_claims("m", changed(tree, "law", residual=np.full_like(residual, np.nan)))
    assert none.n == 0
    assert none.conclusion == "The law was not checked: no image could be solved in float64 without eps."


def test_failed_answers_agree_with_nothing(tree):
    data = tree["surface"].to_dataset()
    fail = {name: np.full_like(data[name].values, -1) for name in ("answer", "predicted")}
    found = analyze_contrast({"m": changed(tree, "surface", **fail)}, resamples=99).claims
    assert named(found, "share of answers at contrast c").estimate == 0


def test_recordings_average_what_was_solved(net):
    shorter = dcnbio.build("dcn-ode", widths=(8,), norm_groups=8, integration_time=0.1)
    shorter.load_state_dict(net.state_dict())
    images = dcnbio.load_images(limit=8)
    one, scaled = (
        dcnbio.probe(n, images, times=2, maps=False, contrast=c).load() for n, c in ((net, 1.0), (shorter, 0.2))
    )
    scaled["logits"][:3] = np.nan
    scaled["block1/nfe"][:3] = 2
    found = contrast_of_recordings([one, scaled])
    work = named(found.claims, "evaluations")
    assert (work.n, named(found.claims, "accuracy").n) == (5, 8)
    expected = scaled["block1/nfe"].values[3:] - one["block1/nfe"].values[3:]
    assert work.estimate == pytest.approx(expected.mean())
    assert found.table[1]["nfe_block_1"] == pytest.approx(scaled["block1/nfe"].values[3:].mean())
    assert [line["nfe_images"] for line in found.table] == [8, 5]
    assert work.conclusion.endswith("; 3 images that were not solved are left out.")


@pytest.fixture(scope="module")
def apart(net):
    """Accuracy at one contrast, evaluations at two others."""
    return record_contrast(net, dcnbio.load_images(limit=4), ContrastSettings(contrasts=(0.5,), **(FEW | {"few": 4})))


def test_a_conclusion_speaks_of_one_contrast(tree, apart):
    said = analyze_contrast({"mine": apart}, resamples=99).conclusion
    assert said.startswith("mine: at contrast 0.5 accuracy changes by ")
    assert "evaluations" not in said
    both = analyze_contrast({"mine": tree}, resamples=99)
    saving = named(both.claims, "of block 1 at contrast 0.06 with T-hat")
    assert f"T-hat takes {saving.estimate:+.1f} evaluations in block 1" in both.conclusion
    assert both.conclusion.startswith("mine: at contrast 0.06 accuracy changes by ")


@pytest.mark.parametrize("name", ["low contrast training", "a: b", "Shapley", "eps = 0: minus 1, T-hat"])
def test_a_network_may_have_any_name(tree, name):
    found, plain = (analyze_contrast({one: tree}, resamples=99) for one in (name, "mine"))
    assert found.conclusion == plain.conclusion.replace("mine:", f"{name}:", 1)
    said, expected = (report(one).split("Conclusion:")[0].split("\n", 1)[1] for one in (found, plain))
    assert said.removeprefix("  32.0\n") == expected  # the heading may take two lines


@pytest.fixture
def varied(tree):
    """Two contrasts at which images err and work unlike, so that equal errors have intervals."""
    rng, n, factors = np.random.default_rng(0), 8, np.arange(4.0)[:, None]
    common = rng.normal(0, 0.3, n)
    dims = ("contrast", "equation", "first_stimulus")
    work = 30 + 6 * np.round(rng.normal(0, 1, (2, 2, n)))
    data = xr.Dataset(
        {
            "loose_error": (("factor", "first_stimulus"), np.exp(factors - 6 + common)),
            "loose_nfe": (("factor", "first_stimulus"), 50 - 10 * factors + 6 * np.round(rng.normal(0, 1, (4, n)))),
            "error": (dims, np.exp(-4.5 + common + rng.normal(0, 0.1, (2, 2, n)))),
            "nfe": (dims, work),
        },
        {"factor": factors[:, 0], "contrast": [0.01, 0.06], "equation": ["as it is", "scaled along"]},
    )
    found = changed(tree, "tolerance")
    found["tolerance"] = xr.DataTree(data)
    return found


def equal_errors(claims):
    found = {claim.name: claim.to_dict() for claim in claims if "equal logit error" in claim.name}
    assert all(claim["interval"] and claim["control"]["interval"] for claim in found.values())
    return found


def test_what_is_said_of_a_network_does_not_depend_on_those_beside_it(varied):
    other = varied.copy()
    other.attrs = {**varied.attrs, "weights": "others"}
    alone = equal_errors(analyze_contrast({"mine": varied}, resamples=99).claims)
    after = equal_errors(analyze_contrast({"first": other, "mine": varied}, resamples=99).claims)
    assert alone == {name: after[name] for name in alone}


def test_what_is_said_of_a_contrast_does_not_depend_on_the_others(varied):
    one = varied.copy()
    one["tolerance"] = xr.DataTree(varied["tolerance"].to_dataset().isel(contrast=[1]))
    alone, both = (equal_errors(equal_error_claims("m", data, 0, 99)) for data in (one, varied))
    assert alone == {name: both[name] for name in alone}
    assert len(both) == 2
