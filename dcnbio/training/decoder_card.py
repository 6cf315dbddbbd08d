"""The card that goes with a shipped decoder, written from its header alone: nothing in it is typed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcnbio.model.checkpoint import Header, read_header
from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint
from dcnbio.model.encoder_match import ENCODER_WEIGHTS
from dcnbio.training.model_card import length_said, solver_lines
from dcnbio.training.recipe_lines import recipe_lines

__all__ = ["decoder_card"]

SETS = {"held_out": "held-out", "test": "test"}


def error_text(metrics: Mapping[str, Any], name: str) -> str:
    """Write a mean square error with its n and interval.

    Examples
    --------
    >>> error_text({"test_mse": 0.0123, "test_n": 100, "test_mse_interval": [0.0113, 0.0133]}, "test")
    'mean square error 0.01230 of 100 images (95 % interval 0.01130 to 0.01330), RGB in [0, 1]'
    """
    if f"{name}_n" not in metrics:
        return "not measured"
    n = metrics[f"{name}_n"]
    if f"{name}_mse" not in metrics:
        return f"none: {metrics.get(f'{name}_failed')} of {n:,} images could not be solved"
    limits = metrics.get(f"{name}_mse_interval")
    interval = f" (95 % interval {limits[0]:.5f} to {limits[1]:.5f})" if limits else " (no interval)"
    return f"mean square error {metrics[f'{name}_mse']:.5f} of {n:,} images{interval}, RGB in [0, 1]"


def papers_unit(metrics: Mapping[str, Any], name: str) -> str:
    """Write the error as table 3 probably does: 1,000 x that of the output rescaled by its batch's extremes.

    Examples
    --------
    >>> papers_unit({"test_rescaled_mse": 0.0171, "test_batches": 10}, "test")
    '17.1: 1,000 x mean square error of the output rescaled by the extremes of its batch, mean of 10 batches of 100'
    """
    if f"{name}_rescaled_mse" not in metrics:
        return "not measured"
    value, batches = 1000 * metrics[f"{name}_rescaled_mse"], metrics[f"{name}_batches"]
    many = f"mean of {batches:,} batches of 100" if batches > 1 else f"one batch of {metrics[f'{name}_n']:,}"
    return f"{value:.1f}: 1,000 x mean square error of the output rescaled by the extremes of its batch, {many}"


def result_lines(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Write what came out."""
    lines = []
    for name, said in SETS.items():
        lines.append((f"**{said} error**", error_text(metrics, name)))
        lines.append((f"{said} error in table 3's unit", papers_unit(metrics, name)))
    return lines + solver_lines(metrics, at_tolerance)


def at_tolerance(found: Mapping[str, Any]) -> str:
    """Write the error at one tolerance."""
    error = "not every image solved" if found["value"] is None else f"mean square error {found['value']:.5f}"
    return f"{error} of {found['n']:,} images"


def not_good_for(header: Header) -> list[str]:
    """Say what the decoder should not be used for."""
    said = [
        "Maps of another network than its encoder, the same row from another seed included: those are refused.",
        "One seed: what is found with it is said about this decoder and this encoder.",
        'A percentage: table 3\'s "percent" cannot be one of these errors (the pixel variance of CIFAR-10 is about 6 '
        "on that scale); its unit is probably the one given here as table 3's.",
    ]
    optimisation = header.recipe.get("optimisation", {})
    if optimisation.get("schedule") != "steps" or optimisation.get("passes"):
        said.append("It was not trained by the paper's recipe, so its error is not to be held against table 3.")
    return said + length_said(header)


def decoder_card(path: Path) -> str:
    """Write the card of a decoder's checkpoint, in Markdown.

    Parameters
    ----------
    path : Path
        A .safetensors file of ours with a decoder in it.

    Returns
    -------
    str
        Encoder with the hash of its weights, recipe, data, seed, passes, machine, minutes, errors with n and interval,
        and in the unit of table 3, NFE, and what the decoder is not good for.

    Raises
    ------
    CheckpointError
        If the file holds no decoder.

    Examples
    --------
    >>> import tempfile
    >>> from dcnbio.model.decoder import build_decoder
    >>> from dcnbio.model.decoder_checkpoint import save_decoder
    >>> from dcnbio.model.rows import row_spec
    >>> decoder = build_decoder(row_spec("dcn-ode", widths=(4, 8, 16), norm_groups=4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(decoder_card(save_decoder(decoder, f"{folder}/back.safetensors")).splitlines()[0])
    # back: decoder for dcn-ode
    """
    header, decoder = read_header(path), load_decoder_checkpoint(path)
    unfinished = ", unfinished" if header.metrics.get("finished") is False else ""
    count = sum(p.numel() for p in decoder.parameters())
    lines = [
        ("parameters", f"{count:,}"),
        ("encoder", str(header.source.get("encoder", "not recorded"))),
        ("encoder's weights", str(header.source.get(ENCODER_WEIGHTS, "not recorded"))),
    ]
    if "optimisation" in header.recipe:
        # the recipe's start of the scales is the networks' alone
        lines += [line for line in recipe_lines(header.recipe, header.metrics) if line[0] != "start of the scales"]
    lines += result_lines(header.metrics)
    parts = [
        f"# {path.stem}: decoder for {decoder.spec.row}{unfinished}",
        "| | |\n|---|---|\n" + "\n".join(f"| {name} | {text} |" for name, text in lines),
        "Not good for:\n\n" + "\n".join(f"- {sentence}" for sentence in not_good_for(header)),
    ]
    return "\n\n".join(parts) + "\n"
