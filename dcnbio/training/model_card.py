"""The card that goes with a shipped network, written from its header alone: nothing in it is typed by hand."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from dcnbio.model.checkpoint import Header, load_checkpoint, read_header
from dcnbio.model.network import Network
from dcnbio.model.run_parts import cut_short
from dcnbio.model.scales import layer_label, layer_scales
from dcnbio.training.papers_accuracy import below_paper
from dcnbio.training.recipe_lines import recipe_lines

__all__ = ["card_lines", "length_said", "model_card", "not_good_for", "solver_lines"]


def share(metrics: Mapping[str, Any], name: str) -> str:
    """Write an accuracy with its n and interval.

    Examples
    --------
    >>> share({"test_accuracy": 0.5, "test_n": 100, "test_interval": [0.404, 0.596]}, "test")
    '50.0 % of 100 images (95 % interval 40.4 to 59.6)'
    """
    if metrics.get(f"{name}_accuracy") is None:
        return "not measured"
    low, high = metrics[f"{name}_interval"]
    right = f"{100 * metrics[f'{name}_accuracy']:.1f} % of {metrics[f'{name}_n']:,} images"
    return f"{right} (95 % interval {100 * low:.1f} to {100 * high:.1f})"


def result_lines(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Write what came out."""
    lines = [("held-out accuracy", share(metrics, "held_out")), ("test accuracy", share(metrics, "test"))]
    return lines + solver_lines(metrics, accuracy_text)


def accuracy_text(found: Mapping[str, Any]) -> str:
    """Write the accuracy at one tolerance."""
    many = f" of {found['n']:,} images" if "n" in found else ""
    return f"{100 * found['value']:.1f} %{many}"


def solver_lines(metrics: Mapping[str, Any], written: Callable[[Mapping[str, Any]], str]) -> list[tuple[str, str]]:
    """Write the solver's work, and what comes out at each tolerance, in the words of networks or of decoders."""
    lines = []
    if metrics.get("nfe"):
        lines.append(("NFE per block", ", ".join(f"{value:.1f}" for value in metrics["nfe"])))
    if metrics.get("solver"):
        lines.append(("measured with", str(metrics["solver"])))
    # a header's keys are sorted as text
    for tolerance, found in sorted(metrics.get("held_out_by_tolerance", {}).items(), key=lambda item: -float(item[0])):
        nfe = " + ".join(f"{value:.0f}" for value in found["nfe"])
        lines.append((f"held out at tolerance {tolerance}", f"{written(found)}, NFE {nfe}"))
    return lines


@torch.no_grad()
def scale_lines(net: Network, initial: Mapping[str, Sequence[float]]) -> list[str]:
    """Write the scale of each layer before and after."""
    lines = []
    for scale in layer_scales(net):
        after = f"{float(scale.sigma.median()):.2f}"
        before = initial.get(scale.layer)
        start = f"{statistics.median(2**s for s in before):.2f}" if before else "-"
        many = "" if scale.sigma.numel() == 1 else f" (median of {scale.sigma.numel():,})"
        lines.append(f"| {layer_label(scale.layer)} | {start} | {after}{many} |")
    return lines


def not_good_for(header: Header) -> list[str]:
    """Say what the network should not be used for."""
    metrics = header.metrics
    if metrics.get("passes") == 0:
        return ["It was never trained: it is a control for what training made of the others."]
    said = ["One seed: what is found in it is said about this network, not about its kind."]
    optimisation = header.recipe.get("optimisation", {})
    if optimisation.get("schedule") != "steps" or optimisation.get("passes"):
        said.append("It was not trained by the paper's recipe, so its accuracy is not to be held against the paper's.")
    below = below_paper(str(header.spec.get("row", "")), metrics.get("test_accuracy", 1.0))
    if below:
        said.append(below)
    if header.recipe.get("data", {}).get("border") == "mirror":
        said.append(
            "Its training images had mirrored borders and no black areas at the end: under black masks it is not to be "
            "held against networks of black borders."
        )
    if header.recipe.get("initial_sigma", "paper") != "paper":
        said.append("Its scales began elsewhere than the paper's: it is a control for the distribution of scales.")
    return said + length_said(header)


def length_said(header: Header) -> list[str]:
    """Say of a training that was cut short of its recipe's passes that it was."""
    short = cut_short(header.recipe, header.metrics)
    return [f"It was trained for {short}: how well it does is no measure of that recipe."] if short else []


def card_lines(header: Header, net: Network) -> list[tuple[str, str]]:
    """List what is known of a network: its size, how it was trained, and how well it does.

    Parameters
    ----------
    header : Header
        Of its checkpoint.
    net : Network

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> card_lines(Header(spec={}), build("resnet-blocks"))[0]
    ('parameters', '554,634')
    """
    count = sum(p.numel() for p in net.parameters())
    times = ", ".join(f"{t:g}" for t in net.spec.integration_time)
    lines = [("parameters", f"{count:,}"), ("integration time T", times)]
    if "optimisation" in header.recipe:
        lines += recipe_lines(header.recipe, header.metrics)
    elif "seed" in header.source:
        lines.append(("seed", str(header.source["seed"])))
    if header.metrics.get("passes") != 0:
        lines += result_lines(header.metrics)
    of_solver = ("solver while training", "start of the scales", "NFE per block", "measured with")
    left_out = () if net.spec.depth == "ode" else of_solver
    if not layer_scales(net):
        left_out = (*left_out, "start of the scales")
    return [line for line in lines if line[0] not in left_out]


def model_card(path: Path) -> str:
    """Write the card of a checkpoint, in Markdown.

    Parameters
    ----------
    path : Path
        A .safetensors file of ours with a network in it.

    Returns
    -------
    str
        Recipe, data, seed, passes, machine, minutes, accuracies with n and interval, NFE, scales before and after,
        and what the network is not good for.

    Examples
    --------
    >>> import tempfile
    >>> from dcnbio.model.checkpoint import save_checkpoint
    >>> from dcnbio.model.network import build
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = save_checkpoint(build("dcn-ode"), Path(folder, "net.safetensors"), metrics={"passes": 0})
    ...     print(model_card(file).splitlines()[0])
    # net: dcn-ode, untrained
    """
    header, net = read_header(path), load_checkpoint(path)
    trained = header.metrics.get("passes") != 0
    unfinished = ", unfinished" if trained and header.metrics.get("finished") is False else ""
    title = f"# {path.stem}: {net.spec.row}, {'trained' if trained else 'untrained'}{unfinished}"
    about = [(f"**{name}**" if "accuracy" in name else name, text) for name, text in card_lines(header, net)]
    scales = scale_lines(net, header.initial_log2_sigma)
    parts = [title, "| | |\n|---|---|\n" + "\n".join(f"| {name} | {text} |" for name, text in about)]
    if scales:
        parts.append("Scales (sigma, pixels):\n\n| layer | before | after |\n|---|---|---|\n" + "\n".join(scales))
    parts.append("Not good for:\n\n" + "\n".join(f"- {sentence}" for sentence in not_good_for(header)))
    return "\n\n".join(parts) + "\n"
