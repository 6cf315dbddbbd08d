"""A decoder knows the network it was trained on by its weights, and takes no other."""

from __future__ import annotations

import re

import pytest
import torch

import dcnbio
from dcnbio.errors import InputError
from dcnbio.model.decoder import build_decoder
from dcnbio.model.decoder_checkpoint import load_decoder_checkpoint, save_decoder
from dcnbio.model.encoder_match import refuse_other_encoder
from dcnbio.model.weights import weights_id
from dcnbio.probe.reconstructed_images import reconstruct
from dcnbio.probe.reconstruction import reconstruction_loss

SMALL = {"widths": (4, 4, 8), "norm_groups": 4, "integration_time": 0.1}


@pytest.fixture(scope="module")
def encoder():
    return dcnbio.build("dcn-ode", seed=0, **SMALL)


@pytest.fixture
def decoder(encoder, tmp_path):
    """One that went through a file."""
    made = build_decoder(encoder.spec)
    made.source = {"encoder": "the first", "encoder_weights": weights_id(encoder.state_dict())}
    return load_decoder_checkpoint(save_decoder(made, tmp_path / "decoder.safetensors"))


def test_the_file_keeps_which_network_it_is_for(encoder, decoder):
    assert decoder.source["encoder"] == "the first"
    assert decoder.source["encoder_weights"] == weights_id(encoder.state_dict())
    assert decoder.source["weights"] == weights_id(decoder.state_dict())


@pytest.mark.parametrize("measure", [reconstruct, reconstruction_loss])
def test_its_own_network_is_taken_and_another_of_the_same_sizes_refused(encoder, decoder, measure):
    data = dcnbio.load_images(limit=2)
    assert measure(encoder, decoder, data)["mse"].shape == (2,)
    other = dcnbio.build("dcn-ode", seed=1, **SMALL)
    own, found = decoder.source["encoder_weights"], weights_id(other.state_dict())
    said = f"trained on the network the first with weights {own}, but net has weights {found}; load the network it was"
    with pytest.raises(InputError, match=re.escape(said)):
        measure(other, decoder, data)


def test_one_changed_weight_is_another_network_unless_that_is_asked_for(decoder):
    changed = dcnbio.build("dcn-ode", seed=0, **SMALL)
    with torch.no_grad():
        next(changed.parameters()).view(-1)[0] += 1e-6
    with pytest.raises(InputError, match=r"delete decoder\.source\['encoder_weights'\]"):
        refuse_other_encoder(decoder, changed)
    del decoder.source["encoder_weights"]
    refuse_other_encoder(decoder, changed)


def test_the_same_values_in_double_precision_are_the_same_network(decoder):
    double = dcnbio.build("dcn-ode", seed=0, **SMALL).double()
    refuse_other_encoder(decoder, double)
    with torch.no_grad():
        next(double.parameters()).view(-1)[0] += 1e-12
    with pytest.raises(InputError, match="decoder was trained on the network"):
        refuse_other_encoder(decoder, double)


def test_a_folder_that_is_missing_is_named_for_networks_and_decoders_alike(encoder, tmp_path):
    path = tmp_path / "missing" / "a.safetensors"
    for save, what in ((dcnbio.save, encoder), (save_decoder, build_decoder(encoder.spec))):
        with pytest.raises(InputError, match=r"missing.*cannot be written.*choose another folder"):
            save(what, path)
