"""The names that the paper's public code gives its weights, and ours for the same.

There a network is one nn.Sequential: stem, then for each block (block, norm, activation, convolution), then average,
flatten and linear. `scales` means log2 sigma where sigma is constant and its slope where it depends on time; `alphas`
likewise. Both follow from the row, not from the name.
"""

from __future__ import annotations

from dcnbio.model.spec import NetworkSpec

__all__ = ["decoder_names", "public_names"]


def srf_names(ours: str, theirs: str, sigma_degree: int, alpha_degree: int) -> dict[str, str]:
    """Pair the names of one SRF layer."""
    names = {f"{theirs}.alphas": f"{ours}.alpha.{'slope' if alpha_degree else 'offset'}"}
    if alpha_degree:
        names[f"{theirs}.alphas_bias"] = f"{ours}.alpha.offset"
    names[f"{theirs}.scales"] = f"{ours}.log2_sigma.{'slope' if sigma_degree else 'offset'}"
    if sigma_degree:
        names[f"{theirs}.scale_bias"] = f"{ours}.log2_sigma.offset"
    if sigma_degree == 2:
        names[f"{theirs}.scales_square"] = f"{ours}.log2_sigma.square"
    return names


def affine_names(ours: str, theirs: str, bias: bool = True) -> dict[str, str]:
    """Pair weight and bias of a norm, a convolution with free weights or a linear layer."""
    return {f"{theirs}.{name}": f"{ours}.{name}" for name in (("weight", "bias") if bias else ("weight",))}


def outer_names(spec: NetworkSpec, ours: str, theirs: str) -> dict[str, str]:
    """Pair the names of a convolution outside the blocks."""
    return srf_names(ours, theirs, 0, 0) if spec.outer_kernels == "srf" else affine_names(ours, theirs)


def field_names(spec: NetworkSpec, ours: str, theirs: str) -> dict[str, str]:
    """Pair the names of one vector field, eq. 2."""
    names: dict[str, str] = {}
    for norm in ("norm1", "norm2", "norm3"):
        names |= affine_names(f"{ours}.{norm}", f"{theirs}.{norm}")
    for conv in ("conv1", "conv2"):
        pair = f"{ours}.{conv}", f"{theirs}.{conv}._layer"
        pixel = spec.kernels == "pixel"
        names |= affine_names(*pair) if pixel else srf_names(*pair, spec.sigma_degree, spec.alpha_degree)
    return names


def residual_names(spec: NetworkSpec, ours: str, theirs: str) -> dict[str, str]:
    """Pair the names of one residual block."""
    names = affine_names(f"{ours}.norm1", f"{theirs}.norm1") | affine_names(f"{ours}.norm2", f"{theirs}.norm2")
    for conv in ("conv1", "conv2"):
        pair = f"{ours}.{conv}", f"{theirs}.{conv}"
        names |= affine_names(*pair, bias=False) if spec.kernels == "pixel" else srf_names(*pair, 0, 0)
    return names


def public_names(spec: NetworkSpec) -> dict[str, str]:
    """Map every name of the public code's state_dict to ours, for a network of this spec.

    Examples
    --------
    >>> from dcnbio.model.rows import row_spec
    >>> public_names(row_spec("dcn-sigma-t"))["1.odefunc.conv1._layer.scales"]
    'blocks.0.field.conv1.log2_sigma.slope'
    """
    names = outer_names(spec, "stem", "0")
    last = len(spec.widths) - 1
    for i in range(len(spec.widths)):
        if spec.depth == "ode":
            names |= field_names(spec, f"blocks.{i}.field", f"{4 * i + 1}.odefunc")
        else:
            names |= residual_names(spec, f"blocks.{i}", f"{4 * i + 1}")
        norm = f"transitions.{i}.norm" if i < last else "readout.norm"
        names |= affine_names(norm, f"{4 * i + 2}")
        if i < last:
            names |= outer_names(spec, f"transitions.{i}.conv", f"{4 * i + 4}")
    return names | affine_names("readout.linear", f"{4 * last + 6}")


def decoder_names(spec: NetworkSpec) -> dict[str, str]:
    """Map the names of the public code's decoder to ours."""
    names = field_names(spec, "blocks.0.field", "1.odefunc") | field_names(spec, "blocks.1.field", "4.odefunc")
    names |= affine_names("narrow", "3") | affine_names("norm", "5") | affine_names("colour", "7")
    return names
