"""The report's chapter on reconstructions: what a decoder that was trained on this very network makes of its maps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dcnbio.commands.report_subject import Finding, Subject
from dcnbio.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.analysis.claim import Claim
    from dcnbio.model.decoder import Decoder

__all__ = ["find_reconstructions"]

IMAGES = 50


def find_reconstructions(subject: Subject) -> Sequence[Finding]:
    """Reconstruct images from the maps after the last block.

    Raises
    ------
    InputError
        If no decoder ships that was trained on these weights.
    """
    from dcnbio.figures.export.sources import content_hash
    from dcnbio.probe.reconstructed_images import reconstruct

    path, decoder = own_decoder(subject)
    some = subject.images.isel(stimulus=slice(0, IMAGES))
    found = reconstruct(subject.net, decoder, some)
    claim = error_claim(found)
    conclusion = f"{subject.name}: {claim.conclusion}"
    return [Finding("reconstructions", found, [claim.to_dict()], conclusion, sha256=content_hash(path))]


def own_decoder(subject: Subject) -> tuple[Path, Decoder]:
    """Find the shipped decoder of these weights: another network's would make images of what it does not know."""
    from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint
    from dcnbio.model.encoder_match import refuse_other_encoder
    from dcnbio.model.loading import find_decoder, shipped_decoders

    for name in shipped_decoders():
        path = find_decoder(name)
        decoder = load_decoder_checkpoint(path)
        try:
            refuse_other_encoder(decoder, subject.net)
        except InputError:  # of another network
            continue
        return path, decoder
    raise InputError(
        f"no decoder ships that was trained on the weights of {subject.name}; train one (dcnbio train --recipe "
        "budget_reconstruction --set encoder=FILE), and dcnbio figures draws what it makes."
    )


def error_claim(found: xr.DataTree) -> Claim:
    """Give the mean square error over images, beside that of one flat colour for each image."""
    from dcnbio.analysis.claim import Claim, Control
    from dcnbio.analysis.statistics.t_interval import t_interval

    data = found.to_dataset()
    mse, flat = data["mse"].values, data["image"].astype("float64").var(("y", "x")).mean("channel").values
    error, variance = float(mse.mean()), float(flat.mean())
    said = (
        f"the mean square error of RGB (0 to 1) is {error:.3f}, where one flat colour for each image would have "
        f"{variance:.3f} (n = {len(mse)} images)."
    )
    control = Control("each image's own mean colour everywhere", variance, t_interval(flat))
    return Claim(
        "mean square error of reconstructions (RGB, 0 to 1)",
        len(mse),
        "images",
        error,
        t_interval(mse),
        control,
        said,
    )
