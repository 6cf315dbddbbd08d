"""A network's units beside published distributions of the primate visual system."""

from dcnbio.analysis.primate.analysis import PrimateResult, analyze_primate
from dcnbio.analysis.primate.binned_similarity import binned_similarity, similarity_ceiling
from dcnbio.analysis.primate.published import PublishedHistogram, published_histogram

__all__ = [
    "PrimateResult",
    "PublishedHistogram",
    "analyze_primate",
    "binned_similarity",
    "published_histogram",
    "similarity_ceiling",
]
