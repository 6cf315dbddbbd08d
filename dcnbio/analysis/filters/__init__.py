"""Filters of the N-jet from their weights: sampled Gaussians, energy, shape, orientation and frequency response."""
