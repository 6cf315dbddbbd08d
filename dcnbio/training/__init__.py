"""Trains networks: recipe, data order, augmentation, schedule, loop, what is watched, and what is kept for resuming."""

from dcnbio.training.recipe import Recipe
from dcnbio.training.recipe_file import read_recipe, with_settings
from dcnbio.training.recipe_parts import Data, Guards, Optimisation, Phase
from dcnbio.training.run_options import RunOptions
from dcnbio.training.whole_run import train

__all__ = ["Data", "Guards", "Optimisation", "Phase", "Recipe", "RunOptions", "read_recipe", "train", "with_settings"]
