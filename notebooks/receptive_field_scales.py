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
# # Receptive-field scales
#
# **Question.** Receptive fields in the visual cortex grow from area to area, and within an area their sizes are spread
# like a log-normal distribution. The filters of a Deep Continuous Network have a size that is trained, sigma, in pixels.
# Do they grow with depth, and are they log-normal? And if so, was that learned?

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np

import dcnbio
from dcnbio.analysis.scales import analyze_scales
from dcnbio.figures import figure_kind, plot
from dcnbio.probe.filters import checkpoint_filters, record_filters

filters = checkpoint_filters("dcn-ode")
filters.attrs["name"] = "dcn-ode"

# %% [markdown]
# Each filter is a weighted sum of a Gaussian and its first and second derivatives (an N-jet). The weights say what it
# looks like, sigma how large it is; in this network all filters of a layer share one sigma. Here are the strongest
# filters of each layer, one row per layer. Orange is positive, purple negative.

# %%
plot("filters", filters)

# %%
found = analyze_scales({"dcn-ode": filters}, seed=0, resamples=199)
for claim in found.claims:
    if "share of" in claim.name and claim.name.endswith("filters"):
        print(claim.conclusion)

# %% [markdown]
# Blobs, centre-surround shapes, edges (odd) and bars (even) are described in the retina and in primary visual cortex.
# **Caveat at once:** a sum of six such functions can look like nothing else, and weights drawn at random give all of them
# too. What training chose are the weights of the six, and sigma.
#
# ## Does sigma grow with depth?

# %%
print(figure_kind("sigma_depth").caption(found.to_tree()))
plot("sigma_depth", found.to_tree())

# %%
table = found.networks[0].table
table[["log2_sigma_initial", "log2_sigma", "change", "effective_sigma"]].to_dataframe().round(2)

# %%
for claim in found.claims:
    if "slope of log2 sigma" in claim.name:
        before = claim.control.estimate
        print(f"slope {claim.estimate:+.2f} octaves per layer after training, {before:+.2f} before")
        print(claim.conclusion)
change = table["change"].values
print(f"Training moved sigma by {change.min():+.2f} to {change.max():+.2f} octaves in the {len(change)} layers.")

# %% [markdown]
# The table is in octaves (log2 of pixels), but for `effective_sigma`, which is in pixels.
#
# Filled points are after training, open points before. The first values were drawn at random, and with six layers a
# random draw can rise or fall by itself, so a rise alone says little: the open points belong into the figure, and the
# sentence above says how steep a slope chance makes.
#
# `effective_sigma` is the width of the kernel that is really used, a Gaussian sampled at whole pixels and cut off.
# Under about 0.6 pixels it is all but a point, and sigma says little.
#
# ## Are scales log-normal?
#
# In another of the paper's networks (DCN sigma^{ji}) each pair of channels has a sigma of its own, 43,008 in all. The paper
# finds their distribution close to log-normal after training, as sizes and preferred frequencies are in cortex. Here is
# the same analysis of a network of that kind that has **never been trained**.

# %%
newborn = record_filters(dcnbio.build("dcn-sigma-ji", seed=0))
newborn.attrs |= {"name": "untrained sigma^{ji}", "trained": 0, "initial_sigma": "paper"}
untrained = analyze_scales({"untrained": newborn}, seed=0, resamples=99)

# %%
scales = np.exp2(
    np.concatenate(
        [node["log2_sigma"].isel(time=0, input=slice(1, None)).values.ravel() for node in newborn.children.values()]
    )
)
logs = np.log2(scales)

fig, axes = plt.subplots(1, 2, figsize=(8, 2.7), layout="constrained")
axes[0].hist(scales, bins=np.arange(0, 6, 0.1), color="C0")
axes[0].set_xlabel("sigma (pixels)")
axes[0].set_ylabel("filters")
axes[1].hist(logs, bins=np.arange(-3, 3.01, 0.1), color="C0", density=True)
grid = np.linspace(-3, 3, 200)
density = np.exp(-((grid - logs.mean()) ** 2) / (2 * logs.var())) / np.sqrt(2 * np.pi * logs.var())
axes[1].plot(grid, density, color="black", lw=1, label="log-normal fit")
axes[1].set_xlabel("log2 sigma (octaves, 0 is one pixel)")
axes[1].set_ylabel("density (1 / octave)")
axes[1].legend(frameon=False, fontsize=8, loc="upper right")
for axis in axes:
    axis.spines[["top", "right"]].set_visible(False)
fig.suptitle(f"before any training, n = {len(scales):,} filters", fontsize=10)
plt.show()

skewness = float(((scales - scales.mean()) ** 3).mean() / scales.std() ** 3)
print(f"skewness of sigma {skewness:.2f}, standard deviation of log2 sigma {logs.std():.3f} octaves")

# %%
for one in untrained.distributions["untrained"]:
    distance = one.after.equivalence.distance
    print(f"{one.layer}: largest distance of the distribution from its log-normal fit {distance:.3f}")

# %% [markdown]
# The distance is the largest difference of the two cumulative distributions: 0 where they are the same, 1 at most.
#
# A skewed, log-normal distribution of filter sizes, in a network that has seen no image. The initial values are
# drawn that way: log2 sigma is normal with a standard deviation of 2/3.
#
# **Reading.** Training moves sigma, and the figure says where to in this network; a trend with depth has to be steeper
# than six random numbers make it. A log-normal distribution of sigma is what these networks start with, so finding one
# after training is no result. What would be one: a change of its shape, a correlation with the start that is lost, or a
# log-normal in a network that started from another distribution.
# `dcnbio analyze scales` prints all three for each checkpoint that has sigma^{ji}.
#
# **Caveat.** One network, one seed: with six layers, one slope is one number without an interval. Kernel sigma is not
# the receptive field of a unit, which grows with the layers below it and with $t$; that is measured with stimuli, in the
# notebook on electrophysiology.
