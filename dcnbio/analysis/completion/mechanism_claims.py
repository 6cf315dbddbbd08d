"""What growth rates, frozen norm statistics and the causal test say."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim
from dcnbio.analysis.completion.claims import claim_of, control_of
from dcnbio.analysis.completion.resampling import Estimate, Resampler, undefined
from dcnbio.analysis.completion.wording import limited, limited_size, percent
from dcnbio.analysis.shapes import Floats

__all__ = ["mechanism_claims"]

MOMENTS = ("0", "T/2", "T")


def mechanism_claims(name: str, found: xr.Dataset, resampler: Resampler) -> list[Claim]:
    """Say why masks shrink or grow in one network.

    Parameters
    ----------
    name : str
        Of the network.
    found : xarray.Dataset
        From the mechanism experiment.
    resampler : Resampler
    """
    claims = causal_claims(name, found, resampler)
    if "growth" not in found:
        return claims
    for block in found["block"].values:
        claims += growth_claims(name, found.sel(block=block), int(block), resampler)
        claims.append(frozen_claim(name, found.sel(block=block), int(block), resampler))
    return claims


def mean_of(values: Floats, resampler: Resampler) -> Estimate:
    """Give a mean over the images that have a number."""
    fine = np.isfinite(values)
    if not fine.any():
        return undefined("no image has a finite rate")
    return resampler.estimate([values[fine]], lambda means: means, int((~fine).sum()))


def growth_claims(name: str, found: xr.Dataset, block: int, resampler: Resampler) -> list[Claim]:
    """Compare the growth of the mask's change with that of noise and of other images, on group-normalised maps."""
    claims = []
    dims = ("direction", "image", "moment")
    small, whole = (found[key].transpose(*dims) for key in ("normalised_growth", "difference_growth"))
    names = [str(one) for one in found["direction"].values]
    for place, moment in enumerate(MOMENTS):
        rates = {one: mean_of(small.sel(direction=one).values[:, place], resampler) for one in names}
        large = {one: mean_of(whole.sel(direction=one).values[:, place], resampler) for one in names}
        others = "; ".join(f"{one} {limited(rates[one])} and {limited(large[one])}" for one in names if one != "mask")
        title = f"{name} block {block}: growth rate of the mask's change on group-normalised maps at t = {moment}"
        text = f"At t = {moment} the mask's change of the group-normalised maps grows at {limited(rates['mask'])} per "
        text += f"solver time where it is small and {limited(large['mask'])} as large as it is; {others}."
        control = control_of("along white noise of equal norm", rates["white noise"])
        claims.append(claim_of(f"{title} (1 / solver time)", rates["mask"], control, text))
    return claims


def frozen_claim(name: str, found: xr.Dataset, block: int, resampler: Resampler) -> Claim:
    """Say how far positions outside the mask's place are moved, with and without the norms' statistics."""
    parts = {}
    between = found["frozen_between"].sel(region="outside").transpose("image", "end").values
    for kind in ("frozen", "own"):
        distance = found[f"{kind}_distance"].sel(region="outside").transpose("image", "end").values
        fine = np.isfinite(distance).all(axis=1) & np.isfinite(between).all(axis=1)
        for end, label in enumerate(("0", "T")):
            if not fine.any():
                parts[kind, label] = undefined("no position of the map is outside the mask's place")
                continue
            if not between[fine, end].sum() > 0:
                parts[kind, label] = undefined("different images have the same maps: there is no yardstick")
                continue
            columns = [distance[fine, end], between[fine, end]]
            parts[kind, label] = resampler.estimate(columns, lambda m: (m[0] / m[1])[None])
    shown = {key: limited_size(one) for key, one in parts.items()}
    return claim_of(
        f"{name} block {block}: rho(T) outside the mask's place with the intact image's norm statistics",
        parts["frozen", "T"],
        control_of("with own statistics", parts["own", "T"]),
        f"Outside the mask's place rho is {shown['own', '0']} at 0 and {shown['own', 'T']} at T; with the intact "
        f"image's norm statistics {shown['frozen', '0']} and {shown['frozen', 'T']}.",
    )


def causal_claims(name: str, found: xr.Dataset, resampler: Resampler) -> list[Claim]:
    """Say how much of the class scores an intact map in the mask's place restores, by when it is put there."""
    intact, masked = (
        found[key].transpose("causal_image", "class").values for key in ("intact_scores", "masked_scores")
    )
    lost = np.linalg.norm(masked - intact, axis=1)
    patched = found["patched"].transpose("source", "moment", "causal_image", "class")
    claims = []
    for place, fraction in enumerate(found["fraction"].values):
        left = {
            str(s): np.linalg.norm(patched.sel(source=s).values[place] - intact, axis=1)
            for s in patched["source"].values
        }
        own, other = (restored(left[source], lost, resampler) for source in ("own", "other"))
        text = f"Put into the mask's place of block 1 at {fraction:g} T, the intact map restores "
        text += f"{percent(own.value)} of the change of the class scores" if not own.reason else "no share of it"
        text += f" ({own.reason})." if own.reason else f", another image's {percent(other.value)}."
        control = control_of("another image's intact map", other)
        title = f"{name}: share of the class scores restored by the intact map at {fraction:g} T of block 1"
        claims.append(claim_of(title, own, control, text))
    return claims


def restored(left: Floats, lost: Floats, resampler: Resampler) -> Estimate:
    """Give 1 - sum of what is left over sum of what was lost."""
    fine = np.isfinite(left) & np.isfinite(lost)
    if not fine.any() or not lost[fine].sum() > 0:
        return undefined("the mask changes no class score")
    return resampler.estimate([left[fine], lost[fine]], lambda m: (1 - m[0] / m[1])[None], int((~fine).sum()))
