"""The curves of a network that ships lie beside it with those of all runs before it, and are found from its own."""

from __future__ import annotations

import ship_network

from dcnbio.figures.training_run import metrics_files


def test_the_curves_of_a_run_and_of_those_before_it_are_found_the_first_run_first(tmp_path, monkeypatch):
    shipped = tmp_path / "checkpoints"
    shipped.mkdir()
    monkeypatch.setattr(ship_network, "CHECKPOINTS", shipped)
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "metrics.csv").write_text("third")
    (tmp_path / "second.csv").write_text("second")
    (shipped / "net.metrics.csv").write_text("first")
    for stale in ("net.begun_from.metrics.csv", "net.begun_from.begun_from.begun_from.metrics.csv"):
        (shipped / stale).write_text("of a chain that ships no more")
    (shipped / "net-other.metrics.csv").write_text("of another network")
    # what ships under the name is itself one of those that it went on from
    ship_network.keep_curves([tmp_path / "again", tmp_path / "second.csv", shipped / "net.metrics.csv"], "net")
    assert [file.read_text() for file in metrics_files(shipped / "net.metrics.csv")] == ["first", "second", "third"]
    assert (shipped / "net-other.metrics.csv").read_text() == "of another network"
    assert len(list(shipped.iterdir())) == 4
