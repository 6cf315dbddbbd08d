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
# # Record a network
#
# **Question.** A Deep Continuous Network has no layers inside a block: its feature maps $h(t)$ follow a differential
# equation from $t = 0$ to $T$. What does one of its units do while it looks at one picture?
#
# We show the network that comes with dcnbio twenty of the images that come with it, record $h(t)$ as one would record
# from a visual cortex, and look at one channel of the first block.

# %%
import matplotlib.pyplot as plt

import dcnbio

net = dcnbio.load("dcn-ode")
images = dcnbio.load_images(limit=20)
images

# %% [markdown]
# `dcnbio.probe` gives an xarray DataTree with one node per block. Every array says what its dimensions are.

# %%
tree = dcnbio.probe(net, images, times=21)
tree["block1"]

# %% [markdown]
# One image, one channel, eleven of the twenty-one times. The first map is the block's input (a convolution of the
# image), the last is what the next layer reads.

# %%
h = tree["block1"]["h"].isel(stimulus=5, channel=7)
picture = images["image"].isel(stimulus=5)
shown = h.isel(time=slice(None, None, 4))

fig, axes = plt.subplots(1, len(shown.time) + 1, figsize=(11, 2.1), layout="constrained")
axes[0].imshow(picture.transpose("y", "x", "channel"))
axes[0].set_title(str(images["label"].attrs["class_names"][int(images["label"][5])]), fontsize=10)
limit = float(abs(shown).max())
for axis, frame in zip(axes[1:], shown, strict=True):
    drawn = axis.imshow(frame, cmap="PuOr_r", vmin=-limit, vmax=limit)
    axis.set_title(f"t = {float(frame.time):.1f}", fontsize=10)
for axis in axes:
    axis.set_axis_off()
bar = fig.colorbar(drawn, ax=axes, shrink=0.8)
bar.set_label("h (1)")
plt.show()

# %% [markdown]
# The same channel at a few places of the map, against solver time.

# %%
fig, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
for y, x in [(5, 5), (15, 15), (15, 22), (25, 10)]:
    axis.plot(h.time, h.isel(y=y, x=x), marker="o", markersize=3, label=f"y {y}, x {x}")
axis.set_xlabel("t (solver time)")
axis.set_ylabel("h(t) (1)")
axis.legend(title="place (pixels)", loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %% [markdown]
# **Reading.** Every place moves smoothly and goes on moving: nothing has settled at $t = T$, and the contrast of the map
# grows all the while.
#
# **Caveat.** That growth is not a discovery about the picture. The last operation of the vector field is a group norm,
# which fixes for each image and group the mean and the root mean square of $dh/dt$: over the whole map $h(t)$ moves at
# a constant speed, whatever the image. The solver's work, on the other hand, does depend on the image: each has its own steps
# here, so its number of function evaluations (NFE) can be compared.

# %%
for name, node in tree.children.items():
    nfe = node["nfe"]
    n = nfe.sizes["stimulus"]
    print(f"{name}: NFE {int(nfe.min())} to {int(nfe.max())}, mean {float(nfe.mean()):.1f} over {n} images")
