# ---
# jupyter:
#   jupytext:
#     formats: py:percent,ipynb
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Electrophysiology, and the primate
#
# **Question.** If one recorded from this network as from a visual cortex, with gratings and tuning curves, what would one
# find, and is it like what is published for macaque V1? And how much of it would one find in a network that has
# learned nothing?
#
# A **unit** is a channel at the middle of block 1's map: 32 of them. Its **response** is what the next layer reads,
# normalised and rectified, above what a grey screen gives. Beside it stands an untrained network of the same kind.

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

import dcnbio
from dcnbio.analysis.responses.rectified import response
from dcnbio.analysis.responses.tuning_measures import tuning_measures
from dcnbio.images import Grating, battery, shipped
from dcnbio.model.interventions import freeze_norms
from dcnbio.probe.responses import UnitSettings, record_units

networks = {"trained": dcnbio.load("dcn-ode"), "untrained": dcnbio.load("dcn-ode-untrained")}
settings = UnitSettings(blocks=(1,), times=5)

# %% [markdown]
# ## Gratings
#
# Six orientations, seven spatial frequencies and four phases, over the whole image.

# %%
crossed = {
    "orientation": np.arange(6) * 30.0,
    "spatial_frequency": np.geomspace(1 / 30, 0.45, 7).round(4),
    "phase": np.arange(4) * 90.0,
}
gratings = battery(Grating(contrast=0.96), crossed)

fig, axes = plt.subplots(1, 7, figsize=(8, 1.4), layout="constrained")
shown = gratings["image"].isel(stimulus=slice(28, 56, 4))
for axis, image in zip(axes, shown, strict=True):
    axis.imshow(image.isel(channel=0), cmap="grey", vmin=0, vmax=1)
    axis.set_title(f"{float(image.spatial_frequency):.3f} c/px", fontsize=8)
    axis.set_axis_off()
plt.show()


# %%
def record_gratings(net):
    """Record all units at all gratings, with the gratings' parameters as dimensions."""
    recorded = record_units(net, gratings["image"].values, settings)
    named = recorded.assign_coords({key: ("stimulus", gratings[key].values) for key in crossed})
    return named.set_index(stimulus=list(crossed)).unstack("stimulus").transpose(*crossed, ...)


recorded = {name: record_gratings(net) for name, net in networks.items()}
measures = {name: pd.DataFrame(tuning_measures(data)) for name, data in recorded.items()}

# %% [markdown]
# Four units of the trained network: the mean response over phases at T, against orientation (at the best frequency) and
# against spatial frequency (at the best orientation).

# %%
mean = response(recorded["trained"]).isel(time=-1).mean("phase")
strongest = np.argsort(-mean.max(["orientation", "spatial_frequency"]).values)[:4]

fig, axes = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
for number, unit in enumerate(strongest):
    own = mean.isel(unit=unit)
    best = own.argmax(["orientation", "spatial_frequency"])
    label = f"channel {int(own.channel)}"
    axes[0].plot(own.orientation, own.isel(spatial_frequency=best["spatial_frequency"]), "o-", ms=3, color=f"C{number}")
    axes[1].plot(own.spatial_frequency, own.isel(orientation=best["orientation"]), "o-", ms=3, label=label)
axes[0].set_xlabel("orientation (degrees)")
axes[0].set_xticks(crossed["orientation"])
axes[1].set_xlabel("spatial frequency (cycles/pixel)")
axes[1].set_xscale("log")
axes[1].set_xticks([0.03, 0.1, 0.3], ["0.03", "0.1", "0.3"])
axes[1].minorticks_off()
axes[0].set_ylabel("response (1)")
axes[1].legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
for axis in axes:
    axis.set_ylim(bottom=0)
    axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %% [markdown]
# ## Surround suppression
#
# A grating grows around each unit. Each point is the median over units of the response to its best of four orientations
# and two phases, over the largest. The same with the norms' statistics *frozen* at those of natural images: what is left
# then is not the norm's doing.

# %%
diameters = (2.0, 4.0, 7.0, 11.0, 16.0, 30.0)
growing = battery(
    Grating(spatial_frequency=0.2, contrast=0.96),
    {"orientation": [0, 45, 90, 135], "phase": [0, 180], "diameter": diameters},
)
natural = torch.from_numpy(dcnbio.load_images(limit=10)["image"].values)


def size_tuning(net):
    """Give each unit's response by diameter over its largest, (diameter, unit); units without a response are NaN."""
    r = response(record_units(net, growing["image"].values, settings)).isel(time=-1).values
    r = r.reshape(4, 2, len(diameters), -1)
    total = r.max((0, 1))
    return total / np.where(total.max(0) > 0, total.max(0), np.nan)


curves = {
    "trained": size_tuning(networks["trained"]),
    "trained, norms frozen": size_tuning(freeze_norms(networks["trained"], natural)),
    "untrained": size_tuning(networks["untrained"]),
}

fig, axis = plt.subplots(figsize=(5.6, 2.8), layout="constrained")
for (name, curve), style in zip(curves.items(), ("o-", "s--", "^:"), strict=True):
    axis.plot(diameters, np.nanmedian(curve, axis=1), style, ms=4, label=name)
axis.set_xlabel("diameter of the grating (pixels)")
axis.set_ylabel("response over largest (1)")
axis.set_ylim(0, 1.05)
axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
suppression = {name: 1 - curve[-1] for name, curve in curves.items()}
for name, index in suppression.items():
    print(f"{name}: median suppression index {np.nanmedian(index):.2f}, n = {np.isfinite(index).sum()} units")
whole, frozen, untrained = (np.nanmedian(index) for index in suppression.values())
print(
    f"Freezing the norms changes the trained network's index by {frozen - whole:+.2f}; "
    f"training changes it by {whole - untrained:+.2f}."
)

# %% [markdown]
# The index is 1 minus the response to the largest grating over the largest response: 0 without suppression, 1 if nothing is
# left. Published for macaque V1: a median of 0.33 (Cavanaugh, Bair and Movshon 2002,
# [doi:10.1152/jn.00692.2001](https://doi.org/10.1152/jn.00692.2001), n = 190). Every norm of this network divides by
# the spread of the *whole* map, which a larger grating fills, and does so before any training. So what goes when norms are
# frozen, and what the untrained network has as well, is built in; only what remains can be a finding.
#
# ## Spatial frequency beside macaque V1
#
# Pixels are not degrees, so only the *shape* can be compared: preferred frequencies in octaves from their median, and the
# bandwidth index 100 f_low / f_high at 0.707 of the peak, which has no unit.

# %%
published = pd.read_csv(shipped("primate/v1_histograms.csv"))
peaks = published.query("quantity == 'peak_spatial_frequency' and subset == 'pooled (all four)'")
widths = published.query("quantity == 'spatial_frequency_bandwidth' and subset == 'pooled'")


def median_of(table, scale=lambda x: x):
    """Give the median of a published histogram, evenly spread inside its bins."""
    edges = np.append(scale(table.bin_lo.values), scale(table.bin_hi.values[-1]))
    share = np.append(0, np.cumsum(table.probability.values))
    return np.interp(0.5 * share[-1], share, edges)


fig, axes = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
low, high = np.log2(peaks.bin_lo.values), np.log2(peaks.bin_hi.values)
middle = median_of(peaks, np.log2)
axes[0].bar((low + high) / 2 - middle, peaks.probability / (high - low), high - low, color="0.85", label="macaque V1")
axes[1].bar(
    (widths.bin_lo + widths.bin_hi) / 2,
    widths.probability / (widths.bin_hi - widths.bin_lo),
    widths.bin_hi - widths.bin_lo,
    color="0.85",
)
for (name, table), shade in zip(measures.items(), ("C0", "C1"), strict=True):
    octaves = np.log2(table.preferred_spatial_frequency.dropna())
    axes[0].hist(
        octaves - octaves.median(), np.arange(-3.25, 3.5, 0.5), density=True, histtype="step", color=shade, label=name
    )
    axes[1].hist(table.bandwidth_index.dropna(), np.arange(0, 101, 10), density=True, histtype="step", color=shade)
axes[0].set_xlabel("preferred spatial frequency\n(octaves from the median)")
axes[0].set_ylabel("density (1 / octave)")
axes[1].set_xlabel("bandwidth index (percent)")
axes[1].set_ylabel("density (1 / percent)")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
for axis in axes:
    axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
rows = ["preferred_spatial_frequency", "bandwidth_index", "circular_variance", "f1_f0"]
pd.DataFrame(
    {
        f"{name}, {what}": getattr(table[rows], {"median": "median", "n": "count"}[what])()
        for name, table in measures.items()
        for what in ("median", "n")
    }
).round(2)

# %%
for name, table in measures.items():
    edge = int(table.censored_preferred_spatial_frequency.sum())
    print(f"{name}: the preferred frequency of {edge} of {len(table)} units lies at an end of the usable range")

# %% [markdown]
# Grey: published histograms of macaque V1 (De Valois, Albrecht and Thorell 1982,
# [doi:10.1016/0042-6989(82)90113-4](https://doi.org/10.1016/0042-6989%2882%2990113-4), n = 363; Schiller, Finlay and Volman
# 1976, [doi:10.1152/jn.1976.39.6.1334](https://doi.org/10.1152/jn.1976.39.6.1334)). Lines: 32 units of each network. Units at
# an end of the usable range, 1/30 to 0.5 cycles per pixel, are only known to prefer at least, or at most, that. The table's
# medians take the end of the range where a peak or a flank lies beyond it; the counts below say of how many that is true.
# Circular variance is 0 where one orientation alone is answered and 1 where all are alike; F1 / F0 is the modulation with the
# grating's phase over the mean.

# %%
for name, table in measures.items():
    counts = {
        "fall to half their peak off the best orientation": table.censored_orientation_half_width == 0,
        "have both flanks of their frequency tuning in the range": table.censored_bandwidth_index == 0,
        "depend on phase (F1 / F0 over 1)": table.f1_f0 > 1,
        "are suppressed by the largest grating (index over 0.1)": suppression[name] > 0.1,
    }
    print(f"{name}, of {len(table)} units:")
    for what, units in counts.items():
        print(f"  {int(np.sum(units)):2d} {what}")

# %% [markdown]
# **Reading.** The counts say how many units have what V1 neurons are known for: tuning to orientation and frequency, a
# phase, a suppressive surround. Where the untrained network's line or count is near the trained one's, the likeness is
# *built in*: Gaussian derivatives are tuned whatever their weights, and the norm suppresses whatever the training. Only
# what remains, trained minus untrained, speaks of learning.
#
# **Caveat.** 32 units of one network are no sample of networks, and cannot show likeness to a published distribution
# within a quarter of its value: where nothing can be told, "cannot tell" is the answer. A 32 x 32 image spans 3.9 octaves
# of frequency where the published range spans six. There are no degrees, no milliseconds and no spikes, and since the
# stimulus is only an initial state, no duration, onset or steady state. `dcnbio analyze responses` measures more, of all
# blocks, with the predictions of norm and contrast law beside each number.
