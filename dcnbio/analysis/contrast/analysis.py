"""The contrast analysis as a whole: figure 5 of the paper, the scaling law behind it, and what breaks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim
from dcnbio.analysis.contrast.all_inputs_claims import whole_network_claims
from dcnbio.analysis.contrast.equal_error_claims import equal_error_claims
from dcnbio.analysis.contrast.factorial_claims import factorial_claims, saving_claims
from dcnbio.analysis.contrast.law_claims import accuracy_surface, law_claims, surface_claims
from dcnbio.analysis.contrast.response_claims import curves, labels_of, response_claims
from dcnbio.analysis.contrast.result import ContrastResult, NetworkContrast
from dcnbio.errors import InputError
from dcnbio.images.number_checks import count

__all__ = ["analyze_contrast"]

PARTS = ("response", "whole_network", "factorial", "tolerance", "surface", "law")


def analyze_contrast(
    recorded: Mapping[str, xr.DataTree],
    *,
    seed: int = 0,
    resamples: int = 1999,
    progress: Callable[[str], None] | None = None,
) -> ContrastResult:
    """Analyse what contrast does to networks, and what scaling integration time with it makes of that.

    Parameters
    ----------
    recorded : mapping of str to xarray.DataTree
        `dcnbio.probe.contrast.record_contrast` of each network, by name; the first is the one the conclusion is about.
    seed : int
        Of all resampling.
    resamples : int
        Of each bootstrap.
    progress : callable, optional
        Called with the name of each network before it begins.

    Returns
    -------
    ContrastResult

    Raises
    ------
    InputError
        If no network is given, a record is incomplete, or images in it have no label.

    Notes
    -----
    Intervals are over images, or over batches where these share their steps; each claim speaks of one network. In
    block 1 every group of a norm is one channel, so f ignores scale and offset of each channel: were eps 0, the time
    term read at t / c and the tolerance scaled, h_c(c t) = c h_1(t) + (1 - c) b would hold exactly, in any such
    network. It can therefore not explain a difference between networks.

    Examples
    --------
    >>> import dcnbio
    >>> from dcnbio.probe.contrast import ContrastSettings, record_contrast
    >>> net = dcnbio.build("dcn-ode", widths=(8,), norm_groups=8, integration_time=0.5)
    >>> few = {"attributed": (0.06,), "few": 2, "precise": 1, "batch_size": 2, "looser": (10,), "surface": (0.5,)}
    >>> recorded = record_contrast(net, dcnbio.load_images(limit=2), ContrastSettings(contrasts=(0.06,), **few))
    >>> analyze_contrast({"mine": recorded}, resamples=99).claims[0].name
    'mine: accuracy at contrast 0.06 minus 1, T fixed'
    """
    if not recorded:
        raise InputError("recorded names no network; give at least one contrast experiment.")
    count("seed", seed, 0)
    rng = np.random.default_rng(seed)
    networks, claims = [], list[Claim]()
    for name, tree in recorded.items():
        missing = [part for part in PARTS if part not in tree.children]
        if missing:
            raise InputError(f"the record of {name} lacks {missing[0]}; make it with dcnbio.probe.contrast.")
        check_labels(name, tree)
        if progress:
            progress(name)
        networks.append(NetworkContrast(name, tree, curves(tree), accuracy_surface(tree)))
        claims += [
            *response_claims(name, tree),
            *saving_claims(name, tree),
            *equal_error_claims(name, tree, rng, resamples),
            *factorial_claims(name, tree),
            *whole_network_claims(name, tree),
            *law_claims(name, tree),
            *surface_claims(name, tree),
        ]
    return ContrastResult(tuple(networks), tuple(claims), sentence(networks[0], claims), seed, resamples)


def check_labels(name: str, tree: xr.DataTree) -> None:
    """Refuse a record in which an image has no label: it would count as wrong at every contrast."""
    labels = labels_of(tree) if "label" in tree.variables else np.empty(0, dtype=np.int64)
    if len(labels) != tree["response"].sizes["stimulus"] or (labels < 0).any():
        raise InputError(
            f"the record of {name} has no label of the network's classes for every image, and accuracy needs them; "
            "make it with dcnbio.probe.contrast from labelled images."
        )


def limited(claim: Claim) -> str:
    """Write a change of accuracy in points with its limits."""
    low, high = (round(100 * limit, 1) + 0.0 for limit in (claim.interval.low, claim.interval.high))
    return f"{round(100 * claim.estimate, 1) + 0.0:+.1f} ({low:+.1f} to {high:+.1f})"


def sentence(network: NetworkContrast, claims: list[Claim]) -> str:
    """Put what was found of the first network in one sentence."""
    name = network.name
    own = [claim for claim in claims if claim.name.startswith(f"{name}:")]
    saving = [claim for claim in own if "evaluations of block 1 at contrast" in claim.name and "minus" in claim.name][
        -1
    ]
    cost = [claim for claim in own if claim.name.endswith("minus 1, T-hat")][-1]
    fixed = [claim for claim in own if claim.name.endswith("minus 1, T fixed")][-1]
    law = next(claim for claim in own if "eps = 0" in claim.name)
    c = cost.name.split("contrast ")[1].split(" ")[0]
    exact = f"exact to {law.estimate:.0e}" if law.estimate == law.estimate else "not checked"
    return (
        f"{name}: at contrast {c} accuracy changes by {limited(fixed)} points with T fixed and "
        f"{limited(cost)} with T-hat (n = {cost.n}); T-hat takes {saving.estimate:+.1f} evaluations in "
        f"block 1, {saving.control.estimate:+.1f} with the tolerance scaled along, so "
        f"{saving.conclusion.rsplit(': ', 1)[1].rstrip('.')}; the scaling law is {exact} in float64 without eps."
    )
