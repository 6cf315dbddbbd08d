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
# equation from $t = 0$ to $T$. What do its units do while it looks at a picture, and what of it depends on the picture?
#
# We show the network that comes with dcnbio twenty of the images that come with it, and record $h(t)$ as one would
# record from a visual cortex. The network has three such **blocks**, one after the other, as areas of a visual hierarchy;
# each gives the next a set of maps. A map, or **channel**, is one kind of unit, with the same filters at every place of the
# image.

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np

import dcnbio
from dcnbio.recording.reductions import group_normalised

net = dcnbio.load("dcn-ode")
net

# %%
images = dcnbio.load_images(limit=20)
names = images["label"].attrs["class_names"]

fig, axes = plt.subplots(1, 8, figsize=(8, 1.25), layout="constrained")
for axis, picture, label in zip(axes, images["image"], images["label"].values, strict=False):
    axis.imshow(picture.transpose("y", "x", "channel"))
    axis.set_title(names[label], fontsize=8)
    axis.set_axis_off()
plt.show()

# %% [markdown]
# `dcnbio.probe` runs the network and gives an xarray DataTree with one node per block. Every array says what its
# dimensions are. Beside the maps we ask for two numbers at each time: how far the whole map is from zero, and how fast
# it moves.

# %%
tree = dcnbio.probe(net, images, times=21, reductions=["h_norm", "slope_norm"])
tree.dcn

# %%
tree["block1"]["h"]

# %% [markdown]
# ## One channel
#
# One image, one channel of the first block, six of the twenty-one times. The first map is the block's input (a
# convolution of the image), the last is what the next layer reads. White is 0.

# %%
h = tree["block1"]["h"].isel(stimulus=5, channel=7)
shown = h.isel(time=slice(None, None, 4))
limit = float(abs(shown).max())

fig, axes = plt.subplots(1, 7, figsize=(8.5, 1.6), layout="constrained")
axes[0].imshow(images["image"].isel(stimulus=5).transpose("y", "x", "channel"))
axes[0].set_title(names[int(images["label"][5])], fontsize=9)
for axis, frame in zip(axes[1:], shown, strict=True):
    drawn = axis.imshow(frame, cmap="PuOr_r", vmin=-limit, vmax=limit)
    axis.set_title(f"t = {float(frame.time):.1f}", fontsize=9)
for axis in axes:
    axis.set_axis_off()
bar = fig.colorbar(drawn, ax=axes, shrink=0.8)
bar.set_label("h (1)", fontsize=9)
plt.show()

# %% [markdown]
# The same channel at four places of the map, against solver time.

# %%
fig, axis = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
for y, x in [(5, 5), (15, 15), (15, 22), (25, 10)]:
    axis.plot(h.time, h.isel(y=y, x=x), marker="o", markersize=3, label=f"row {y}, column {x}")
axis.set_xlabel("t (solver time)")
axis.set_ylabel("h(t) (1)")
axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
contrast = h.std(["y", "x"]).values
rising = int((np.diff(contrast) > 0).sum())
path = np.sqrt((np.diff(h.values, axis=0) ** 2).mean((1, 2)))
print(f"The map's contrast (standard deviation over places) goes from {contrast[0]:.2f} at t = 0 to {contrast[-1]:.2f}")
print(f"at T, and rises in {rising} of the {len(path)} intervals. In the last interval places move")
print(f"{100 * path[-1] / path.mean():.0f} % as far as they do on average: had the map settled, that would be 0 %.")

# %% [markdown]
# In a cortex one would call a response that goes on to move at the end, and whose contrast rises, a sustained and growing
# one.
#
# ## Is growth the picture's?
#
# One line per image: how far the whole map of block 1 is from zero, and how fast it moves.

# %%
block = tree["block1"]
fig, axes = plt.subplots(1, 2, figsize=(7.5, 2.9), layout="constrained")
for axis, name, what in [
    (axes[0], "h_norm", "norm of h (1)"),
    (axes[1], "slope_norm", "norm of dh/dt\n(1 / solver time)"),
]:
    axis.plot(block.time, block[name].T, color="C0", lw=0.7, alpha=0.7)
    axis.set_xlabel("t (solver time)")
    axis.set_ylabel(what)
    axis.set_ylim(0, 1.2 * float(block[name].max()))
    axis.spines[["top", "right"]].set_visible(False)
fig.suptitle(f"block 1, one line per image, n = {block.sizes['stimulus']}", fontsize=10)
plt.show()

speed = block["slope_norm"]
print(f"speed over all images and times: {float(speed.mean()):.1f}, sd {100 * float(speed.std() / speed.mean()):.2f} %")

# %% [markdown]
# **It cannot be.** The last operation of the vector field, as the right side $dh/dt = f(t, h)$ is called, is a group norm. In
# block 1 it fixes for each image and channel the mean and the root mean square of $dh/dt$ (but for a small constant, epsilon,
# that keeps it from dividing by zero). Over the whole map $h(t)$ moves at one speed, whatever the image. Single places go
# faster or slower, but "the response grows" says nothing about the picture. In blocks 2 and 3, where two and four channels
# share a norm, the same holds of the group before its gains.
#
# ## What does change
#
# The next layer divides each channel by its own spread before it reads it. So we do the same, and ask how much of the
# final pattern is there at each time: the correlation of the normalised map at $t$ with that at $T$.

# %%
groups = {1: 32, 2: 32, 3: 32}
at_start = {}
fig, axis = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
for number, count in groups.items():
    z = group_normalised(tree[f"block{number}"]["h"].values, count).reshape(20, 21, -1)
    z = z / np.linalg.norm(z, axis=-1, keepdims=True)
    to_last = (z * z[:, -1:]).sum(-1)
    time = tree[f"block{number}"].time
    axis.plot(time, to_last.mean(0), ["-", "--", ":"][number - 1], color=f"C{number - 1}", label=f"block {number}")
    axis.fill_between(time, *np.quantile(to_last, [0.05, 0.95], axis=0), color=f"C{number - 1}", alpha=0.2, lw=0)
    at_start[number] = to_last[:, 0]
axis.set_xlabel("t (solver time)")
axis.set_ylabel("correlation with the map at T (1)")
axis.legend(fontsize=8, frameon=False, loc="lower right")
axis.spines[["top", "right"]].set_visible(False)
plt.show()

for number, value in at_start.items():
    print(
        f"block {number}: the map at t = 0 correlates {value.mean():.2f} with that at T (sd over images {value.std():.2f}),\n"
        f"  so it explains {100 * np.mean(value**2):.1f} % of the final pattern's variance"
    )

# %% [markdown]
# Lines are means over 20 images, bands hold 90 % of them; where lines lie on each other, blocks agree. What the next layer
# reads is built up over the interval, as far as the lines start below 1: a block that starts near 1 keeps its input's
# pattern, one that starts near 0 makes it anew.
#
# ## The solver's work
#
# A solver computes $h(t)$ in steps. It makes a step shorter where its estimated error is over a tolerance, and counts how
# often it evaluated $dh/dt$: the number of function evaluations (NFE), which is called the analogue of depth. Each image had
# steps of its own here, so images can be compared.

# %%
for name, node in tree.children.items():
    nfe = node["nfe"]
    n = nfe.sizes["stimulus"]
    print(f"{name}: NFE {int(nfe.min())} to {int(nfe.max())}, mean {float(nfe.mean()):.1f} over {n} images")

# %% [markdown]
# **Reading.** $h(t)$ is a smooth path that starts at a filtered image, and does not settle: in block 1 its speed is a
# constant of the layer. What can depend on the image is where on the map it moves, and how many steps the solver needs for it: where the
# lines above give a range of NFE it does, where they give one number the tolerance asks for no more than the fewest steps.
#
# **Caveat.** There is no stimulus after $t = 0$ and no millisecond in $t$, which is the solver's time. This is one network, trained from one seed:
# what is shown is about this network. NFE depends on the tolerance (here 1e-3) as well as on the image.
