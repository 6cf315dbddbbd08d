"""The timing of recordings counts what it says: the same images each way, the bytes on the disk, the slower limit."""

import pytest
from probe_speed import ProbeRow, bytes_below, calls_of, shares, show_probe, write_plainly

import dcnbio


def row(way, stepping, seconds, megabytes=0.0):
    return ProbeRow(way, stepping, 100, seconds, seconds, megabytes)


def test_shares_are_of_the_slower_of_forward_pass_and_disk(capsys):
    rows = [
        row("forward", "per-image", 4.0),
        row("probe", "per-image", 5.0, 400),
        row("forward", "shared", 2.0),
        row("probe", "shared", 4.0, 400),
        row("disk", "", 3.0, 400),
    ]
    found = shares(rows)
    assert found["probe, per-image"] == pytest.approx(4 / 5)  # of the forward pass
    assert found["probe, shared"] == pytest.approx(3 / 4)  # of the disk
    assert found["per-image / shared, forward"] == pytest.approx(1 / 2)
    assert found["per-image / shared, probe"] == pytest.approx(4 / 5)
    show_probe(rows)
    assert all(len(line) <= 80 for line in capsys.readouterr().out.splitlines())


def test_the_disk_is_given_what_a_recording_takes(tmp_path):
    net, data = dcnbio.load("dcn-ode"), dcnbio.load_images(limit=2)
    calls = calls_of(net, data, tmp_path)
    assert list(calls)[-1] == ("disk", "")
    calls["probe", "per-image"]()
    tree = dcnbio.open(tmp_path / "run")
    h = sum(tree[name]["h"].nbytes for name in ("block1", "block2", "block3"))
    assert h < bytes_below(tmp_path) < 1.05 * h
    write_plainly(tmp_path / "plain", h)
    assert bytes_below(tmp_path / "plain") == h
