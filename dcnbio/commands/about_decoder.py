"""What a decoder's file is: for which network, its weights, and how well it gives images back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcnbio.commands.about_checkpoint import begun_from, metrics

__all__ = ["decoder_info", "decoder_report", "holds_decoder"]


def holds_decoder(path: Path) -> bool:
    """Whether a file is a decoder's."""
    from dcnbio.model.checkpoint import read_header
    from dcnbio.model.checkpoint_kind import DECODER

    return path.suffix == ".safetensors" and read_header(path).source.get("kind") == DECODER


def decoder_info(path: Path) -> dict[str, Any]:
    """Describe a decoder in plain values."""
    from dcnbio.model.checkpoint import read_header
    from dcnbio.model.checkpoint_kind import about_encoder
    from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint

    header, decoder = read_header(path), load_decoder_checkpoint(path)
    return {
        "file": str(path),
        "kind": "decoder",
        **{key: value for key, value in vars(header).items() if key != "initial_log2_sigma"},
        "parameters": sum(p.numel() for p in decoder.parameters()),
        "weights": decoder.source["weights"],
        "encoder": about_encoder(header.source),
    }


def decoder_report(found: dict[str, Any]) -> str:
    """Lay out a decoder."""
    lines = [
        f"decoder    {found['file']}",
        f"of         maps of a {found['spec']['row']} network, {found['encoder']}",
        f"parameters {found['parameters']:,}",
        f"weights    {found['weights']}",
    ]
    lines += begun_from(found["recipe"], found["metrics"])
    lines += [f"{'metrics' if i == 0 else '':10} {name}: {value}" for i, (name, value) in enumerate(metrics(found))]
    return "\n".join(lines)
