"""The gradients of all rows against the paper's own code, taken straight through its solver.

Straight through means: through the choice of the step sizes too, which the error estimate makes, and which is no
property of the equation. gradient="straight" does the same and agrees to rounding. gradient="exact" holds the accepted
steps fixed. At a small tolerance the two differ by what a step's size moves the answer, about the tolerance, as long as
the answer is smooth in it. It is not where ReLU has kinks on the path (ode-net), nor where the window of the kernels
jumps with sigma(t) (the rows whose scales depend on time): there the gradient through a step size is large and
arbitrary, and the reference carries it. Those rows are held to "straight" alone.
"""

from __future__ import annotations

import numpy as np
import pytest
from torch import Tensor, nn

from dcnbio.model.public_names import public_names
from dcnbio.model.solver_settings import SolverSettings

SMOOTH = ("dcn-ode", "dcn-full", "dcn-sigma-ji")
KINKED = ("ode-net", "dcn-sigma-t", "dcn-sigma-t2", "dcn-sigma-alpha-t")
RESIDUAL = ("resnet-blocks", "resnet-srf-blocks", "resnet-srf-full")
NOTHING = 1e-13  # the norm of a gradient that is zero but for rounding


@pytest.fixture(scope="module")
def gradients(reference_network, reference_images, reference_labels):
    """The gradients of the first two images' loss, by the public code's names."""

    def of(row: str, gradient: str) -> dict[str, Tensor]:
        net = reference_network(row).double()
        net.solver = SolverSettings(rtol=1e-6, atol=1e-6, gradient=gradient)
        logits = net(reference_images[:2].double())
        nn.functional.cross_entropy(logits, reference_labels[:2]).backward()
        ours = dict(net.named_parameters())
        return {theirs: ours[name].grad for theirs, name in public_names(net.spec).items()}

    return of


def tensors(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix("grad/"): value for name, value in values.items() if name.startswith("grad/")}


def norms(values: dict[str, np.ndarray]) -> dict[str, float]:
    return {name.removeprefix("gradnorm/"): float(v) for name, v in values.items() if name.startswith("gradnorm/")}


def check_each_tensor(found: dict[str, Tensor], values: dict[str, np.ndarray], relative: float) -> None:
    assert set(norms(values)) == set(found)
    for name, wanted in tensors(values).items():
        apart = np.linalg.norm(found[name].numpy() - wanted)
        assert apart <= relative * np.linalg.norm(wanted) + NOTHING, name
    for name, wanted in norms(values).items():
        assert float(found[name].norm()) == pytest.approx(wanted, rel=relative, abs=NOTHING), name


@pytest.mark.parametrize("row", RESIDUAL)
def test_gradients_of_residual_rows_equal_the_papers_code(row, gradients, reference_values):
    check_each_tensor(gradients(row, "exact"), reference_values(row.replace("-", "_")), 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("row", SMOOTH + KINKED)
def test_gradients_straight_through_the_solver_equal_the_papers_code(row, gradients, reference_values):
    check_each_tensor(gradients(row, "straight"), reference_values(row.replace("-", "_")), 1e-6)


@pytest.mark.parametrize("row", SMOOTH)
def test_exact_gradients_equal_the_papers_code_where_paths_are_smooth(row, gradients, reference_values):
    """Each tensor to 1e-3 of its norm, or of a hundredth of the largest where it is smaller than that."""
    values = reference_values(row.replace("-", "_"))
    found = gradients(row, "exact")
    wanted = tensors(values)
    floor = max(norms(values).values()) / 100
    for name, gradient in wanted.items():
        apart = np.linalg.norm(found[name].numpy() - gradient)
        assert apart <= 1e-3 * max(np.linalg.norm(gradient), floor), name
    for name, norm in norms(values).items():
        assert abs(float(found[name].norm()) - norm) <= 1e-3 * max(norm, floor), name
    ours = np.concatenate([found[name].numpy().ravel() for name in wanted])
    theirs = np.concatenate([gradient.ravel() for gradient in wanted.values()])
    assert np.linalg.norm(ours - theirs) <= 1e-3 * np.linalg.norm(theirs)


@pytest.mark.parametrize("row", ["dcn-ode", "dcn-sigma-t"])
def test_shifts_that_a_norm_takes_out_have_no_exact_gradient(row, gradients):
    """With a group per channel, no norm sees a constant added to a channel, so the loss does not either.

    The stem's bias and the offset of block 1's dh/dt add such constants. Step sizes do depend on them (through the
    tolerance on |h|), which is all that the reference's gradient of 1e-8 to 1e-4 holds.
    """
    found = gradients(row, "exact")
    assert float(found["0.bias"].norm()) < NOTHING
    assert float(found["1.odefunc.norm3.bias"].norm()) < NOTHING
    assert float(found["0.weight"].norm()) > 0.1
