"""The completion analysis as a whole: figures 3c, 4 and A6 of the paper, with their nulls and controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import xarray as xr

from dcnbio.analysis.claim import Claim
from dcnbio.analysis.completion.claims import accuracy_claims, index_claims, paper_claims, region_claims
from dcnbio.analysis.completion.comparison import comparison_claims
from dcnbio.analysis.completion.mechanism_claims import mechanism_claims
from dcnbio.analysis.completion.network import NetworkCompletion, measures_table
from dcnbio.analysis.completion.readout_claims import readout_claims
from dcnbio.analysis.completion.resampling import Resampler
from dcnbio.analysis.completion.result import CompletionResult
from dcnbio.analysis.completion.verdict import Verdict, block_verdict
from dcnbio.errors import InputError
from dcnbio.images.number_checks import count

__all__ = ["analyze_completion"]


def analyze_completion(
    experiments: Mapping[str, Mapping[str, xr.Dataset]],
    mechanisms: Mapping[str, xr.Dataset] | None = None,
    *,
    seed: int = 0,
    resamples: int = 1999,
    progress: Callable[[str], None] | None = None,
) -> CompletionResult:
    """Analyse whether networks complete masked images.

    Parameters
    ----------
    experiments : mapping of str to mapping of str to xarray.Dataset
        By network, what `dcnbio.probe.completion.completion_experiment` gave.
    mechanisms : mapping of str to xarray.Dataset, optional
        By network, what `dcnbio.probe.completion.mechanism.mechanism_experiment` gave.
    seed : int
        Of all resampling.
    resamples : int
        Of each bootstrap; 9,999 for print.
    progress : callable, optional
        Called with the name of each part before it begins.

    Returns
    -------
    CompletionResult
        ``claims``, ``verdicts`` by network and block, ``conclusion``, and ``to_tree`` for tables and curves.

    Raises
    ------
    InputError
        If no network is given, or the main mask is missing from one.

    Notes
    -----
    Intervals are over images and paired where images are the same: they say nothing of other training seeds.
    "Completion" is claimed of a block only where the mask's distance shrinks, more than white noise and noise of equal
    spectrum of equal norm do, squares of other fills shrink as well where these were shown, and retrieval rises.

    Examples
    --------
    >>> import numpy as np
    >>> import dcnbio
    >>> from dcnbio.probe.completion import CompletionSettings, completion_experiment
    >>> net = dcnbio.build("dcn-ode", widths=(4,), norm_groups=2, integration_time=0.1)
    >>> images = np.random.default_rng(0).random((8, 3, 32, 32), dtype=np.float32)
    >>> shown = CompletionSettings(masks=(14,), controls=False, times=2)
    >>> found = analyze_completion({"mine": completion_experiment(net, images, shown)}, resamples=99)
    >>> found.claims[0].name
    'mine: accuracy change by a mask of 14 pixels'
    """
    if not experiments:
        raise InputError("experiments names no network; give at least one completion experiment.")
    count("seed", seed, 0)
    resampler, tell = Resampler(seed, resamples), progress or (lambda part: None)
    networks: list[NetworkCompletion] = []
    verdicts: dict[str, list[Verdict]] = {}
    claims: list[Claim] = []
    for name, experiment in experiments.items():
        tell(f"{name}: tables")
        network = NetworkCompletion(name, experiment, (mechanisms or {}).get(name))
        tables = {variant: measures_table(data, resampler) for variant, data in experiment.items()}
        networks.append(replace(network, tables=tables))
        tell(f"{name}: claims")
        verdicts[name] = [block_verdict(network.flow, block, resampler) for block in network.blocks]
        claims += network_claims(network, verdicts[name], resampler)
    claims += comparison_claims(networks, resampler)
    conclusion = "; ".join(sentence(network, verdicts[network.name]) for network in networks) + "."
    return CompletionResult(tuple(networks), verdicts, tuple(claims), conclusion, seed, resamples)


def network_claims(network: NetworkCompletion, verdicts: list[Verdict], resampler: Resampler) -> list[Claim]:
    """Gather all that is said of one network."""
    claims = accuracy_claims(network, resampler)
    for block, verdict in zip(network.blocks, verdicts, strict=True):
        claims += paper_claims(network, block, resampler)
        claims += index_claims(network, block, verdict, resampler)
        claims += region_claims(network, block, resampler)
    claims += readout_claims(network, resampler)
    if network.mechanism is not None:
        claims += mechanism_claims(network.name, network.mechanism, resampler)
    return claims


def sentence(network: NetworkCompletion, verdicts: list[Verdict]) -> str:
    """Say of one network where completion is claimed, and what stands against it elsewhere."""
    parts = []
    for block, verdict in zip(network.blocks, verdicts, strict=True):
        if verdict.claimed:
            parts.append(f"block {block} completes")
        elif verdict.undecided:
            parts.append(f"of block {block} it cannot be told ({verdict.undecided})")
        else:
            parts.append(f"no completion is shown in block {block} ({', and '.join(verdict.obstacles)})")
    n, main = network.flow.sizes["stimulus"], network.flow.attrs["main"]
    return f"{network.name} (this network, {n} images, {main} x {main} mask): {', '.join(parts)}"
