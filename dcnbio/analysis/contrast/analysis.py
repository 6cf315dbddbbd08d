"""The contrast analysis as a whole: figure 5 of the paper, the scaling law behind it, and what breaks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim
from dcnbio.analysis.contrast.all_inputs_claims import whole_network_claims
from dcnbio.analysis.contrast.conclusion import contrast_sentence
from dcnbio.analysis.contrast.equal_error_claims import equal_error_claims
from dcnbio.analysis.contrast.factorial_claims import factorial_claims
from dcnbio.analysis.contrast.law_claims import accuracy_surface, law_claims, surface_claims
from dcnbio.analysis.contrast.response_claims import curves, labels_of, response_claims
from dcnbio.analysis.contrast.result import ContrastResult, NetworkContrast
from dcnbio.analysis.contrast.saving import saving_claims
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
    networks, claims = [], list[Claim]()
    for name, tree in recorded.items():
        missing = [part for part in PARTS if part not in tree.children]
        if missing:
            raise InputError(f"the record of {name} lacks {missing[0]}; make it with dcnbio.probe.contrast.")
        check_labels(name, tree)
        if progress:
            progress(name)
        own = [
            *response_claims(name, tree),
            *saving_claims(name, tree),
            *equal_error_claims(name, tree, seed, resamples),
        ]
        rest = [*whole_network_claims(name, tree), *law_claims(name, tree), *surface_claims(name, tree)]
        networks.append(NetworkContrast(name, tree, curves(tree), accuracy_surface(tree), (*own, *rest)))
        claims += [*own, *factorial_claims(name, tree), *rest]
    conclusion = contrast_sentence(networks[0].name, networks[0].recorded)
    return ContrastResult(tuple(networks), tuple(claims), conclusion, seed, resamples)


def check_labels(name: str, tree: xr.DataTree) -> None:
    """Refuse a record in which an image has no label: it would count as wrong at every contrast."""
    labels = labels_of(tree) if "label" in tree.variables else np.empty(0, dtype=np.int64)
    if len(labels) != tree["response"].sizes["stimulus"] or (labels < 0).any():
        raise InputError(
            f"the record of {name} has no label of the network's classes for every image, and accuracy needs them; "
            "make it with dcnbio.probe.contrast from labelled images."
        )
