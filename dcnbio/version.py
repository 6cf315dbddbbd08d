"""The version of dcnbio."""

__version__ = "0.1.0"
