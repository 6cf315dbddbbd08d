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
# # Pattern completion
#
# **Question.** Hide part of an object, and people and neurons of the visual cortex often go on answering as if it were there,
# with a delay (Tang and others 2018, [doi:10.1073/pnas.1719397115](https://doi.org/10.1073/pnas.1719397115)). In a Deep
# Continuous Network the distance between the response to a masked image and that to the intact image changes over time,
# and the paper reads its fall as pattern completion. Does the network that comes with dcnbio complete what is hidden?
#
# We show it thirty images, intact and with a black square in the middle, and with changes that are no masks but just as
# large.

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np

import dcnbio
from dcnbio.analysis.completion import analyze_completion
from dcnbio.figures import figure_kind, plot
from dcnbio.images import mask_images
from dcnbio.probe.completion import CompletionSettings, completion_experiment

net = dcnbio.load("dcn-ode")
images = dcnbio.load_images(limit=30)

# %% [markdown]
# ## One image, one channel
#
# Block 1 while it looks at a dog, intact and masked, and the difference of the two.

# %%
dog = images.isel(stimulus=[5])
intact, masked = (dcnbio.probe(net, dog, times=5, blocks=[1], mask=side)["block1"]["h"] for side in (None, 14))
channel = 7
rows = {"intact": intact, "masked": masked, "difference": masked - intact}
limit = float(abs(intact.isel(channel=channel)).max())

fig, axes = plt.subplots(3, 6, figsize=(7.5, 3.9), layout="constrained")
for line, (name, h) in zip(axes, rows.items(), strict=True):
    for axis, frame in zip(line[1:], h.isel(stimulus=0, channel=channel), strict=True):
        drawn = axis.imshow(frame, cmap="PuOr_r", vmin=-limit, vmax=limit)
    line[0].set_ylabel(name, fontsize=9)
for axis, time in zip(axes[0, 1:], intact.time.values, strict=True):
    axis.set_title(f"t = {time:.1f}", fontsize=9)
picture = dog["image"].values
axes[0, 0].imshow(picture[0].transpose(1, 2, 0))
axes[1, 0].imshow(mask_images(picture, 14)[0].transpose(1, 2, 0))
axes[2, 0].imshow(np.ones((2, 2, 3)))
for axis in axes.ravel():
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set_visible(False)
fig.colorbar(drawn, ax=axes, shrink=0.6).set_label("h (1)", fontsize=9)
plt.show()

# %%
size = np.sqrt((rows["difference"].isel(stimulus=0, channel=channel) ** 2).mean(["y", "x"])).values
of_intact = size / intact.isel(stimulus=0, channel=channel).std(["y", "x"]).values
print(
    f"root mean square of the difference: {size[0]:.2f} at t = 0, {size[-1]:.2f} at T: it {'grows' if size[-1] > size[0] else 'fades'}"
)
print(
    f"over the standard deviation of the intact map: {of_intact[0]:.2f} at t = 0, {of_intact[-1]:.2f} at T: "
    f"it {'grows' if of_intact[-1] > of_intact[0] else 'fades'}"
)

# %% [markdown]
# The edges of the square are contours, and a network answers to contours: look for them in the masked row. The two
# lines above need not agree, for whatever grows in the map grows in the difference too. That is the difficulty of this
# question. And one channel of one image says little; `completion_experiment` does it for all channels, images and
# controls.
#
# ## All images, with controls
#
# Squares of three sizes; the middle one (14 x 14) also filled with grey or with the image's mean; and, of the same norm
# as that square, white noise, noise with the spectrum of the image, a patch of another image, and squares at random
# places; the square on images with *scrambled* phases, which show nothing to complete; and the same weights with hardly any
# dynamics, one step of the solver (*one Euler step*) or *no time*. The same for an untrained network, with fewer controls.

# %%
settings = CompletionSettings(masks=(6, 14, 22), main=14, times=9, mechanism=0)
fewer = CompletionSettings(masks=(14,), main=14, controls=False, times=9, mechanism=0)
experiments = {
    "dcn-ode": completion_experiment(net, images, settings),
    "untrained": completion_experiment(dcnbio.load("dcn-ode-untrained"), images, fewer),
}
found = analyze_completion(experiments, seed=0, resamples=199)
result = found.to_tree()

# %% [markdown]
# ### Does it still know what it sees?

# %%
print(figure_kind("mask_accuracy").caption(result))
plot("mask_accuracy", result)

# %% [markdown]
# ### The paper's measure, D(t)
#
# The summed absolute difference of the maps, over the amplitude A of the intact map at the same t. Means over images;
# bands are one standard deviation over images.

# %%
plot("difference_course", analyze_completion({"dcn-ode": experiments["dcn-ode"]}, resamples=99).to_tree())

# %% [markdown]
# The grey null is what D(t) would do if the difference itself stayed as it is and the amplitude alone changed: where maps
# grow (see the first notebook) it falls. **A falling D(t) is completion only in so far as it falls below that.**
#
# ### A measure that cannot fall by itself
#
# rho(t) is the distance of a masked image from *its own* intact image, over the mean distance of *different* intact
# images, on maps normalised as the next layer reads them. 0: the mask is undone. 1: the masked image is as far from itself
# as another image is.

# %%
print(figure_kind("relative_distance").caption(result))
plot("relative_distance", result)

# %%
for claim in found.claims:
    if claim.name.startswith("dcn-ode") and claim.name.endswith("completion index"):
        print(f"{claim.name.split(':')[0]}: {claim.conclusion}\n")

# %% [markdown]
# The index is 1 - rho(T) / rho(0): the share of the distance that is gone at the end. It has to be read beside the others
# in its line. A flow that shrinks everything shrinks a mask too; what would speak of completion is a mask that shrinks
# more than noise of the same norm, whatever it is filled with, and that brings the masked image nearer to its own intact
# image than to any other. How often it is, is called *retrieval* below. In brackets are 95 % intervals over images.
#
# ## The verdict

# %%
print(found.conclusion.replace("; ", "\n\n"))

# %% [markdown]
# **Reading.** The verdict above names for each block what stands for or against completion. Note the fill: black is also the
# lowest luminance there is, and group norm takes contrast out of the whole map. A distance that shrinks under a black
# square and grows under a grey one speaks for contrast normalisation, not for completion; the untrained network, whose norms
# normalise too, shows no such shrinkage, so the trained filters have a part in it.
#
# **Caveat.** Thirty images and one network from one seed: intervals are over images, and say how well *this network* is
# known. `dcnbio analyze completion` runs the same for more images, and
# adds growth rates, frozen norm statistics, and the causal test, which puts the intact map into the hole at time t.
